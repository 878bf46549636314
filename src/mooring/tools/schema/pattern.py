"""How large a regular expression is once its repetitions are written out, which decides how long it may take."""

import re
from typing import NamedTuple

_NOT_LINEAR = re.compile(r"\(\?(?:[=!>]|<[=!])|\\[1-9k]")
"""Look-around, atomic groups and back-references: no engine that takes them is fast on every text."""
_RETRIES = 100
"""How many times as long these take at most, with the limit that `mooring.tools.arguments.form` sets: the worst of
thirteen patterns made for it took 7 ms for what is reckoned as 20."""
_TOKEN = re.compile(
    r"""\\[pP]\{?[^}]*\}?           # a class of Unicode: thousands of ranges
      | \\.                         # an escape
      | \[\^?\]?(?:\\.|[^\]\\])*\]  # a class
      | \{\d*,?\d*\}                # a counted repetition
      | \((?:\?[^:)]*:?)?           # the start of a group
      | .                           # anything else
    """,
    re.VERBOSE | re.DOTALL,
)
_REPETITION = r"\{.."
_WIDE = r"\.|\[\^|.*\\[WDS]"
_UNICODE_CLASS = 500
_WIDE_CLASS = 10
"""What matches most characters is a small automaton of its own, over the bytes of UTF-8."""
_LARGEST_COUNT = 10_000


class PatternWeight(NamedTuple):
    """How many states the automaton of a pattern has, and what it takes at most for each character."""

    states: int
    matching: int


def weigh_pattern(pattern: str) -> PatternWeight:
    """What a pattern costs to compile and to match."""
    states = _count_states(pattern)
    is_linear = _NOT_LINEAR.search(pattern) is None
    return PatternWeight(states, states if is_linear else states * _RETRIES)


def _count_states(pattern: str) -> int:
    """About how many states the pattern's automaton has: in the worst case all of them look at every character."""
    groups: list[list[int]] = [[]]
    for token in _TOKEN.findall(pattern):
        items = groups[-1]
        if token.startswith("("):
            groups.append([])
        elif token == ")" and len(groups) > 1:
            groups[-2].append(sum(groups.pop()) + 1)
        elif items and re.match(_REPETITION, token):
            items[-1] *= _largest_count(token)
        elif token not in ("*", "+", "?"):
            items.append(_size_of(token))
    return 1 + sum(map(sum, groups))


def _largest_count(token: str) -> int:
    counts = [int(count[:6]) for count in re.findall(r"\d+", token)]
    return min(max([1, *counts]), _LARGEST_COUNT)


def _size_of(token: str) -> int:
    if re.search(r"\\[pP]", token):
        return _UNICODE_CLASS
    is_wide = re.match(_WIDE, token, re.DOTALL) is not None
    return _WIDE_CLASS if is_wide else 1
