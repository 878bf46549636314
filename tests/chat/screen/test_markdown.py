"""What a reply looks like on the screen, while it is written and afterwards."""

from collections.abc import Sequence

import pytest

from mooring.chat.screen.line import Line, Piece, Role, join_lines
from mooring.chat.screen.markdown import MarkdownText


def draw(text: str, cells: int = 60) -> str:
    return show(MarkdownText(text).layout(cells))


def draw_open(text: str, cells: int = 60) -> str:
    """The lines of a text that is still being written."""
    markdown = MarkdownText()
    markdown.feed(text)
    return show(markdown.layout(cells))


def show(lines: Sequence[Line]) -> str:
    return "\n".join("".join(piece.text for piece in line.whole).rstrip() for line in lines)


def find_role(text: str, words: str) -> Role:
    pieces = [piece for line in MarkdownText(text).layout(80) for piece in line.pieces]
    return next(piece.role for piece in pieces if words in piece.text)


def test_lists_are_nested_as_they_were_written() -> None:
    text = "1. One\n   - inner\n     * deep\n2. Two\n\n   More of two.\n- [ ] open\n- [x] done\n"
    assert draw(text) == ("1. One\n   ◦ inner\n     ▪ deep\n2. Two\n\n   More of two.\n☐ open\n☑ done")


def test_a_list_may_be_indented_by_fewer_blanks_than_its_number_takes() -> None:
    assert draw("1. One\n  - inner\n2. Two\n") == "1. One\n   ◦ inner\n2. Two"


def test_a_quotation_has_a_bar_before_each_of_its_lines() -> None:
    text = "> First line of the quotation\n>\n> - entry\n\nAfter it.\n"
    assert draw(text, 20) == "│ First line of the\n│ quotation\n│\n│ • entry\n\nAfter it."


def test_headings_code_and_tables_are_set_off_even_without_an_empty_line() -> None:
    text = "Words\n# Title\nMore\n```sh\nls\n```\nEnd\n***\n"
    assert draw(text, 10) == "Words\n\nTitle\n\nMore\n\n  ls\n\nEnd\n\n──────────"


def test_a_line_below_words_makes_a_heading_of_them() -> None:
    assert find_role("Title\n===\n", "Title") == "heading"
    assert find_role("Title\n-----\nWords\n", "Words") == ""


@pytest.mark.parametrize(
    ("text", "words", "role"),
    [
        ("some **bold** words", "bold", "strong"),
        ("some *stressed* words", "stressed", "emphasis"),
        ("some _stressed_ words", "stressed", "emphasis"),
        ("some ~~deleted~~ words", "deleted", "strike"),
        ("run `make all` now", "make all", "code"),
        ("``a ` b``", "a ` b", "code"),
        ("***both***", "both", "strong"),
        ("**bold with *more* in it**", "more", "strong"),
        ("a snake_case_name", "snake_case_name", ""),
        ("2 * 3 * 4", "2 * 3 * 4", ""),
        (r"\*no stars\*", "*no stars*", ""),
        ("这是**强调。**后面", "强调。", "strong"),
        ("# A *heading*", "A heading", "heading"),
        ("never **closed", "never **closed", ""),
        ("about ~5 to ~10", "about ~5 to ~10", ""),
    ],
)  # fmt: skip
def test_marks_give_words_their_role(text: str, words: str, role: Role) -> None:
    assert find_role(text, words) == role


def test_the_address_of_a_link_can_be_seen_and_opened() -> None:
    [line] = MarkdownText("See [the docs](https://example.com/a_(b)).").layout(80)
    assert line.pieces == (
        Piece("See "),
        Piece("the docs", "link", "https://example.com/a_(b)"),
        Piece(" (https://example.com/a_(b))", "dim", "https://example.com/a_(b)"),
        Piece("."),
    )
    [line] = MarkdownText("At https://example.com/x, or <me@example.com>.").layout(80)
    assert [piece for piece in line.pieces if piece.link] == [
        Piece("https://example.com/x", "link", "https://example.com/x"),
        Piece("me@example.com", "link", "mailto:me@example.com"),
    ]


