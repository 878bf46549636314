"""Texts that others wrote, marked with who wrote them, for a model."""

import re
from collections.abc import Mapping

from mooring.display.text import safe, safe_text

# What a text could use to look like the end of its section, and go on as if it were somebody else's.
_MARKS = re.compile(
    r"<(?=\s*/?\s*(?:server-instructions|instructions|skills?|system|earlier-conversation)\b)", re.IGNORECASE
)


def escape_marks(text: str) -> str:
    """A text with control characters made visible, and without anything that looks like one of our own marks."""
    return _MARKS.sub(r"<\\", safe_text(text))


def write_marked(tag: str, attributes: Mapping[str, str], text: str, most: int) -> str:
    """A section with the first `most` characters of a text, and who wrote it."""
    shown = escape_marks(text).strip()
    if len(shown) > most:
        shown = f"{shown[:most]}\n[{len(shown) - most:,} more characters]"
    written = "".join(f' {name}="{_write_value(value)}"' for name, value in attributes.items())
    return f"<{tag}{written}>\n{shown}\n</{tag}>"


def _write_value(value: str) -> str:
    return safe(value).replace('"', "'").replace("<", "(").replace(">", ")")
