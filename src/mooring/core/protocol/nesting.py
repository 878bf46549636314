"""How deeply JSON may be nested."""

import re

DEEPEST = 200
"""How many levels of brackets a message may have.

Code that goes through the levels of a message calls itself for each of them, and Python allows about 1,000 calls within
each other. Decoders don't help: with Python 3.11 they refuse more levels than that, with 3.14 they accept 40,000.
"""

_STRIDE = 128
"""After how many brackets the depth is looked at: after each of them, 16 MiB of brackets would take a second."""
_ROUND = bytes.maketrans(b"[]{}", b"()()")
_OTHERS = bytes(set(range(256)) - set(b'[]{}"'))
_TEXT = rb'"[^"]*"?'


def is_too_deep(json: bytes) -> bool:
    """Whether JSON is nested deeper than `DEEPEST`; up to 64 levels more may be let through."""
    # Most messages have fewer brackets than that, nested or not.
    if json.count(b"[") + json.count(b"{") <= DEEPEST:
        return False
    brackets = _find_brackets(json)
    depth = 0
    for start in range(0, len(brackets), _STRIDE):
        part = brackets[start : start + _STRIDE]
        depth += 2 * part.count(b"(") - len(part)
        if depth > DEEPEST:
            return True
    return False


def _find_brackets(json: bytes) -> bytes:
    """The brackets outside of texts, each as a round one."""
    # Backslashes first: the quote behind two of them ends a text.
    without_escapes = json.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = without_escapes.translate(_ROUND, _OTHERS)
    # The quotes of a text without brackets meet here, and most texts have none. Leaving out quotes that meet changes
    # nothing for the others, and saves nearly all of the search.
    return re.sub(_TEXT, b"", marks.replace(b'""', b""))
