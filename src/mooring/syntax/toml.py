"""TOML into documents."""

import re
import tomllib
from math import inf

from mooring.errors import ParseError
from mooring.syntax.document import Document, Offsets, Path, count_values, lower_first

KEY_PARTS = 32

KEY_PART = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\[^\n])*+"?|'[^'\n]*+'?)"""
# Atomic groups, `(?>…)`, where Python 3.11.0 to 3.11.4 would match too much with `(…)*+`: see parse.py.
KEY = rf"(?P<key>{KEY_PART}(?>(?:[ \t]*+\.[ \t]*+{KEY_PART})*))"
LONG_STRING = (
    r'''"""(?>(?:[^"\\]++|\\.|"(?!""))*)"{0,5}'''
    r"""|'''(?>(?:[^']++|'(?!''))*)'{0,5}"""
)
_LEXEME = rf"(?s){LONG_STRING}|#[^\n]*|{KEY}"
_HEADER = rf"(?m)^[ \t]*+\[\[?[ \t]*+{KEY}[ \t]*+\]"
_ASSIGNMENT = rf"(?m)^[ \t]*+{KEY}[ \t]*+="
_AT_LINE = r"\s*\(at line (\d+), column \d+\)|\s*\(at end of document\)"
_QUOTED_KEY = r"\(.*\)|(?<=key )['\"].*['\"]"


def parse_toml(text: str, most_values: float = inf) -> Document:
    """Read a TOML text.

    Raises:
        ParseError: it is none, or holds more values than it may; says why and on which line.
    """
    _refuse_long_keys(text)
    try:
        value = tomllib.loads(text.replace("\r\n", "\n"))
        values = count_values(value, most_values)
        return Document(value, text, "toml", values=values, find_offsets=find_offsets)
    except tomllib.TOMLDecodeError as error:
        reason, line = _explain(str(error))
    except RecursionError:
        reason, line = "is nested too deep", None
    except ValueError:
        reason, line = "holds a number or date that is out of range", None
    raise ParseError(reason, line)


def find_offsets(text: str) -> Offsets:
    """Where each table and key begins."""
    # Long strings and comments may hold lines that look like keys.
    plain = re.sub(_LEXEME, _blank_unless_key, text)
    headers = [(found.start("key"), _split_key(found["key"]), True) for found in re.finditer(_HEADER, plain)]
    keys = [(found.start("key"), _split_key(found["key"]), False) for found in re.finditer(_ASSIGNMENT, plain)]
    offsets: Offsets = {}
    table: Path = ()
    for offset, parts, is_header in sorted(headers + keys):
        if is_header:
            table = parts
            offsets.setdefault(table, offset)
        else:
            offsets.setdefault((*table, *parts), offset)
    return offsets


def _explain(message: str) -> tuple[str, int | None]:
    """What the parser says, and on which line; without the key that some of its messages quote."""
    at = re.search(_AT_LINE, message)
    line = int(at[1]) if at and at[1] else None
    nameless = re.sub(_QUOTED_KEY, "a name", re.sub(_AT_LINE, "", message), flags=re.S)
    return f"is not valid TOML: {lower_first(nameless)}", line


def _refuse_long_keys(text: str) -> None:
    """The standard parser takes quadratic time for one key of many parts: 100 KB of `a.a.a…` cost a minute."""
    # A key is on one line, so most files need no closer look.
    most_dots = max(line.count(".") for line in text.split("\n"))
    if most_dots < KEY_PARTS:
        return
    for lexeme in re.finditer(_LEXEME, text):
        key = lexeme["key"] or ""
        # Counting dots is cheap and splitting is not, so most keys are not split.
        if key.count(".") >= KEY_PARTS and len(_split_key(key)) > KEY_PARTS:
            line = text.count("\n", 0, lexeme.start()) + 1
            raise ParseError(f"has a key of more than {KEY_PARTS} parts", line)


def _blank_unless_key(found: re.Match[str]) -> str:
    return found[0] if found["key"] else re.sub(r"[^\n]", " ", found[0])


def _split_key(key: str) -> Path:
    return tuple(part.strip("\"'") for part in re.findall(KEY_PART, key))
