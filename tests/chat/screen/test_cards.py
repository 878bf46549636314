"""What stands in a transcript: calls as cards, plans, reads, sub-agents, and the text of others in them."""

from typing import Any

import pytest
from tests.chat.screen.events import Calls

from mooring.chat.screen.cards import LinesBlock, PlanBlock, ReadsBlock, Said, SubAgentBlock, WarningBlock
from mooring.chat.screen.line import Line, join_lines
from mooring.chat.screen.reply import ReplyBlock, ThinkingBlock
from mooring.chat.screen.stack import Block
from mooring.core.conversation.event import Todo, TurnDone, TurnStarted
from mooring.core.protocol.result import Progress
from mooring.display.text import Verbatim, safe, width


def draw(block: Block, cells: int = 60) -> list[str]:
    """The lines of a block as they stand on the screen."""
    return ["".join(piece.text for piece in line.whole).rstrip() for line in block.layout(cells)]


def find_roles(line: Line) -> set[str]:
    return {piece.role for piece in line.whole}


def test_a_card_says_what_is_called_how_far_it_is_and_how_it_ended() -> None:
    calls = Calls()
    started, card = calls.start(arguments={"text": "hi"})
    assert draw(card) == ["◌ 🔌 kit / echo · hi"]
    calls.now = 50
    card.note_progress(calls.go_on(started))  # it waited for an answer until now
    calls.now = 53
    card.note_progress(calls.go_on(started, Progress(progress=3, total=10, message="halfway")))
    assert draw(card) == ["◌ 🔌 kit / echo · hi · processing 3/10 halfway · 3 s"]
    calls.now = 54.5
    card.finish(*calls.end(started, "hi\nthere"))
    assert draw(card) == ["✓ 🔌 kit / echo · hi · 4.5 s", "  │ hi", "  │ there"]


def test_a_card_shows_at_most_five_lines_of_what_came_back_until_it_is_opened() -> None:
    text = "\n".join(f"line {number} {'word ' * 30}".rstrip() for number in range(12))
    card = Calls().make_card(text, arguments={"city": "Oslo", "days": 3})
    closed = draw(card)
    assert closed[0].startswith("✓ 🔌 kit / echo · Oslo")
    assert len(closed) == 1 + 5 + 1
    assert all(line.endswith("…") for line in closed[1:6])
    assert closed[6] == "  │ … 7 more lines"
    card.toggle()
    opened = "\n".join(draw(card))
    assert "MCP Tool Result" in opened
    assert '"days": 3' in opened
    assert card.write_source().endswith(text)
    card.toggle()
    assert draw(card) == closed


def test_a_card_of_a_failed_call_has_the_end_of_its_servers_stderr() -> None:
    calls = Calls()
    started, card = calls.start()
    event, call = calls.end(started, "it broke", is_error=True)
    card.finish(event, call, [f"line {number}" for number in range(8)] + ["boom \x1b[31m"])
    lines = draw(card)
    assert lines[0].startswith("✗ 🔌 kit / echo")
    assert lines[1:3] == ["  │ it broke", "  │ Its server's last output:"]
    assert lines[3:] == ["  │ line 4", "  │ line 5", "  │ line 6", "  │ line 7", "  │ boom \\x1b[31m"]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ({"for_person": "You said no."}, ["⊘ 🔌 kit / echo · hi · not called", "  │ You said no."]),
        ({"continues": "7"}, ["◌ 🔌 kit / echo · hi · in the background"]),
    ],
)
def test_a_card_says_why_nothing_came_back(outcome: dict[str, str], words: list[str]) -> None:
    calls = Calls()
    started, card = calls.start()
    card.finish(*calls.end(started, **outcome))
    assert draw(card) == words


def test_how_far_a_call_is_and_how_it_ended_is_told_without_colors() -> None:
    heads = []
    ways: list[dict[str, Any]] = [
        {}, {"is_error": True}, {"canceled": True}, {"for_person": "No."}, {"continues": "7"},
    ]  # fmt: skip
    for way in ways:
        calls = Calls()
        started, card = calls.start()
        card.finish(*calls.end(started, **way))
        heads.append(draw(card)[0])
    assert len(set(heads)) == len(ways)
    steps = ("pending", "in_progress", "completed")
    drawn = {draw(PlanBlock((Todo("the same", status),)))[0] for status in steps}
    assert len(drawn) == len(steps)


