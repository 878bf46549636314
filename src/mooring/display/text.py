"""Values as plain words, and text that others wrote made safe to show: what a person reads, in any face."""

import re
from collections.abc import Sequence

from mooring.core.problem import Problem
from mooring.core.secret import HIDDEN
from mooring.core.template import (
    CommandPart,
    FilePart,
    ForeignPart,
    InputPart,
    KnownPart,
    Part,
    SecretPart,
    Template,
    TextPart,
    VariablePart,
    is_bare_name,
)

# A server's name, a tool's description and a log line are written by others. An escape sequence in them would move the
# cursor or set the window's title, and a right-to-left override would show a name that is not the one being approved.
# Patterns stay strings, compiled on first use: most text is printable ASCII, and a listing needs none of them.

# What stands for a picture by itself.
_PICTURE = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Control characters (C0, DEL, C1), lone surrogates, and the invisible ones that reorder or hide text. Two invisible
# ones are kept where they make an emoji: U+FE0F behind a picture or before a keycap (U+20E3), and U+200D between two
# pictures.
_UNSAFE = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufe00-\ufe0e"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
    f"|(?<![{_PICTURE}])\ufe0f(?!\u20e3)|(?<![{_PICTURE}\ufe0f])\u200d|\u200d(?![{_PICTURE}])"
)
# In a text of many lines, tabs and newlines are what they seem.
_UNSAFE_TEXT = _UNSAFE.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f")
_JOINERS = "\u200d\ufe0f"
# Words that every shell takes as they are.
_NEEDS_NO_QUOTES = r"(?a)[\w@%+=:,./-]+"


def safe(text: str) -> str:
    """The text on one line, with everything that could steer a terminal or deceive an eye shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, _escape, text)


def safe_text(text: str) -> str:
    """The same for a text of many lines: newlines and tabs stay."""
    # A carriage return by itself would overwrite its line; before a newline it is only how Windows ends one.
    return re.sub(_UNSAFE_TEXT, _escape, text.replace("\r\n", "\n"))


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return f"\\x{code:02x}"
    if code < 0x10000:
        return f"\\u{code:04x}"
    return f"\\U{code:08x}"


# --- values that may be secrets ------------------------------------------------------------------------------------


def mask(template: Template) -> str:
    """What a value that may be a secret consists of, without any of its text."""
    if is_bare_name(template):
        return HIDDEN
    return "".join(map(_mask_part, template.parts)) or HIDDEN


def reveal_commands(template: Template) -> str:
    """The same as `mask`, but with the commands that would run: a person has to see them before they approve."""
    return "".join(map(_reveal_part, template.parts))


def _reveal_part(part: Part) -> str:
    if isinstance(part, CommandPart):
        return "!" + "".join(map(_reveal_word, part.line))
    return _mask_part(part)


def _reveal_word(part: Part) -> str:
    return part.text if isinstance(part, TextPart | ForeignPart) else _mask_part(part)


def _mask_part(part: Part) -> str:
    match part:
        case VariablePart(name, str()):
            # A default may be the secret itself.
            return VariablePart(name, HIDDEN).written
        case CommandPart():
            return f"!{HIDDEN}"
        case FilePart():
            return FilePart(HIDDEN).written
        case TextPart() | ForeignPart():
            return HIDDEN
        case VariablePart() | InputPart() | KnownPart() | SecretPart():
            return part.written


# --- words, paths and sentences ------------------------------------------------------------------------------------


def quote_command(words: Sequence[str]) -> str:
    """The words as one would type them, each quoted if it must be."""
    return " ".join(safe(_quote(word)) for word in words)


def quote_argument(name: str) -> str:
    """A name as the last word of a command that a person may copy: quoted, and never an option."""
    quoted = _quote(name)
    return safe(f"-- {quoted}" if name.startswith("-") else quoted)


def suggest_new_record(path: str) -> str:
    """What to do about a record that cannot be used."""
    return f"to start a new one: mv {quote_argument(path)} {quote_argument(f'{path}.damaged')}"


def _quote(word: str) -> str:
    if re.fullmatch(_NEEDS_NO_QUOTES, word):
        return word
    # Nothing can be escaped inside single quotes: they close, a quote stands in double quotes, and they open again.
    return "'" + word.replace("'", "'\"'\"'") + "'"


def short_path(path: str, home: str) -> str:
    """A path with the person's home as `~`."""
    if home and path.startswith(f"{home}/"):
        path = "~" + path[len(home) :]
    return safe(path)


def describe_origin(tool: str, scope: str, path: str | None, home: str) -> str:
    """Where a definition was written, in words."""
    return f"{tool}, {scope}: {describe_path(path, home)}"


def describe_path(path: str | None, home: str) -> str:
    """The file of a definition, in words."""
    return short_path(path, home) if path else "command line"


def name_server(name: str, error: str) -> str:
    """An error that begins with the server's name; most do already."""
    begins_with_name = re.match(rf"{re.escape(name)}(?![\w.@/-])", error)
    return error if begins_with_name else f"{name}: {error}"


def address_server(name: str, error: str) -> str:
    """The same error as a sentence about a server that is named before it: `It ended …` for `github ended …`."""
    text = error.removeprefix(f"{name}: ")
    return f"It {text.removeprefix(f'{name} ')}" if text.startswith(f"{name} ") else text


def count_noun(count: int, noun: str) -> str:
    """So many of something: `1 tool`, `2 tools`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def describe_held_back(count: int) -> str:
    """How many tools are held back, and why."""
    return f"{count_noun(count, 'tool')} held back: changed or new since your approval"


def advise_on_held_back(server: str) -> str:
    """What to do about a server's tools that are held back."""
    name = quote_argument(server)
    return f"to look: mooring mcp pins {name}, to let them be called: mooring mcp pins --approve {name}"


