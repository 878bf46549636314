"""What holds for any Markdown, however it arrives and whatever is in it."""

import itertools
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from mooring.chat.screen.line import Line, Piece, join_lines
from mooring.chat.screen.markdown import MarkdownText
from mooring.display.text import safe_text

_PARTS = st.sampled_from(
    [
        "\n", "\n\n", "\r\n", "# ", "## Title\n", "- ", "* item\n", "  - nested\n", "1. ", "2) two\n", "> ", ">> deep\n",
        "- [ ] ", "- [x] done\n", "```", "```py\n", "~~~\n", "    code\n", "\t", "---\n", "===\n", "***", "**", "*", "_",
        "__", "~~", "`", "``", "[text](https://example.com/a)", "[half](htt", "![image](a.png)", "<https://x.org>", "[",
        "](", ")", "| a | b |\n", "|---|:-:|\n", "| 1 | 2 |\n", "|", "\\|", "\\", "&lt;", "<br>", "<div>\n", "<!-- c\n",
        "word ", "several plain words ", "https://example.com/path?q=1 ", "snake_case ", "漢字かな交じり文", "e\u0301",
        "👩\u200d💻", "\u202e", "\x1b[31m", "\x00", "\u200b", "def f(x):\n", '"""', "/* ", "*/", "'", '"', "  ", " ",
    ]
)  # fmt: skip
_MARKDOWN = st.lists(_PARTS | st.text(max_size=8), max_size=40).map("".join)
_CELLS = st.integers(8, 100)


@given(text=_MARKDOWN, cuts=st.lists(st.integers(0, 400), max_size=30), cells=_CELLS, looks=st.booleans())
@settings(max_examples=150, deadline=None)
def test_it_ends_with_the_same_lines_however_it_was_cut_into_pieces(
    text: str, cuts: list[int], cells: int, looks: bool
) -> None:
    streamed = MarkdownText()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    for start, end in itertools.pairwise(places):
        streamed.feed(text[start:end])
        if looks:
            streamed.layout(cells)
    streamed.end()
    assert streamed.source == text
    assert list(streamed.layout(cells)) == list(MarkdownText(text).layout(cells))


@given(text=_MARKDOWN, cells=_CELLS)
@settings(max_examples=150, deadline=None)
def test_every_line_fits_while_it_is_written_and_holds_nothing_that_steers_a_terminal(text: str, cells: int) -> None:
    streamed = MarkdownText()
    for character in text[:120]:
        streamed.feed(character)
        _check_lines(streamed.layout(cells), cells)
    streamed.feed(text[120:])
    streamed.end()
    _check_lines(streamed.layout(cells), cells)
    assert streamed.layout(cells) is streamed.layout(cells)


def _is_code(line: Line) -> bool:
    roles = {piece.role.partition(".")[0] for piece in line.pieces}
    return line.margin[-1:] == (Piece("  "),) and roles <= {"code", "added", "removed"}


def _check_lines(lines: object, cells: int) -> None:
    assert isinstance(lines, list)
    for line in lines:
        assert isinstance(line, Line)
        assert line.cells <= cells or _is_code(line), line
        for piece in line.whole:
            assert safe_text(piece.text) == piece.text or unicodedata.combining(piece.text[0])
            assert piece.text.isprintable() or all(map(_is_shown, piece.text))
            assert not set(piece.link) & set("\x1b\x07\n")


def _is_shown(character: str) -> bool:
    # Blocks of pictures grow faster than Python's tables: what they don't know yet is shown as well.
    is_picture = "\U0001f000" <= character <= "\U0001faff"
    return is_picture or character == "\u200d" or not unicodedata.category(character).startswith("C")


_CODE_LINE = st.text(st.characters(exclude_categories=["C", "M", "Z"], include_characters=" "), max_size=60)


@given(
    lines=st.lists(_CODE_LINE.filter(lambda line: not line.strip().startswith("```")), min_size=1, max_size=30),
    language=st.sampled_from(
        ["", "py", "ts", "sh", "json", "yaml", "toml", "go", "rust", "c++", "html", "css", "sql", "diff"]
    ),
    cells=_CELLS,
)
@settings(max_examples=150, deadline=None)
def test_the_lines_of_code_are_those_of_the_source(lines: list[str], language: str, cells: int) -> None:
    code = "\n".join(safe_text(line) for line in lines)
    read = MarkdownText(f"```{language}\n{code}\n```\n")
    assert join_lines(read.layout(cells)) == code


@given(words=st.lists(st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=30), min_size=1), cells=_CELLS)
@settings(deadline=None)
def test_a_copied_paragraph_is_the_source_without_our_line_breaks(words: list[str], cells: int) -> None:
    text = " ".join(safe_text(word) for word in words)
    assert join_lines(MarkdownText(f"A {text}").layout(cells)) == f"A {text}"
