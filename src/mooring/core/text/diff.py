"""What differs between two texts, in lines that a person can read. Pure, and quick for long texts too."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TypeAlias

_CONTEXT = 3
_MAX_PAIRS = 1_000_000
"""How many pairs of lines are compared: the time of `difflib` grows with their number."""

_Line: TypeAlias = tuple[str, str]
"""A blank, `-` or `+`, and a line of a file."""


def list_changes(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """The lines that differ and those around them, in the form of `diff -u`."""
    lines = list(_mark_lines(old, new))
    old_number = new_number = 1
    for is_shown, group in groupby(zip(_find_near_changes(lines), lines, strict=True), key=lambda each: each[0]):
        part = [line for _, line in group]
        old_count = sum(mark != "+" for mark, _ in part)
        new_count = sum(mark != "-" for mark, _ in part)
        if is_shown:
            yield f"@@ -{_describe_range(old_number, old_count)} +{_describe_range(new_number, new_count)} @@"
            yield from (f"{mark}{text}" for mark, text in part)
        old_number += old_count
        new_number += new_count


def _describe_range(first: int, count: int) -> str:
    # An empty range is named by the line before it.
    return f"{first if count else first - 1},{count}"


def _find_near_changes(lines: Sequence[_Line]) -> list[bool]:
    """For each line, whether it is a change or near one."""
    near = [False] * len(lines)
    for index, (mark, _) in enumerate(lines):
        if mark != " ":
            start, end = max(0, index - _CONTEXT), min(len(lines), index + _CONTEXT + 1)
            near[start:end] = [True] * (end - start)
    return near


def _mark_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[_Line]:
    for old_part, new_part in _split_alike(old, new):
        start = count_common(old_part, new_part)
        end = count_common(old_part[start:][::-1], new_part[start:][::-1])
        yield from ((" ", line) for line in old_part[:start])
        yield from _mark_different(old_part[start : len(old_part) - end], new_part[start : len(new_part) - end])
        yield from ((" ", line) for line in old_part[len(old_part) - end :])


def _mark_different(old: Sequence[str], new: Sequence[str]) -> Iterator[_Line]:
    """The marked lines of two parts that differ at both ends."""
    # Thousands of lines of which none is in both only once: all of them are shown, without looking for pairs.
    if len(old) * len(new) > _MAX_PAIRS:
        yield from (("-", line) for line in old)
        yield from (("+", line) for line in new)
        return
    from difflib import SequenceMatcher  # only for this

    for kind, old_start, old_end, new_start, new_end in SequenceMatcher(None, old, new).get_opcodes():
        if kind == "equal":
            yield from ((" ", line) for line in old[old_start:old_end])
            continue
        yield from (("-", line) for line in old[old_start:old_end])
        yield from (("+", line) for line in new[new_start:new_end])


def count_common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    count = 0
    for line, counterpart in zip(one, other, strict=False):
        if line != counterpart:
            break
        count += 1
    return count


def _split_alike(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
    """Pairs of short parts, cut where a line that each has only once is in both.

    The time of `difflib` grows with the square of the changes, and there may be five hundred.
    """
    places = {line: index for index, line in enumerate(new)}
    once = _find_single(old) & _find_single(new)
    old_start = new_start = 0
    for index, line in enumerate(old):
        is_cut = line in once and places[line] >= new_start
        if is_cut:
            yield old[old_start:index], new[new_start : places[line]]
            old_start, new_start = index, places[line]
    yield old[old_start:], new[new_start:]


def _find_single(lines: Sequence[str]) -> set[str]:
    """The lines that there is only one of."""
    return {line for line, count in Counter(lines).items() if count == 1}
