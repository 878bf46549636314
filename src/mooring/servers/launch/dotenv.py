"""The text of an `.env` file goes in, its variables come out."""

import re
from collections.abc import Iterator

# Possessive quantifiers keep this linear, whatever the file holds. What is optional at the start is atomic, `(?>…)`:
# with `(…)?+`, Python 3.11.0 to 3.11.4 took the name `exported` for `ed`.
_LINE = r"""(?msx)^[ \t]*+(?>(?:export[ \t]++)?)(?P<name>[A-Za-z_][\w.-]*+)[ \t]*+=[ \t]*+
    (?:'(?P<single>[^']*+)'|"(?P<double>(?:\\.|[^"\\])*+)"|(?P<plain>[^\r\n]*+))"""
_COMMENT = r"(?:^|[ \t]++)\#.*"
_ESCAPE = r"(?s)\\(.)"
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def parse_dotenv(text: str) -> dict[str, str]:
    """Every `NAME=value`, with or without `export`.

    Single quotes keep everything as it is; in double quotes a backslash escapes. Either may span several lines. A `#`
    after a space begins a comment.
    """
    return dict(_variables(text.removeprefix("\ufeff")))


def _variables(text: str) -> Iterator[tuple[str, str]]:
    for found in re.finditer(_LINE, text):
        yield found["name"], _value(found)


def _value(found: re.Match[str]) -> str:
    if (single := found["single"]) is not None:
        return str(single)
    if (double := found["double"]) is not None:
        return re.sub(_ESCAPE, lambda escape: _ESCAPED.get(escape[1], escape[1]), double)
    return re.sub(_COMMENT, "", found["plain"]).strip()