def test_a_canceled_call_says_so() -> None:
    calls = Calls()
    started, card = calls.start()
    card.finish(*calls.end(started, canceled=True))
    assert draw(card) == ["⊘ 🔌 kit / echo · hi · canceled"]


def test_all_of_a_long_result_is_found_while_it_is_kept_and_missed_in_words_after_that() -> None:
    calls = Calls()
    text = "\n".join(f"line {number}" for number in range(5_000))
    card = calls.make_card(text)
    card.toggle()
    assert draw(card)[-1] == "  │ line 4999"
    card.toggle()
    for _ in range(300):
        calls.make_card("x" * 50_000)
    card.toggle()
    assert draw(card)[-1] == "  │ … Call 1 is no longer kept. /show lists those that are."


def test_an_edit_is_a_diff_below_the_whole_path_of_its_file() -> None:
    path = f"/home/someone/{'a/long/path/' * 8}file.py"
    old, new = "one\ntwo\nthree\n", "one\n2\nthree\nfour\n"
    arguments = {"file_path": path, "old_string": old, "new_string": new}
    _, card = Calls().start("Edit", arguments, None)
    lines = draw(card)
    head = "".join(line.strip() for line in lines[: card.head_lines])
    assert path in head
    assert lines[card.head_lines :] == ["  │  one", "  │ -two", "  │ +2", "  │  three", "  │ +four"]
    roles = [find_roles(line) for line in card.layout(60)[card.head_lines :]]
    assert "removed" in roles[1]
    assert "added" in roles[2]


def test_a_tool_of_a_server_that_is_called_edit_is_no_edit() -> None:
    arguments = {"file_path": "a", "old_string": "b", "new_string": "c"}
    _, card = Calls().start("edit", arguments)
    assert draw(card) == ["◌ 🔌 kit / edit · a"]


def test_reads_and_searches_in_a_row_are_counted_and_listed_once_opened() -> None:
    calls, block = Calls(), ReadsBlock()
    for tool, arguments in [("Read", {"file_path": "/a"}), ("Read", {"file_path": "/b"}), ("Grep", {"pattern": "c"})]:
        started, _ = calls.start(tool, arguments, None)
        _, call = calls.end(started, "text")
        assert call is not None
        block.add(call)
        if tool == "Read" and arguments["file_path"] == "/a":
            assert draw(block) == ["✓ ⚙ Read /a · 0 ms"]
    assert draw(block) == ["✓ read 2 files, searched 1 time"]
    block.toggle()
    assert draw(block)[1:] == ["  │ ✓ ⚙ Read /a · 0 ms", "  │ ✓ ⚙ Read /b · 0 ms", "  │ ✓ ⚙ Grep c · 0 ms"]


def test_a_plan_is_a_checklist() -> None:
    plan = PlanBlock([Todo("look"), Todo("change " * 12)])
    assert draw(plan)[0] == "☐ look"
    plan.change([Todo("look", "completed"), Todo("change", "in_progress")])
    assert draw(plan) == ["☑ look", "▶ change"]


def test_a_sub_agent_is_one_line_with_its_own_counts_until_it_is_opened() -> None:
    calls = Calls()
    started, _ = calls.start("Agent", {"description": "find the bug"}, None)
    block = SubAgentBlock(started, clock=lambda: calls.now)
    block.note(TurnStarted(session="s", turn=1, parent="1", backend="api", agent="explorer"))
    for is_error in (False, True):
        started, _ = calls.start()
        block.note(started)
        block.note(*calls.end(started, "result", is_error=is_error))
    calls.now = 9
    block.note(TurnDone(session="s", turn=1, parent="1", reason="finished"))
    assert draw(block) == ["✓ explorer: find the bug · 2 calls · 1 failed · 9 s"]
    block.toggle()
    assert draw(block)[1:] == [
        "  ┊ ✓ 🔌 kit / echo · hi · 0 ms", "  ┊   │ result", "  ┊ ✗ 🔌 kit / echo · hi · 0 ms", "  ┊   │ result",
    ]  # fmt: skip


