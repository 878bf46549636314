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
)

# What stands for a picture by itself.
_PICTURE = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff"
    "\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
# Control characters (C0, DEL, C1), lone surrogates, and the invisible ones that reorder or hide text; but not those
# that make one picture of several characters, where they do only that.
_UNSAFE = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufe00-\ufe0e"
    "\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
    f"|(?<![{_PICTURE}])\ufe0f(?!\u20e3)|(?<![{_PICTURE}\ufe0f])\u200d|\u200d(?![{_PICTURE}])"
)


def safe(text: str) -> str:
    """The text on one line, with everything that could steer a terminal or deceive an eye shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(_UNSAFE, lambda found: _escape(found[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def masked(template: Template) -> str:
    """What a value that may be a secret consists of, without any of its text."""
    if bare_name(template):
        return HIDDEN
    return "".join(map(_masked, template.parts)) or HIDDEN


def bare_name(template: Template) -> bool:
    """The whole value is a variable's name, or a secret that looks like one: not to be shown."""
    match template.parts:
        case (VariablePart(name),):
            return name == template.text
        case _:
            return False


def revealed(template: Template) -> str:
    """The same, but with the commands that would run: what a person must see before they let them."""
    return "".join(
        f"!{command_text(part)}" if isinstance(part, CommandPart) else _masked(part) for part in template.parts
    )


def command_text(command: CommandPart) -> str:
    return "".join(part.text if isinstance(part, TextPart | ForeignPart) else _masked(part) for part in command.line)


def _masked(part: Part) -> str:
    match part:
        case VariablePart(name, default):
            return f"${{{name}}}" if default is None else f"${{{name}:-{HIDDEN}}}"
        case InputPart(id):
            return f"${{input:{id}}}"
        case KnownPart(place):
            return f"${{{place}}}"
        case SecretPart(name):
            return f"${{{{ secrets.{name} }}}}"
        case CommandPart():
            return f"!{HIDDEN}"
        case FilePart():
            return f"{{file:{HIDDEN}}}"
        case TextPart() | ForeignPart():
            return HIDDEN


def command_line(words: Sequence[str]) -> str:
    """The words as one would type them, each quoted where it must be."""
    return " ".join(safe(_quoted(word)) for word in words)


def argument(name: str) -> str:
    """A name as the last word of a command that a person may copy: quoted, and never an option."""
    return safe(f"-- {_quoted(name)}" if name.startswith("-") else _quoted(name))


def _quoted(word: str) -> str:
    return word if re.fullmatch(r"(?a)[\w@%+=:,./-]+", word) else "'" + word.replace("'", "'\"'\"'") + "'"


def short_path(path: str, home: str) -> str:
    """A path with the person's home as `~`."""
    return safe("~" + path[len(home) :] if home and path.startswith(f"{home}/") else path)


def held_back(count: int) -> str:
    """So many tools that are held back."""
    return f"{count} tool{'' if count == 1 else 's'} held back, not being what was approved"


def held_ways(server: str) -> str:
    """What to do about tools that are held back."""
    name = argument(server)
    return f"to look: mooring mcp pins {name}, to let them be called: mooring mcp pins --approve {name}"


def problem_line(problem: Problem, home: str = "") -> str:
    """What is wrong, where, and what to do about it, in one line."""
    where = short_path(problem.path, home) if problem.path else "command line"
    place = f"{where}:{problem.line}" if problem.line else where
    server = f"{safe(problem.server)} " if problem.server else ""
    hint = f"; {problem.hint}" if problem.hint else ""
    return f"{place}  {server}{safe(problem.message)}{safe(hint)}"


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned lines; the last column is as long as it is."""
    widths = [max(map(width, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    return ["  ".join([*map(_padded, row[:-1], widths), row[-1]]).rstrip() for row in rows]


def width(text: str) -> int:
    """How many cells of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width  # only for names beyond ASCII

    unseen = "\u200d\ufe0f"
    return sum(
        0 if character in unseen or combining(character) else 1 + (east_asian_width(character) in "WF")
        for character in text
    )


def _padded(cell: str, cells: int) -> str:
    return cell + " " * (cells - width(cell))


def cut(text: str, cells: int) -> str:
    """A text in at most so many cells, its middle left out if need be: both ends of a path tell something."""
    if len(text) <= cells or cells < 8:
        return text
    head = cells // 3
    return f"{text[:head]}…{text[len(text) - (cells - head - 1) :]}"


_UNSAFE_TEXT = _UNSAFE.replace("\x00-\x1f", "\x00-\x08\x0b-\x1f")


def safe_text(text: str) -> str:
    """The same as `safe` for a text of many lines: newlines and tabs stay."""
    return re.sub(_UNSAFE_TEXT, lambda found: _escape(found[0]), text.replace("\r\n", "\n"))


def brief(text: str, most: int = 160) -> str:
    """The first line of what a server says of itself, cut where a word ends if it is long."""
    line = text.strip().partition("\n")[0].strip()
    if len(line) <= most:
        return safe(line)
    words = line[:most].rpartition(" ")[0]
    return safe(f"{words if len(words) > most // 2 else line[:most]} …")
