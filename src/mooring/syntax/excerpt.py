"""The text of one value, cut out for a person to change, and put back: every other byte is kept. No I/O.

An excerpt is what a person would see in the file: its comments and its order, but moved to the left margin and with
plain line ends, so that any editor can be used.
"""

from typing import TypeAlias

from msgspec import Struct

from mooring.errors import ParseError
from mooring.syntax.document import Kind
from mooring.syntax.edit import Steps, check_others_kept
from mooring.syntax.parse import parse
from mooring.syntax.spans import line_break, line_indent, line_start, refuse_change, refuse_plist, trace_path

Span: TypeAlias = tuple[int, int]


class _Cut(Struct, frozen=True):
    """Where an excerpt is in its text: one span or several, and the margin that its lines lose."""

    spans: tuple[Span, ...]
    margin: str = ""
    is_lines: bool = False
    """It is made of whole lines."""


def cut_excerpt(text: str, kind: Kind, path: Steps) -> str:
    """The text of the value under a path.

    Raises:
        ParseError: the text is not understood, or there is nothing under the path.
    """
    cut = _find_cut(text, kind, path)
    pieces = [_remove_margin(text[start:end].replace("\r\n", "\n"), cut.margin) for start, end in cut.spans]
    excerpt = "".join(pieces)
    return excerpt if excerpt.endswith("\n") else f"{excerpt}\n"


def put_excerpt(text: str, kind: Kind, path: Steps, excerpt: str) -> str:
    """The text with another one in the place of the value under a path.

    Raises:
        ParseError: the new text cannot be read, with the line in the excerpt; or more than that value would change.
    """
    cut = _find_cut(text, kind, path)
    (start, end), *others = cut.spans
    written = _fit(text, cut, excerpt)
    made = text
    for other_start, other_end in reversed(others):
        made = made[:other_start] + made[other_end:]
    made = made[:start] + written + made[end:]
    try:
        parse(made.encode(errors="surrogatepass"), kind)
    except ParseError as error:
        raise ParseError(error.reason, _count_line(error.line, text, start, excerpt)) from None
    check_others_kept(text, made, kind, path)
    return made


def _find_cut(text: str, kind: Kind, path: Steps) -> _Cut:
    match kind:
        case "json":
            return _cut_json(text, path)
        case "toml":
            return _cut_toml(text, path)
        case "yaml":
            return _cut_yaml(text, path)
        case "plist":
            raise refuse_plist()


def _cut_json(text: str, path: Steps) -> _Cut:
    from mooring.syntax.edit_json import find_spans

    trace = trace_path(find_spans(text, path), path)
    if trace.missing:
        raise refuse_change()
    value = trace.last
    return _Cut(((value.start, value.end),), line_indent(text, value.start))


def _cut_yaml(text: str, path: Steps) -> _Cut:
    from mooring.syntax.edit_yaml import find_spans

    trace = trace_path(find_spans(text), path)
    if trace.missing or trace.last.start == trace.last.end:
        raise refuse_change()
    value = trace.last
    # A block's lines are below each other, whatever is before the first: a key, a dash, or nothing.
    column = " " * (value.start - line_start(text, value.start))
    margin = column if value.style == "block" else line_indent(text, value.start)
    return _Cut(((value.start, value.end),), margin)


def _cut_toml(text: str, path: Steps) -> _Cut:
    from mooring.syntax.edit_toml import find_statements

    found = find_statements(text, path)
    return _Cut(found.spans, is_lines=not found.inside_line)


# --- margins and lines --------------------------------------------------------------------------------------


def _remove_margin(text: str, margin: str) -> str:
    first, *rest = text.split("\n")
    return "\n".join([first, *(_strip_margin(line, margin) for line in rest)])


def _strip_margin(line: str, margin: str) -> str:
    # A line may begin further to the left, as comments sometimes do: it loses what it has of the margin.
    common = 0
    for character, expected in zip(line, margin, strict=False):
        if character != expected:
            break
        common += 1
    return line[common:]


def _fit(text: str, cut: _Cut, excerpt: str) -> str:
    """An excerpt as it is written into a text: with its margin and its line ends."""
    plain = excerpt.removeprefix("\ufeff").replace("\r\n", "\n").strip("\n")
    if not cut.is_lines:
        plain = plain.strip()
    first, *rest = plain.split("\n")
    lines = [first, *(f"{cut.margin}{line}" if line.strip() else line for line in rest)]
    before = text[slice(*cut.spans[0])]
    # Lines may end in several ways in one file; those of the entry stay as they were.
    end = line_break(before if "\n" in before else text)
    ends_line = cut.is_lines and before.endswith("\n")
    return end.join(lines) + (end if ends_line else "")


def _count_line(line: int | None, text: str, start: int, excerpt: str) -> int | None:
    """The line of an excerpt that is a line of the whole text; the last one if the text goes wrong behind it."""
    if line is None:
        return None
    within = line - text.count("\n", 0, start)
    return min(max(within, 1), excerpt.rstrip("\n").count("\n") + 1)