def test_a_link_that_no_browser_opens_is_only_shown() -> None:
    [line] = MarkdownText("[run](javascript:alert(1)) [file](src/a.py)").layout(80)
    assert line.text == "run (javascript:alert(1)) file (src/a.py)"
    assert not any(piece.link for piece in line.pieces)


def test_a_picture_is_its_description_and_its_address() -> None:
    assert draw("![a chart](https://x.org/c.png)") == "a chart (https://x.org/c.png)"
    assert draw("[![state](https://x.org/i.png)](https://x.org)") == "state (https://x.org)"


def test_a_table_has_columns_as_wide_as_their_cells() -> None:
    text = "| Name | Count |\n|:--|--:|\n| `a` | 1 |\n| long name | 1000 |\nAfter\n"
    assert draw(text) == ("Name      │ Count\n──────────┼──────\na         │     1\nlong name │  1000\n\nAfter")


def test_a_table_too_wide_for_the_screen_wraps_its_cells() -> None:
    text = "| Name | What |\n|---|---|\n| a | several words that do not fit |\n| b | short<br>more |\n"
    assert draw(text, 24) == (
        "Name │ What\n"
        "─────┼──────────────────\n"
        "a    │ several words\n"
        "     │ that do not fit\n"
        "─────┼──────────────────\n"
        "b    │ short\n"
        "     │ more"
    )  # fmt: skip


def test_a_table_with_no_room_for_its_columns_names_them_before_each_cell() -> None:
    text = "| Name | What it does | Where |\n|---|---|---|\n| first one | something long | here of all |\n| b | | d |\n"
    assert draw(text, 20) == (
        "Name: first one\nWhat it does:\nsomething long\nWhere: here of all\n────────\nName: b\nWhere: d"
    )


def test_pipes_in_cells_and_rows_of_other_lengths_lose_nothing() -> None:
    text = "a | b\n--|--\nx \\| y\n1 | 2 | 3\n"
    assert draw(text) == "a     │ b\n──────┼──────\nx | y │\n1     │ 2 | 3"


def test_the_last_line_before_the_row_of_dashes_is_the_header() -> None:
    assert draw("Here it is:\n| a | b |\n|---|---|\n| 1 | 2 |\n") == "Here it is:\n\na │ b\n──┼──\n1 │ 2"


def test_code_is_never_broken_and_a_paragraph_is_copied_without_our_breaks() -> None:
    long = "x = " + "1 + " * 40 + "1"
    text = f"Words that are wrapped on the way to the end.\n\n```python\n{long}\n```\n"
    lines = MarkdownText(text).layout(20)
    assert join_lines(lines) == f"Words that are wrapped on the way to the end.\n\n{long}"
    assert max(line.cells for line in lines[:3]) <= 20


def test_wide_characters_are_broken_where_the_line_is_full() -> None:
    assert draw("漢字かな交じり文。終", 8) == "漢字かな\n交じり\n文。終"


def test_html_is_shown_as_it_was_written() -> None:
    assert draw("<div>\n  **x** <b>y</b>\n</div>\n\n**after**\n") == "<div>\n  **x** <b>y</b>\n</div>\n\nafter"


