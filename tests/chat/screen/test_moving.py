"""Moving in a transcript: what is selected, copied, searched for, walked to and opened."""

import pytest
from tests.chat.screen.events import Calls
from tests.chat.screen.shown import Growing, Seen, TranscriptApp, make_messages, open_transcript

from mooring.chat.screen.cards import NoticeBlock, Said
from mooring.chat.screen.clipboard import Clipboard
from mooring.chat.screen.reply import ReplyBlock

PARAGRAPH = (
    "Mooring reads the servers of every tool that is installed here, and `github` among them, so that nothing has to "
    "be written twice: 資料夾 too, and **names** of any script. It connects what a call needs, and leaves the rest."
)
PLAIN = PARAGRAPH.replace("`", "").replace("**", "")
CODE = "x = [" + ", ".join(f"value_{number}" for number in range(30)) + "]"


@pytest.mark.parametrize("cells", [24, 40, 61, 100])
async def test_a_selected_paragraph_is_copied_as_it_was_before_it_was_wrapped(cells: int) -> None:
    async with open_transcript(ReplyBlock(f"# Title\n\n{PARAGRAPH}\n\n- an item"), size=(cells, 30)) as seen:
        start, end = await seen.find("Mooring"), await seen.find("rest.")
        await seen.drag(start, (end[0] + 4, end[1]))
        assert seen.transcript.selected_text == PLAIN
        await seen.drag((end[0] + 4, end[1]), start)
        assert seen.transcript.selected_text == PLAIN
        marked = " ".join(text.strip() for text in seen.find_marked("reverse"))
        assert marked.split() == PLAIN.split() or cells < 100


async def test_signs_margins_and_bars_are_not_copied() -> None:
    card = Calls().make_card("first\nsecond")
    async with open_transcript(Said("hello there"), card, ReplyBlock("> quoted\n\n- item")) as seen:
        await seen.drag((0, 0), (59, 11))
        copied = seen.transcript.selected_text
        assert copied.startswith("hello there\n\n🔌 kit / echo")
        assert "\nfirst\nsecond\n\nquoted" in copied
        assert not set("❯│┃▌") & set(copied)


async def test_a_selection_reaches_over_rows_that_were_scrolled_out_of_view() -> None:
    async with open_transcript(*make_messages(30)) as seen:
        start = await seen.find("message 29")
        await seen.pilot.mouse_down(offset=start)
        for _ in range(8):
            seen.transcript.scroll_rows(-5)
            await seen.settle()
        await seen.pilot.hover(offset=(4, 1))
        await seen.pilot.mouse_up(offset=(4, 1))
        lines = seen.transcript.selected_text.split("\n\n")
        assert len(lines) > 10
        assert lines[-2].startswith("message 28 word")


async def test_a_selection_stays_on_its_text_over_a_resize_and_while_a_reply_streams() -> None:
    block = Growing()
    async with open_transcript(Said(PLAIN), block, size=(60, 20)) as seen:
        start, end = await seen.find("tool"), await seen.find("installed")
        await seen.drag(start, (end[0] + 8, end[1]))
        before = seen.transcript.selected_text
        assert before == "tool that is installed"
        for number in range(3):
            block.grow(f"line {number}")
            seen.transcript.note_change(block)
        await seen.pilot.resize_terminal(30, 20)
        await seen.settle()
        assert seen.transcript.selected_text == before
        assert " ".join(" ".join(seen.find_marked("reverse")).split()) == before


async def test_a_button_let_go_elsewhere_ends_the_selection() -> None:
    async with open_transcript(Said(PLAIN), size=(60, 20)) as seen:
        start = await seen.find("tool")
        await seen.drag(start, (start[0] + 3, start[1]))
        assert seen.transcript.selected_text == "tool"
        await seen.pilot.hover(offset=(50, 3))
        await seen.settle()
        assert seen.transcript.selected_text == "tool"


async def test_two_clicks_select_a_word_and_three_a_whole_paragraph() -> None:
    async with open_transcript(Said(f"see https://example.org/a-page and {PLAIN}")) as seen:
        at = await seen.find("example")
        await seen.pilot.click(offset=at, times=2)
        assert seen.transcript.selected_text == "https://example.org/a-page"
        await seen.pilot.click(offset=at, times=3)
        assert seen.transcript.selected_text == f"see https://example.org/a-page and {PLAIN}"
        seen.transcript.leave_selection()
        assert seen.transcript.selected_text == ""


async def test_blocks_are_walked_opened_and_copied_by_key() -> None:
    calls = Calls()
    text = "\n".join(f"line {number}" for number in range(9))
    sent: list[str] = []
    clipboard = Clipboard({}, sent.append)
    blocks = [*make_messages(10), calls.make_card(text), ReplyBlock("**source**")]
    async with open_transcript(*blocks, clipboard=clipboard) as seen:
        transcript = seen.transcript
        transcript.action_previous_block()
        assert transcript.current is blocks[-1]
        transcript.action_previous_block()
        await seen.settle()
        assert transcript.current is blocks[-2]
        assert any(transcript.render_line(y).text.startswith("▌ ✓ 🔌") for y in range(12))
        transcript.action_toggle_block()
        assert "Output:" in "\n".join(await seen.rows())
        transcript.action_toggle_block()
        assert "  │ … 4 more lines" in await seen.rows()
        for _ in range(20):
            transcript.action_previous_block()
        assert transcript.current is blocks[0]
        assert (await seen.rows())[0] == "❯ message 0"
        for _ in range(12):
            transcript.action_next_block()
        assert transcript.current is None
        assert transcript.is_at_end
        transcript.action_previous_block()
        transcript.action_copy_block()
        await seen.pilot.app.workers.wait_for_complete()
        await seen.settle()
        assert isinstance(seen.pilot.app, TranscriptApp)
        [copied] = seen.pilot.app.copied
        assert copied.text == "**source**"
        assert "terminal" in copied.how
        assert sent == ["\x1b]52;c;Kipzb3VyY2UqKg==\x07"]


