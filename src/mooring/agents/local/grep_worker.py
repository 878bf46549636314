"""Searches files for a pattern, in a process of its own.

Python's regular expressions cannot be interrupted, and `(a+)+b` may take longer than anybody lives. In its own process,
such a search can be ended and holds up nobody meanwhile. The request is one line of JSON, each answer another.
"""

import json
import re
import sys
from bisect import bisect_right
from collections.abc import Iterator
from typing import Any

from mooring.errors import FileError
from mooring.files.no_follow import read_exact

MAX_FILE = 8 * 1024 * 1024
MAX_LINE = 500
"""How many characters of a line are shown."""
_SNIFFED = 8_192


def main() -> None:
    request: dict[str, Any] = json.loads(sys.stdin.buffer.readline())
    try:
        pattern = _compile(request)
    except (re.error, OverflowError, RecursionError) as error:
        _answer({"error": str(error)})
        return
    left = request["limit"]
    for number, path in enumerate(request["files"]):
        found = _search_file(path, pattern, request)
        if found is None:
            continue
        _answer({"file": number, **found})
        left -= len(found["lines"]) or 1
        if left <= 0:
            return


def _compile(request: dict[str, Any]) -> "re.Pattern[str]":
    flags = re.MULTILINE
    if request["ignoreCase"]:
        flags |= re.IGNORECASE
    if request["multiline"]:
        flags |= re.DOTALL
    return re.compile(request["pattern"], flags)


def _search_file(path: str, pattern: "re.Pattern[str]", request: dict[str, Any]) -> dict[str, Any] | None:
    try:
        data = read_exact(path, MAX_FILE)
    except FileError:
        return None
    if not data or b"\0" in data[:_SNIFFED]:
        return None
    text = data.decode(errors="replace").replace("\r\n", "\n")
    lines = text.split("\n")
    matching = list(_find_in_text(text, pattern) if request["multiline"] else _find_in_lines(lines, pattern))
    if not matching:
        return None
    shown = _add_context(matching, len(lines), request["before"], request["after"]) if request["content"] else []
    return {"count": len(matching), "lines": [_show(lines, number, matching) for number in shown[: request["limit"]]]}


def _find_in_lines(lines: list[str], pattern: "re.Pattern[str]") -> Iterator[int]:
    return (number for number, line in enumerate(lines) if pattern.search(line))


def _find_in_text(text: str, pattern: "re.Pattern[str]") -> Iterator[int]:
    """The numbers of the lines that a match over several lines touches, each once."""
    starts = [0]
    starts += [found.end() for found in re.finditer("\n", text)]
    last = -1
    for found in pattern.finditer(text):
        first = bisect_right(starts, found.start()) - 1
        end = bisect_right(starts, max(found.start(), found.end() - 1)) - 1
        yield from range(max(first, last + 1), end + 1)
        last = max(last, end)


def _add_context(matching: list[int], count: int, before: int, after: int) -> list[int]:
    shown: list[int] = []
    for number in matching:
        first = max(number - before, shown[-1] + 1 if shown else 0)
        shown += range(first, min(number + after + 1, count))
    return shown


def _show(lines: list[str], number: int, matching: list[int]) -> tuple[int, bool, str]:
    line = lines[number]
    text = line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}… [the line goes on]"
    index = bisect_right(matching, number) - 1
    return number + 1, index >= 0 and matching[index] == number, text


def _answer(value: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()
