"""Values as plain words, and text that others wrote made safe to show: what a person reads, in any face."""

import re
from collections.abc import Sequence

from mooring.core.template import Command, File, Foreign, Input, Known, Part, Template, Text, Variable

HIDDEN = "•••"

# Control characters (C0, DEL, C1), lone surrogates, and the invisible ones that reorder or hide text.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufe00-\ufe0f\ufeff"
    "\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def safe(text: str) -> str:
    """The text on one line, with everything that could steer a terminal or deceive an eye shown as an escape."""
    return _UNSAFE.sub(lambda found: _escape(found[0]), text)


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
        case (Variable(name),):
            return name == template.text
        case _:
            return False


def _masked(part: Part) -> str:
    match part:
        case Variable(name, default):
            return f"${{{name}}}" if default is None else f"${{{name}:-{HIDDEN}}}"
        case Input(id):
            return f"${{input:{id}}}"
        case Known(place):
            return f"${{{place}}}"
        case Command():
            return f"!{HIDDEN}"
        case File():
            return f"{{file:{HIDDEN}}}"
        case Text() | Foreign():
            return HIDDEN


def command_line(words: Sequence[str]) -> str:
    """The words as one would type them, each quoted where it must be."""
    return " ".join(safe(_quoted(word)) for word in words)


_PLAIN = re.compile(r"[\w@%+=:,./-]+\Z", re.A)


def _quoted(word: str) -> str:
    return word if _PLAIN.match(word) else "'" + word.replace("'", "'\"'\"'") + "'"


def short_path(path: str, home: str) -> str:
    """A path with the person's home as `~`."""
    return safe("~" + path[len(home) :] if path.startswith(f"{home}/") else path)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows as aligned lines; the last column is as long as it is."""
    widths = [max(map(len, column)) for column in zip(*(row[:-1] for row in rows), strict=True)]
    return [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]