def test_control_characters_and_marks_of_direction_are_spelled_out() -> None:
    assert draw("a\x1b[31mb \u202ec &#27;[2J\n\n```\n\x07\n```\n") == r"a\x1b[31mb \u202ec &#27;[2J" + "\n\n  \\x07"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("some **bo", "some bo"),
        ("some **bold*", "some bold"),
        ("some `co", "some co"),
        ("a [link](https://exa", "a link"),
        ("```", ""),
        ("```py", ""),
        ("```py\nx\n``", "  x"),
        ("#", ""),
        ("## Ti", "Ti"),
        ("-", ""),
        ("- en", "• en"),
        ("Title\n--", "Title"),
        ("| a | b", "a │ b"),
        ("| a | b |\n|--", "a │ b"),
        ("| a | b |\n|--|--|\n| 1 | 2", "a │ b\n──┼──\n1 │ 2"),
    ],
)
def test_what_is_half_written_looks_as_it_will(text: str, shown: str) -> None:
    assert draw_open(text) == shown


def test_the_same_lines_are_returned_until_something_is_fed() -> None:
    markdown = MarkdownText()
    markdown.feed("one\n\ntwo")
    lines = markdown.layout(40)
    assert markdown.layout(40) is lines
    markdown.feed(" three")
    more = markdown.layout(40)
    assert show(more) == "one\n\ntwo three"
    assert more[0] is lines[0]


def test_open_code_keeps_the_lines_that_it_has() -> None:
    markdown = MarkdownText()
    markdown.feed("```py\n" + "x = 1\n" * 500)
    before = markdown.layout(80)
    markdown.feed("y = 2\n")
    after = markdown.layout(80)
    assert len(after) == len(before) + 1
    assert all(new is old for new, old in zip(after, before, strict=False))


def test_what_was_released_is_laid_out_again() -> None:
    markdown = MarkdownText("Words\n```py\nx = 1\n```\n| a |\n|---|\n| 1 |\n")
    lines = list(markdown.layout(30))
    markdown.release()
    assert list(markdown.layout(30)) == lines


def test_a_table_is_laid_out_again_only_when_a_column_grows() -> None:
    markdown = MarkdownText()
    markdown.feed("| name | count |\n|---|---|\n" + "| a | 1 |\n" * 200)
    before = markdown.layout(80)
    markdown.feed("| b | 2 |\n")
    after = markdown.layout(80)
    assert all(new is old for new, old in zip(after, before, strict=False))
    markdown.feed("| longer | 2 |\n")
    assert show(markdown.layout(80)).startswith("name   │ count\n")


def test_a_line_of_a_megabyte_is_whole_and_taken_in_parts() -> None:
    long = "word *a " * 125_000
    assert join_lines(MarkdownText(long).layout(80)).replace("*", "") == long.replace("*", "").rstrip()
    code = "x" * 1_000_000
    assert join_lines(MarkdownText(f"```\n{code}\n```").layout(80)) == code


@pytest.mark.parametrize(
    ("language", "code", "words", "role"),
    [
        ("python", 'x = """a\ndef b\n"""', "def b", "code.string"),
        ("python", "def name(x):  # why", "name", "code.name"),
        ("ts", "/* one\n const */ let x = 1", "let", "code.keyword"),
        ("sh", 'echo "a\nb" # c', "# c", "code.comment"),
        ("json", '{"key": "value"}', '"key"', "code.name"),
        ("yaml", "key: value # c", "key", "code.name"),
        ("toml", '[a.b]\nkey = "v"', "[a.b]", "code.type"),
        ("go", "func main() {}", "func", "code.keyword"),
        ("rust", "fn main() { println!(1) }", "println!", "code.name"),
        ("c++", "#include <a>\nint x = 0xff;", "0xff", "code.number"),
        ("java", "public class Name {}", "Name", "code.type"),
        ("html", '<a href="x">', '"x"', "code.string"),
        ("css", "a {\n  color: red;\n}", "color", "code.name"),
        ("sql", "select 1 from t -- c", "select", "code.keyword"),
        ("diff", "@@ -1 +1 @@\n-a\n+b", "+b", "added"),
        ("unknown", "def x", "def x", "code.text"),
    ],
)
def test_code_is_highlighted_over_lines(language: str, code: str, words: str, role: Role) -> None:
    assert find_role(f"```{language}\n{code}\n```\n", words) == role