def describe_trust(mention: str) -> str:
    """Where another tool lets a project's server start, and what that means here."""
    return f"{safe(mention)} trusts this folder or this server; that alone approves nothing here"


def problem_line(problem: Problem, home: str = "") -> str:
    """What is wrong, where, and what to do about it, in one line."""
    place = _describe_place(problem, home)
    server = f"{safe(problem.server)}: " if problem.server else ""
    hint = safe(f"; {problem.hint}") if problem.hint else ""
    return f"{place}  {server}{safe(problem.message)}{hint}"


def _describe_place(problem: Problem, home: str) -> str:
    place = short_path(problem.path, home) if problem.path else "command line"
    return f"{place}:{problem.line}" if problem.line else place


def describe_unread(problems: Sequence[Problem], home: str) -> str:
    """Which files could not be read, in a sentence about a server that may be defined there; empty without any."""
    if not problems:
        return ""
    if len(problems) > 1:
        places = ", ".join(_describe_place(problem, home) for problem in problems[:_MOST_UNREAD])
        more = f" and {len(problems) - _MOST_UNREAD} more files" if len(problems) > _MOST_UNREAD else ""
        return f"It may be defined in one of these files, which could not be read: {places}{more}."
    [problem] = problems
    reason = problem.message[:1].lower() + problem.message[1:]
    return f"{_describe_place(problem, home)} could not be read: {safe(reason)}; it may be defined there."


_MOST_UNREAD = 3


def describe_base64_size(data: str) -> str:
    """How much a Base64 text holds: three bytes in four characters, less what only fills up the last four."""
    filling = data[-2:].count("=")
    return f"{len(data) * 3 // 4 - filling:,} bytes"


def shorten_description(text: str, most: int = 160) -> str:
    """The first line of what a server says about itself or a tool; a long one ends with a whole word."""
    line = text.strip().partition("\n")[0].strip()
    if len(line) <= most:
        return safe(line)
    start = line[:most]
    whole_words = start.rpartition(" ")[0]
    # One word that fills half of it, such as an address, is cut in two rather than left out.
    shown = whole_words if len(whole_words) > most // 2 else start
    return safe(f"{shown} …")


_LEAST_LAST = 12
"""How many cells the last column gets, even if its lines then wrap."""

# --- columns -------------------------------------------------------------------------------------------------------


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned lines; the last column is as long as it is."""
    aligned = zip(*(row[:-1] for row in rows), strict=True)
    widths = [max(map(width, column)) for column in aligned]
    return [_align(row, widths) for row in rows]


def fit_columns(rows: Sequence[Sequence[str]], cells: int) -> list[str]:
    """The same, with the last column cut to what a line of so many cells has left; the others are never cut."""
    others = [width(line) for line in columns([(*row[:-1], "") for row in rows])]
    left = max(_LEAST_LAST, cells - max(others, default=0) - 2)
    return columns([(*row[:-1], cut_end(row[-1], left)) for row in rows])


def _align(row: Sequence[str], widths: Sequence[int]) -> str:
    *aligned, last = row
    cells = [cell + " " * (cells - width(cell)) for cell, cells in zip(aligned, widths, strict=True)]
    return "  ".join([*cells, last]).rstrip()


def wrap_words(text: str, cells: int | None, indent: str | None = None) -> list[str]:
    """The text in lines that fit, broken between words; a word that is too long stays whole.

    Without an `indent`, further lines begin below the last column, or a little deeper than the first line.
    """
    if cells is None or _count_visible(text) <= cells:
        return [text]
    indent = _find_hanging_indent(text, cells) if indent is None else indent
    lines = [""]
    for word in re.findall(r" *[^ ]+(?: +$)?", text):
        longer = lines[-1] + word
        if lines[-1].strip() and _count_visible(longer.rstrip()) > cells:
            lines.append(indent + word.lstrip())
        else:
            lines[-1] = longer
    return lines


def _find_hanging_indent(text: str, cells: int) -> str:
    label = re.match(r" *(?:[^ ]+ )*[^ ]+  +(?=[^ ])", text)
    if label is not None and width(label[0]) <= cells // 2:
        return " " * width(label[0])
    return " " * (len(text) - len(text.lstrip(" "))) + "  "


def _count_visible(text: str) -> int:
    """How many cells a text takes, without the sequences that color it."""
    return width(re.sub(r"\x1b\[[0-9;]*m", "", text) if "\x1b" in text else text)


def width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # only for names beyond ASCII

    cells = 0
    for character in text:
        if character in _JOINERS or combining(character):
            continue
        cells += 2 if east_asian_width(character) in "WF" else 1
    return cells


def cut(text: str, cells: int) -> str:
    """A text in at most so many cells, its middle left out if it is longer: both ends of a path tell something."""
    # In fewer than eight cells, two ends would say nothing.
    if len(text) <= cells or cells < 8:
        return text
    head = cells // 3
    tail = cells - head - 1
    return f"{text[:head]}…{text[-tail:]}"


def cut_end(text: str, cells: int) -> str:
    """A text in at most so many cells, its end left out if it is longer: whole words, unless one fills half of it."""
    if width(text) <= cells:
        return text
    head = text[: max(0, cells - 1)]
    while width(head) > cells - 1:
        head = head[:-1]
    whole_words = head if text[len(head)] == " " else head.rpartition(" ")[0]
    shown = whole_words if len(whole_words) > len(head) // 2 else head
    return f"{shown.rstrip()}…"
