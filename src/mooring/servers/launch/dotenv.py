"""The text of an `.env` file into variables."""

import re
from collections.abc import Iterator

_LINE = r"""(?msx)^[ \t]*+(?:export[ \t]++)?+(?P<name>[A-Za-z_][\w.-]*+)[ \t]*+=[ \t]*+
    (?:'(?P<single>[^']*+)'|"(?P<double>(?:\\.|[^"\\])*+)"|(?P<plain>[^\r\n]*+))"""
_COMMENT = r"(?:^|[ \t]++)\#.*"
_ESCAPE = r"(?s)\\(.)"
_MEANT = {"n": "\n", "r": "\r", "t": "\t"}


def variables(text: str) -> dict[str, str]:
    """Every `NAME=value`, with or without `export`. What is in single quotes stands for itself; in double quotes a
    backslash escapes; either may go on over several lines. A `#` after a blank begins a comment."""
    return dict(_variables(text.removeprefix("\ufeff")))


def _variables(text: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(_LINE, text):
        yield found["name"], _value(found)


def _value(found: re.Match[str]) -> str:
    if (single := found["single"]) is not None:
        return str(single)
    if (double := found["double"]) is not None:
        return re.sub(_ESCAPE, lambda escape: _MEANT.get(escape[1], escape[1]), double)
    return re.sub(_COMMENT, "", found["plain"]).strip()