async def test_a_click_opens_a_card_and_one_on_its_head_closes_it() -> None:
    card = Calls().make_card("\n".join(f"line {number}" for number in range(9)))
    async with open_transcript(card, size=(60, 30)) as seen:
        await seen.pilot.click(offset=await seen.find("line 3"))
        assert card.is_open
        await seen.pilot.click(offset=await seen.find("line 3"))
        assert card.is_open
        await seen.pilot.click(offset=await seen.find("kit / echo"))
        assert not card.is_open


async def test_opening_a_card_moves_nothing_above_it() -> None:
    card = Calls().make_card("\n".join(f"line {number}" for number in range(90)))
    async with open_transcript(*make_messages(10), card) as seen:
        before = await seen.rows()
        seen.transcript.action_previous_block()
        seen.transcript.action_toggle_block()
        after = await seen.rows()
        head = next(y for y, row in enumerate(before) if row.startswith("✓"))
        assert after[: head + 1] == before[: head + 1]
        assert not seen.transcript.is_at_end


async def test_everything_is_opened_at_once_and_what_follows_too() -> None:
    calls = Calls()
    blocks = [calls.make_card("text") for _ in range(5)]
    async with open_transcript(*blocks) as seen:
        seen.transcript.action_open_all()
        later = calls.make_card("text")
        seen.transcript.add(later)
        assert all(block.is_open for block in [*blocks, later])
        seen.transcript.action_open_all()
        assert not any(block.is_open for block in [*blocks, later])


async def test_the_path_of_a_diff_stays_in_view() -> None:
    old, new = ("\n".join(f"{word} {number}" for number in range(60)) for word in ("old", "new"))
    _, card = Calls().start("Edit", {"file_path": "/some/file.py", "old_string": old, "new_string": new}, None)
    card.toggle()
    async with open_transcript(card, NoticeBlock("after")) as seen:
        rows = await seen.rows()
        assert rows[0] == "◌ ⚙ Edit /some/file.py"
        assert rows[-1] == "after"
        for _ in range(3):
            seen.transcript.scroll_rows(-9)
            rows = await seen.rows()
            assert rows[0] == "◌ ⚙ Edit /some/file.py"
            assert rows[1].startswith("  │ ")


async def test_paging_shows_every_row_even_below_a_head_that_stays() -> None:
    card = Calls().make_card("\n".join(f"line {number}" for number in range(200)))
    card.toggle()
    async with open_transcript(card) as seen:
        seen.transcript.go_to_start()
        rows: set[str] = set()
        for _ in range(40):
            rows |= set(await seen.rows())
            seen.transcript.scroll_pages(1)
        assert {f"  │ line {number}" for number in range(200)} <= rows


async def test_a_search_goes_from_match_to_match_and_marks_them() -> None:
    blocks = [
        Said(f"message {number}") if number % 7 else ReplyBlock(f"Message {number} has a **nee**dle.")
        for number in range(50)
    ]
    async with open_transcript(*blocks) as seen:
        assert seen.transcript.find("Needle")
        assert any("Message 49" in row for row in await seen.rows())
        assert "needle" in "".join(seen.find_marked("reverse"))
        seen_numbers = []
        while seen.transcript.find_previous():
            rows = await seen.rows()
            seen_numbers.append(next(int(row.split()[1]) for row in rows if "needle" in row))
        assert seen_numbers[-1] == 0
        assert not seen.transcript.find_previous()
        assert seen.transcript.find_next()
        assert any("Message 7 " in row for row in await seen.rows())
        assert not seen.transcript.find("haystack")
        assert seen.find_marked("underline") == []


async def test_long_code_is_scrolled_sideways_or_wrapped_and_copied_whole_either_way() -> None:
    async with open_transcript(ReplyBlock(f"words\n\n```python\n{CODE}\n```"), size=(40, 20)) as seen:
        row = next(row for row in await seen.rows() if "value_0" in row)
        assert row.endswith("›")
        start = await seen.find("x = [")
        for _ in range(60):
            seen.transcript.scroll_sideways(1)
        rows = await seen.rows()
        assert "words" in rows
        assert any(row.endswith("value_29]") for row in rows)
        for _ in range(60):
            seen.transcript.scroll_sideways(-1)
        seen.transcript.action_fold_code()
        rows = await seen.rows()
        assert sum("value_" in row for row in rows) > 5
        await seen.pilot.click(offset=start, times=3)
        assert seen.transcript.selected_text == CODE


async def test_the_wheel_scrolls_three_rows() -> None:
    async with open_transcript(*make_messages(30)) as seen:
        before = await seen.rows()
        await _turn_wheel(seen)
        assert (await seen.rows())[3:] == before[:-3]


async def _turn_wheel(seen: Seen) -> None:
    from textual import events

    seen.transcript.post_message(
        events.MouseScrollUp(seen.transcript, 5, 5, 0, 0, 0, shift=False, meta=False, ctrl=False)
    )
    await seen.settle()