def test_what_the_person_said_is_copied_as_it_was_typed() -> None:
    said = Said("one  two\n\tthree\x07")
    assert draw(said) == ["❯ one  two", "      three\\x07"]
    assert said.write_source() == "one  two\n\tthree\x07"


def test_a_warning_has_a_sign_and_not_only_a_color() -> None:
    assert draw(WarningBlock("careful " * 10), 30)[:2] == ["! careful careful careful", "  careful careful careful"]


HOSTILE = [
    "\x1b[2J\x1b[H\x1b]0;title\x07", "[bold red]markup[/]", "x" * 5_000, "\u202egnp.exe", "e\u0301" * 50,
    "資料夾" * 200, "👨‍👩‍👧‍👦" * 40, "a\rb\x08c", "\u200b\u2066\ufeff", "\n\n\n", "\t" * 30,
]  # fmt: skip


@pytest.mark.parametrize("cells", [8, 37, 120])
@pytest.mark.parametrize("hostile", HOSTILE, ids=[ascii(text[:12]) for text in HOSTILE])
def test_text_of_others_stays_in_its_lines(hostile: str, cells: int) -> None:
    calls = Calls()
    started, card = calls.start(hostile, {hostile: hostile, "other": [hostile]}, hostile)
    card.note_progress(calls.go_on(started, Progress(progress=1, total=2, message=hostile)))
    running = card.layout(cells)
    event, call = calls.end(started, hostile, is_error=True, notes=(hostile,))
    card.finish(event, call, [hostile])
    closed = card.layout(cells)
    card.toggle()
    for lines in (running, closed, card.layout(cells), LinesBlock("ours").layout(cells)):
        for line in lines:
            text = "".join(piece.text for piece in line.whole)
            # What joins two pictures may stand at the end of a line that is full.
            assert safe(text.replace("\u200d", "")) == text.replace("\u200d", "")
            assert width(text.rstrip()) <= max(cells, 12)
    assert len(running) <= 2


def test_a_name_of_a_megabyte_takes_two_lines() -> None:
    name = "x" * 1_000_000
    calls = Calls()
    started, card = calls.start(name, {name: name}, name)
    card.note_progress(calls.go_on(started, Progress(progress=1, message=name)))
    assert len(draw(card)) == 2
    card.finish(*calls.end(started, name))
    assert len(draw(card)) <= 2 + 2


def test_a_reply_that_begins_anew_is_folded_into_one_line() -> None:
    reply = ReplyBlock()
    reply.feed("Half of a **rep")
    assert draw(reply)[0].startswith("Half of a")
    reply.drop()
    assert draw(reply) == ["a reply that broke off · 4 words"]
    reply.toggle()
    assert draw(reply)[0].startswith("Half of a")


def test_thinking_is_one_line_until_it_is_opened() -> None:
    now = 0.0
    thinking = ThinkingBlock(clock=lambda: now)
    for piece in ("I th", "ink ", "so", ", therefore"):
        thinking.feed(piece)
    assert draw(thinking) == ["✻ thinking · 4 words"]
    now = 5.0
    thinking.end()
    assert draw(thinking) == ["✻ thought for 5 s · 4 words"]
    thinking.toggle()
    assert draw(thinking)[1:] == ["  I think so, therefore"]


def test_lines_of_columns_go_on_below_their_last_column_and_code_is_not_broken() -> None:
    block = LinesBlock(
        "  /undo   take back the last turn and what was said", Verbatim("x" * 50), "plain words that wrap"
    )
    shown = ["".join(piece.text for piece in line.whole) for line in block.layout(30)]
    assert shown == [
        "  /undo   take back the last",
        "          turn and what was",
        "          said",
        "x" * 50,
        "plain words that wrap",
    ]
    assert join_lines(block.layout(30)).startswith("  /undo   take back the last turn and what was said\n")
