"""The blocks of a transcript: broken lines, places that stay, and text as it was before it was broken."""

import random

import pytest

from mooring.chat.screen.cards import LinesBlock, Said
from mooring.chat.screen.line import Line, Piece, join_lines, make_line
from mooring.chat.screen.stack import MOST_LAID, Place, Spot, Stack
from mooring.chat.screen.wrap import fold_line, wrap_line, wrap_text
from mooring.display.text import paint, width

WORDS = ["a", "of", "word", "wrapping", "資料夾", "naïve", "🔌", "  ", "verylongwordthatfitsnowhere", "x" * 90]


def make_text(seed: int, words: int = 60) -> str:
    chance = random.Random(seed)
    return " ".join(chance.choice(WORDS) for _ in range(words)).strip()


def make_stack(*texts: str, cells: int = 40) -> Stack:
    stack = Stack()
    stack.cells = cells
    for text in texts:
        stack.add(Said(text))
    return stack


@pytest.mark.parametrize("cells", [1, 2, 7, 20, 79])
@pytest.mark.parametrize("seed", range(20))
def test_a_broken_text_fits_and_is_whole_when_it_is_joined(seed: int, cells: int) -> None:
    text = make_text(seed)
    for lines in (wrap_text(text, cells), fold_line(make_line(text), cells)):
        assert join_lines(lines) == text
        # A character of two cells has no room in one.
        assert all(width(line.text.rstrip()) <= max(2, cells) for line in lines)


def test_a_line_is_broken_between_words_and_keeps_its_roles_and_its_margin() -> None:
    line = Line((Piece("one two "), Piece("three four", "strong")), (Piece("> ", "rule"),))
    lines = wrap_line(line, 12)
    assert [each.text for each in lines] == ["one two", "three four"]
    assert lines[1].pieces == (Piece("three four", "strong"),)
    assert [each.margin for each in lines] == [(Piece("> ", "rule"),)] * 2
    assert [each.glue for each in lines] == [" ", None]


def test_what_paint_colored_becomes_roles() -> None:
    block = LinesBlock(f"{paint('✓', 'green')} done {paint('slowly', 'dim')}")
    [line] = block.layout(80)
    assert line.pieces == (Piece("✓", "success"), Piece(" done "), Piece("slowly", "dim"))


def test_only_what_is_in_view_is_laid_out() -> None:
    stack = make_stack(*(make_text(number) for number in range(1_000)))
    laid: list[int] = []
    for index, block in enumerate(stack.blocks):
        layout = block.make_lines
        block.make_lines = lambda cells, layout=layout, index=index: laid.append(index) or layout(cells)  # type: ignore[method-assign]
    rows = stack.find_rows(stack.find_end(40), 40)
    assert len(rows) == 40
    assert min(laid) > 980
    stack.cells = 60
    laid.clear()
    stack.find_rows(stack.find_row(Spot(500, 30)), 40)
    assert set(laid) <= set(range(499, 520))


def test_what_was_laid_out_longest_ago_is_forgotten() -> None:
    stack = make_stack(*(make_text(number) for number in range(MOST_LAID + 50)))
    for index in range(len(stack.blocks)):
        stack.measure(index)
    stack.release()
    assert [block._laid is None for block in stack.blocks].count(True) == 50
    assert stack.blocks[-1]._laid is not None


def test_moving_up_and_down_by_rows_meets_every_row_once() -> None:
    stack = make_stack(*(make_text(number, 20) for number in range(20)))
    rows = stack.find_rows(Place(0, 0), 10_000)
    assert [row.place for row in rows] == [stack.move(Place(0, 0), number) for number in range(len(rows))]
    last = rows[-1].place
    assert [stack.move(last, -number) for number in range(len(rows))] == [row.place for row in reversed(rows)]
    assert stack.move(last, 1) == last
    assert stack.total == len(rows)
    assert [stack.count_above(row.place) for row in rows] == list(range(len(rows)))
    assert [stack.find_place(number) for number in range(len(rows))] == [row.place for row in rows]


def test_a_place_outlives_every_width() -> None:
    stack = make_stack(*(make_text(number) for number in range(5)))
    for place in [row.place for row in stack.find_rows(Place(0, 0), 10_000)]:
        spot = stack.find_spot(place)
        for cells in (11, 90, 25):
            stack.cells = cells
            row = stack.find_row(spot)
            starts = stack.find_starts(row.block)
            assert row.block == place.block
            if spot.offset >= 0:
                number = row.row - (1 if row.block else 0)
                assert starts[number] <= spot.offset < starts[number + 1]
        stack.cells = 40
        assert stack.find_row(spot) == place


def test_text_is_copied_without_what_wraps_and_decorates_it() -> None:
    texts = [make_text(number) for number in range(3)]
    stack = make_stack(*texts, cells=17)
    assert stack.copy(Spot(0, 0), Spot(2, len(texts[2]))) == "\n\n".join(texts)
    assert stack.copy(Spot(1, 20), Spot(1, 5)) == texts[1][5:20]
