"""Globs over paths, as people write them for files: `src/**/*.{ts,tsx}`. Their cost is bounded, whatever they say."""

import re
from collections.abc import Iterator, Sequence

from mooring.core.text.glob import Glob

MAX_ALTERNATIVES = 64
_INNERMOST_BRACES = r"\{([^{}]*,[^{}]*)\}"


class PathGlob:
    """A compiled glob: `*` stays inside a folder, `**` stands for any number of folders, `{a,b}` for either."""

    def __init__(self, text: str) -> None:
        self._alternatives = [_compile(one) for one in expand_braces(text)]

    def matches(self, parts: Sequence[str]) -> bool:
        """Whether it matches a path, given as the names of its folders and its own."""
        return any(_match(segments, parts) for segments in self._alternatives)


_Segment = Glob | None
"""A glob over one name, or `None` for `**`."""


def _compile(text: str) -> list[_Segment]:
    segments: list[_Segment] = []
    for name in text.split("/"):
        if name in ("", "."):
            continue
        # Two in a row mean no more than one.
        if name == "**" and segments and segments[-1] is None:
            continue
        segments.append(None if name == "**" else Glob(name))
    return segments


def _match(segments: Sequence[_Segment], parts: Sequence[str]) -> bool:
    """Whether segments match names: a table of how far both have come, so that nothing is tried twice."""
    reached = [True] + [False] * len(parts)
    for segment in segments:
        following = [False] * (len(parts) + 1)
        for index in range(len(parts) + 1):
            if segment is None:
                following[index] = reached[index] or (index > 0 and following[index - 1])
            elif index > 0 and reached[index - 1]:
                following[index] = segment.matches(parts[index - 1]) is True
        reached = following
    return reached[-1]


def expand_braces(text: str) -> list[str]:
    """The globs that one with `{a,b}` in it stands for; as many as are bearable."""
    waiting = [text]
    done: list[str] = []
    while waiting and len(waiting) + len(done) <= MAX_ALTERNATIVES:
        one = waiting.pop()
        found = re.search(_INNERMOST_BRACES, one)
        if found is None:
            done.append(one)
            continue
        waiting += _expand(one, found)
    return [*done, *waiting][:MAX_ALTERNATIVES]


def _expand(text: str, braces: "re.Match[str]") -> Iterator[str]:
    for choice in braces[1].split(",")[:MAX_ALTERNATIVES]:
        yield f"{text[: braces.start()]}{choice}{text[braces.end() :]}"
