"""The transcript on a screen: what it draws, and where it stays."""

from tests.chat.screen.shown import SIZE, Growing, make_messages, open_transcript

from mooring.chat.screen.cards import LinesBlock, NoticeBlock, Said
from mooring.chat.screen.transcript import FRAME
from mooring.display.text import Verbatim


async def test_the_end_is_in_view_and_stays_in_view_while_something_is_added() -> None:
    block = Growing()
    async with open_transcript(*make_messages(20), block) as seen:
        for number in range(30):
            block.grow(f"line {number}")
            seen.transcript.note_change(block)
        assert (await seen.rows())[-2:] == ["line 28", "line 29"]
        seen.transcript.add(NoticeBlock("a notice"))
        assert (await seen.rows())[-1] == "a notice"
        assert seen.transcript.is_at_end
        assert seen.transcript.describe_position() == ""


async def test_a_view_that_was_scrolled_up_stays_while_a_reply_streams() -> None:
    block = Growing()
    async with open_transcript(*make_messages(20), block) as seen:
        seen.transcript.scroll_pages(-2)
        before = await seen.rows()
        for number in range(200):
            block.grow(f"line {number}")
            seen.transcript.note_change(block)
        assert await seen.rows() == before
        assert not seen.transcript.is_at_end
        assert "rows below" in seen.transcript.describe_position()
        seen.transcript.go_to_end()
        assert (await seen.rows())[-1] == "line 199"


async def test_a_view_stays_in_the_middle_of_the_block_that_grows() -> None:
    block = Growing()
    for number in range(40):
        block.grow(f"line {number}")
    async with open_transcript(block) as seen:
        seen.transcript.scroll_rows(-10)
        before = await seen.rows()
        block.grow("more")
        seen.transcript.note_change(block)
        assert await seen.rows() == before


async def test_growth_above_the_view_does_not_move_it() -> None:
    card = LinesBlock("closed")
    async with open_transcript(card, *make_messages(30)) as seen:
        seen.transcript.scroll_rows(-40)
        before = await seen.rows()
        card.extend(*(f"opened {number}" for number in range(50)))
        seen.transcript.note_change(card)
        assert await seen.rows() == before


async def test_scrolling_down_to_the_end_follows_it_again() -> None:
    async with open_transcript(*make_messages(20)) as seen:
        seen.transcript.scroll_rows(-7)
        await seen.settle()
        seen.transcript.scroll_rows(7)
        assert seen.transcript.is_at_end
        seen.transcript.add(NoticeBlock("a notice"))
        assert (await seen.rows())[-1] == "a notice"


async def test_the_top_line_stays_over_a_storm_of_resizes() -> None:
    async with open_transcript(*make_messages(60)) as seen:
        seen.transcript.scroll_rows(-63)
        before = await seen.rows()
        for cells in (30, 200, 41, 20, 80, 33):
            await seen.pilot.resize_terminal(cells, 12)
            top = next(row for row in await seen.rows() if row)
            # The character that was at the top is in the topmost line, whatever else there is.
            assert top.split()[-1] in " ".join(before[:5])
        await seen.pilot.resize_terminal(*SIZE)
        assert await seen.rows() == before


async def test_the_scroll_bar_says_where_the_view_is() -> None:
    async with open_transcript(*make_messages(3)) as seen:
        assert (await seen.bar()).strip() == ""
        for block in make_messages(100):
            seen.transcript.add(block)
        assert (await seen.bar()).endswith("│┃")
        seen.transcript.go_to_start()
        assert (await seen.bar()).startswith("┃│")
        assert seen.transcript.describe_position().startswith("0 % · ")


async def test_a_block_that_becomes_shorter_leaves_no_hole() -> None:
    block = Growing()
    for number in range(50):
        block.grow(f"line {number}")
    async with open_transcript(Said("first"), block) as seen:
        seen.transcript.scroll_rows(-5)
        await seen.settle()
        block._lines[:] = block._lines[:3]
        block.version += 1
        seen.transcript.note_change(block)
        assert (await seen.rows())[:5] == ["❯ first", "", "line 0", "line 1", "line 2"]


async def test_many_changes_are_drawn_in_one_frame_and_none_costs_nothing() -> None:
    block = Growing()
    async with open_transcript(block) as seen:
        await seen.settle()
        drawn = 0
        draw = seen.transcript._draw

        def count() -> None:
            nonlocal drawn
            drawn += 1
            draw()

        seen.transcript._draw = count  # type: ignore[method-assign]
        for number in range(2_000):
            block.grow(f"line {number}")
            seen.transcript.note_change(block)
        await seen.settle()
        assert drawn == 1
        await seen.pilot.pause(5 * FRAME)
        assert drawn == 1


async def test_what_stays_after_exit_is_the_end_in_color() -> None:
    async with open_transcript(*make_messages(3), NoticeBlock("a notice")) as seen:
        written = seen.transcript.write_end(3, 60)
        assert written[1] == ""
        assert "a notice" in written[2]
        assert "\x1b[" in written[2]
        assert len(seen.transcript.write_end(2_000, 60)) == 7
        for block in seen.transcript.blocks[:3]:
            block.is_history = True
        assert seen.transcript.write_end(2_000, 60) == written[2:]


async def test_a_line_of_a_megabyte_is_cut_where_it_is_left_on_the_normal_screen() -> None:
    async with open_transcript(LinesBlock(Verbatim("x" * 1_000_000)), NoticeBlock("after")) as seen:
        long, _, last = seen.transcript.write_end(2_000, 60)
        assert len(long) < 2_100
        assert "…" in long
        assert "after" in last
