"""Every sentence of docs/guides/sessions.md is shown by a test that exists."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "guides" / "sessions.md").read_text()

SHOWN_BY = {
    "Every conversation with a model": "agent/test_sessions_continued.py::test_a_chat_whose_terminal_is_closed_is_all_there_later",
    "`--continue` goes on": "chat/test_continuing.py::test_continue_takes_the_last_conversation_of_this_folder_with_all_that_was_chosen_in_it",
    "`mooring sessions` lists": "agent/test_sessions.py::test_sessions_are_listed_for_this_folder_or_for_all",
    "With the first characters": "agent/test_sessions.py::test_a_session_is_shown_as_it_was_said_with_calls_and_results",
    "`--json` prints data": "agent/test_sessions.py::test_a_session_is_shown_as_it_was_said_with_calls_and_results",
    "A conversation belongs": "agent/test_sessions.py::test_a_session_belongs_to_its_project_and_the_newest_is_continued",
    "A conversation with [another": "agent/test_sessions_with_agents.py::test_what_a_program_tells_is_kept_as_replies_and_results_in_order",
    "The program keeps its own": "agent/test_sessions_with_agents.py::test_a_conversation_goes_on_with_whoever_answered_in_it",
    "| what you say |": "agent/test_record.py::test_the_model_is_asked_once_what_was_said_is_in_the_file",
    "| each finished part": "agent/test_sessions_killed.py::test_a_conversation_that_is_killed_before_any_statement_goes_on_without_losing_or_repeating_anything",
    "| text that is still": "agent/test_sessions.py::test_text_is_on_the_disk_within_a_second_of_its_arrival_and_not_at_each_piece",
    "| that a call starts": "agent/test_sessions_killed.py::test_a_conversation_that_is_killed_before_any_statement_goes_on_without_losing_or_repeating_anything",
    "| the result of a call": "agent/test_sessions_killed.py::test_a_conversation_that_is_killed_before_any_statement_goes_on_without_losing_or_repeating_anything",
    "| a command that you run": "chat/test_shell_commands.py::test_a_command_that_is_running_when_the_chat_is_killed_is_on_record_too",
    "What you run with `!`": "chat/test_shell_commands.py::test_a_command_is_on_record_when_it_has_run_even_if_the_chat_is_killed_then_and_nothing_is_said",
    "`/drop` leaves it out": "chat/test_shell_commands.py::test_what_is_dropped_or_undone_stays_on_record",
    "| which tools were found": "agent/test_sessions.py::test_a_conversation_goes_on_in_another_process_with_all_that_was_said_and_the_tools_that_were_found",
    "Each of these is in the file": "agent/test_sessions_killed.py::test_a_conversation_that_is_killed_in_the_middle_of_any_write_goes_on_without_losing_or_repeating_anything",
    "It is not flushed": "agent/test_record.py::test_the_file_is_in_the_mode_that_a_power_cut_does_not_damage",
    "If another program holds": "agent/test_record.py::test_a_file_that_is_held_for_longer_delays_a_turn_by_about_a_second_and_loses_nothing",
    "Before it asks the model": "agent/test_record.py::test_the_model_is_asked_once_what_was_said_is_in_the_file",
    "Making room": "agent/test_sessions.py::test_a_history_that_was_compacted_is_sent_short_and_shown_whole",
    "The model is sent the summary": "agent/test_sessions.py::test_a_history_that_was_compacted_is_sent_short_and_shown_whole",
    "Whoever answered": "chat/test_continuing.py::test_the_model_comes_back_before_the_environment_and_the_settings_and_an_option_wins",
    "`-m`, `--agent`": "chat/test_continuing.py::test_the_mode_comes_back_and_an_option_wins",
    "`bypass` never": "chat/test_continuing.py::test_bypass_never_comes_back_by_itself_and_that_is_said",
    "A model whose key": "chat/test_continuing.py::test_a_model_that_cannot_be_used_any_more_is_named_with_the_option_that_chooses_another",
    "The chat opens": "chat/test_continuing.py::test_a_conversation_opens_with_its_title_and_the_last_exchange_and_leaving_names_its_command",
    "A mark says": "chat/test_continuing.py::test_a_reply_that_a_kill_or_ctrl_c_cut_off_is_marked_as_cut_off",
    "When you leave, the chat": "chat/test_continuing.py::test_a_chat_in_which_nothing_was_said_names_no_command",
    "A reply that was cut off": "agent/test_sessions_continued.py::test_a_chat_that_is_killed_in_the_middle_of_a_word_goes_on_with_what_it_had_said",
    "The model is sent its text": "agent/test_sessions_continued.py::test_a_chat_that_is_killed_in_the_middle_of_a_word_goes_on_with_what_it_had_said",
    "Calls in it": "agent/test_sessions_killed.py::test_a_conversation_that_is_killed_before_any_statement_goes_on_without_losing_or_repeating_anything",
    "A call that had started": "agent/sub/test_sub_sessions.py::test_a_process_that_is_killed_inside_a_sub_agents_call_loses_nothing_and_repeats_nothing",
    "The model is told that it was": "agent/sub/test_sub_sessions.py::test_a_process_that_is_killed_inside_a_sub_agents_call_loses_nothing_and_repeats_nothing",
    "A call that waited": "agent/test_sessions.py::test_a_call_that_was_waiting_for_an_answer_is_asked_about_again",
    "What you allowed": "agent/test_sessions.py::test_what_was_allowed_for_a_session_is_asked_about_when_it_is_continued",
    "A conversation that another running": "agent/test_sessions.py::test_a_session_that_another_process_has_open_is_refused_until_that_process_is_gone",
    "A program that was killed": "agent/test_sessions.py::test_a_session_that_another_process_has_open_is_refused_until_that_process_is_gone",
    "| `/new` |": "chat/test_conversations.py::test_a_new_conversation_knows_nothing_of_the_one_before_which_goes_on_when_it_is_resumed",
    "| `/sessions` |": "chat/test_conversations.py::test_conversations_are_listed_and_one_that_another_chat_has_open_is_refused",
    "| `/resume ID` |": "chat/test_conversations.py::test_a_new_conversation_knows_nothing_of_the_one_before_which_goes_on_when_it_is_resumed",
    "| `/model NAME` |": "chat/test_conversations.py::test_another_model_goes_on_in_a_new_conversation_with_the_transcript_as_text",
    "| `/effort NAME` |": "chat/test_effort.py::test_it_is_chosen_for_a_chat_and_changed_in_the_middle_of_a_conversation",
    "Alone, `/resume`": "chat/test_picking.py::test_whoever_picks_nothing_is_back_at_the_prompt",
    "`/model` lists": "chat/test_picking.py::test_models_that_can_be_used_now_are_offered_and_one_goes_on",
    "`/backend` lists": "chat/test_conversations.py::test_whoever_cannot_answer_is_named_and_the_conversation_stays_as_it_is",
    "| `/backend NAME [MODEL]` |": "chat/test_conversations.py::test_a_backend_is_left_for_another_and_what_was_said_comes_along_when_a_model_answers_again",
    "| `/agent NAME` |": "chat/test_agent_commands.py::test_an_agent_answers_from_now_on_with_its_prompt_and_tools_until_none_does",
    "| `/cost` |": "chat/test_conversations.py::test_cost_and_context_say_what_the_conversation_takes",
    "| `/context` |": "chat/test_conversations.py::test_cost_and_context_say_what_the_conversation_takes",
    "`/model`, `/backend` and": "chat/test_conversations.py::test_another_model_goes_on_in_a_new_conversation_with_the_transcript_as_text",
    "Without a model, `/backend": "chat/test_conversations.py::test_a_backend_is_left_for_another_and_what_was_said_comes_along_when_a_model_answers_again",
    "The servers stay": "chat/test_conversations.py::test_what_was_allowed_for_the_session_holds_in_the_next_conversation_and_bypass_does_not",
    "Bypassed permissions": "chat/test_conversations.py::test_what_was_allowed_for_the_session_holds_in_the_next_conversation_and_bypass_does_not",
    "If the other conversation": "chat/test_conversations.py::test_conversations_are_listed_and_one_that_another_chat_has_open_is_refused",
    "| `/compact [WORDS]` |": "chat/test_making_room.py::test_a_conversation_goes_on_with_its_summary_and_another_one_beside_it_as_it_was",
    "| `/export [FILE]` |": "chat/test_making_room.py::test_a_conversation_is_written_as_markdown_and_never_over_another_file",
    "`/rewind` lists": "chat/test_rewind.py::test_a_message_is_picked_from_a_list_changed_in_the_line_and_sent_from_there",
    "The message is in": "chat/test_rewind.py::test_a_message_is_picked_from_a_list_changed_in_the_line_and_sent_from_there",
    "On the screen, Esc Esc": "chat/screen/test_earlier_messages.py::test_a_picked_message_is_changed_and_the_conversation_goes_on_from_before_it",
    "Leaving the message": "chat/screen/test_earlier_messages.py::test_leaving_the_list_or_the_changed_message_changes_nothing",
    "What followed stays": "chat/screen/test_earlier_messages.py::test_a_picked_message_is_changed_and_the_conversation_goes_on_from_before_it",
    "The new one begins": "agent/test_branches.py::test_a_branch_holds_what_was_said_before_a_message_and_the_other_stays",
    "What was attached": "chat/test_rewind.py::test_what_was_attached_goes_along_and_what_is_named_anew_is_added",
    "Files are not touched": "chat/test_rewind.py::test_files_stay_as_they_are_until_the_other_conversation_is_undone",
    "Other agents' programs keep": "backends/claude/test_claude_chat.py::test_a_conversation_of_the_program_can_not_go_back",
    "`/undo` takes back": "chat/test_undo.py::test_a_no_leaves_everything_and_the_model_goes_on_from_the_turn_before",
    "What `Write`": "chat/test_undo.py::test_files_come_back_with_their_mode_and_those_that_were_made_go_and_again_goes_one_turn_further",
    "What sub-agents changed": "chat/test_undo.py::test_what_sub_agents_changed_is_undone_with_the_turn",
    "The model no longer": "chat/test_undo.py::test_the_transcript_has_nothing_of_a_turn_that_was_undone",
    "What it cost stays": "agent/test_kept_files.py::test_a_turn_that_is_undone_is_gone_with_its_sub_agents_and_its_summary_and_what_it_cost_stays",
    "`/undo` again": "chat/test_undo.py::test_after_a_kill_in_the_middle_of_a_turn_all_of_it_is_undone",
    "A file that somebody": "chat/test_undo.py::test_what_somebody_else_changed_stays_and_is_named_and_so_are_commands",
    "So does one": "chat/test_undo.py::test_a_folder_that_became_a_link_is_not_written_through",
    "Commands and calls": "chat/test_undo.py::test_calls_of_servers_are_named_and_what_is_gone_stays_gone",
    "It works where": "chat/test_undo.py::test_a_program_undoes_its_own_turns",
    "What a file was": "agent/test_kept_files.py::test_what_is_kept_is_bounded_in_size_and_age",
    "Files of which": "chat/test_undo.py::test_a_file_of_which_nothing_is_kept_is_named",
    "With the conversation": "chat/test_undo.py::test_what_is_kept_goes_with_the_conversation_and_is_nobody_else_s_to_read",
    "Only a program remembers": "chat/test_handing_over.py::test_a_program_s_conversation_goes_on_with_a_model_that_is_given_its_transcript",
    "With `-b`, Mooring begins": "chat/test_handing_over.py::test_a_program_s_conversation_goes_on_with_a_model_that_is_given_its_transcript",
    "One line says so": "chat/test_handing_over.py::test_a_program_s_conversation_goes_on_with_a_model_that_is_given_its_transcript",
    "Every direction works": "chat/test_handing_over.py::test_a_program_is_given_the_transcript_until_it_has_taken_it_and_never_with_its_own_command",
    "With `-b manual`": "chat/test_handing_over.py::test_a_conversation_that_is_open_elsewhere_can_be_handed_over",
    "`--resume ID -b NAME`": "chat/test_handing_over.py::test_a_program_s_conversation_goes_on_with_a_model_that_is_given_its_transcript",
    "`--continue -b NAME`": "chat/test_handing_over.py::test_continue_prefers_the_last_one_with_that_backend_and_else_hands_over_the_last_of_any",
    "If there is none": "chat/test_handing_over.py::test_continue_prefers_the_last_one_with_that_backend_and_else_hands_over_the_last_of_any",
    "The agent and the permission": "chat/test_handing_over.py::test_agent_and_mode_come_back_and_the_model_does_not",
    "The model doesn't": "chat/test_handing_over.py::test_agent_and_mode_come_back_and_the_model_does_not",
    "The transcript has": "chat/test_handing_over.py::test_an_exchange_that_is_too_long_by_itself_keeps_its_beginning_and_its_end",
    "It fills at most": "chat/test_handing_over.py::test_the_newest_exchanges_are_kept_within_the_window_and_the_rest_is_counted",
    "The newest turns": "chat/test_handing_over.py::test_the_newest_exchanges_are_kept_within_the_window_and_the_rest_is_counted",
    "It is marked": "chat/test_handing_over.py::test_nothing_in_a_transcript_ends_it_or_looks_like_another_speaker",
    "The old conversation stays": "chat/test_handing_over.py::test_a_conversation_that_is_open_elsewhere_can_be_handed_over",
    "`mooring sessions ID` and": "chat/test_handing_over.py::test_a_program_s_conversation_goes_on_with_a_model_that_is_given_its_transcript",
    "If a program ended": "chat/test_handing_over.py::test_a_program_is_given_the_transcript_until_it_has_taken_it_and_never_with_its_own_command",
    "`sessions.db` in your": "agent/test_sessions.py::test_only_the_person_can_read_what_was_said",
    "Mooring refuses it": "agent/test_sessions.py::test_only_the_person_can_read_what_was_said",
    "Several programs": "agent/test_record.py::test_two_chats_and_a_listing_beside_them_are_all_in_the_record",
    "A file of an older version": "agent/test_record.py::test_an_older_file_is_upgraded_while_a_process_of_that_version_has_it_open",
    "Only SQLite opens": "agent/test_record.py::test_two_conversations_of_a_process_share_its_connection_until_both_are_closed",
    "Tools such as `Read`": "agent/test_record.py::test_neither_read_nor_a_mention_opens_the_record_by_any_name",
    "If the file or the log": "agent/test_record.py::test_a_file_that_is_replaced_gets_all_that_was_said_again",
    "Conversations that you didn't": "agent/test_sessions.py::test_an_old_session_is_marked_by_one_start_and_removed_by_one_on_a_later_day",
    "`sessionDays`": "agent/test_sessions.py::test_opening_a_session_removes_old_ones_a_little_later_and_zero_days_keeps_them",
    "A chat that starts": "agent/test_sessions.py::test_the_use_of_a_session_that_was_marked_keeps_it",
    "If the clock": "agent/test_sessions.py::test_a_clock_that_is_far_ahead_for_a_while_removes_nothing",
    "One that is open": "agent/test_sessions.py::test_an_old_session_is_marked_by_one_start_and_removed_by_one_on_a_later_day",
    "What is removed": "agent/test_sessions.py::test_a_session_that_is_removed_is_gone_from_the_file_too",
    "Nothing is shortened": "agent/test_sessions.py::test_images_signatures_and_half_characters_are_kept",
    "What you say is stored": "agent/test_record.py::test_what_a_person_types_is_stored_as_it_is_and_the_key_of_the_model_never",
    "What a server was given": "flow/test_secrets.py::test_a_host_hands_out_failures_without_the_secret_and_another_servers_value_as_it_is",
    "The keys of models": "agent/test_record.py::test_what_a_person_types_is_stored_as_it_is_and_the_key_of_the_model_never",
    "If the file can't be written": "agent/test_sessions.py::test_a_file_that_cannot_be_used_is_one_sentence_and_a_conversation_goes_on_without_it",
    "Mooring tries again": "agent/test_sessions.py::test_on_a_full_disk_the_conversation_goes_on_and_all_of_it_is_stored_once_there_is_room",
    "The same holds": "agent/test_record.py::test_what_a_sub_agent_says_on_a_full_disk_is_told_and_stored_once_there_is_room",
    "If you leave before": "agent/test_record.py::test_whoever_leaves_waits_ten_seconds_and_then_says_what_is_lost",
    "On a full or read-only": "agent/test_record.py::test_on_a_read_only_disk_a_conversation_is_continued_from_what_is_in_the_log",
}


def list_sentences() -> Iterator[str]:
    """The sentences of the page, and the rows of its table."""
    text = re.sub(r"^(?:```.*?```|#.*?)$", "", PAGE, flags=re.M | re.S)
    for block in re.split(r"\n\s*\n|\n(?=- )", text):
        if block.startswith("|"):
            yield from block.splitlines()[2:]
        else:
            yield from filter(None, re.split(r"(?<=\.)`? (?=[A-Z`])", " ".join(block.removeprefix("- ").split())))


def test_every_sentence_has_a_test_and_every_test_a_sentence() -> None:
    found = {sentence: [words for words in SHOWN_BY if sentence.startswith(words)] for sentence in list_sentences()}
    assert [sentence for sentence, words in found.items() if len(words) != 1] == []
    assert SHOWN_BY.keys() == {words for each in found.values() for words in each}


@pytest.mark.parametrize("named", sorted(set(SHOWN_BY.values())))
def test_a_test_that_shows_a_sentence_exists(named: str) -> None:
    file, _, test = named.partition("::")
    assert re.search(rf"^(?:async )?def {test}\(", (ROOT / "tests" / file).read_text(), re.M)
