"""Markdown files with a header: the header as data with its lines, the body as it was written."""

import time
from contextlib import suppress
from typing import Any

import pytest

from mooring.errors import ParseError
from mooring.syntax.front_matter import MOST_VALUES, split_front_matter

BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 9)}]\n" for level in range(1, 9)
)
"""Nine aliases of nine aliases: half a billion values."""


@pytest.mark.parametrize(
    ("text", "data", "body"),
    [
        ("no header", {}, "no header"),
        ("", {}, ""),
        ("---\n---\nbody", {}, "body"),
        ("---\na: 1\n---", {"a": 1}, ""),
        ("---\n# a comment\n---\nbody", {}, "body"),
        ("---\r\na: b\r\n---\r\none\r\ntwo", {"a": "b"}, "one\ntwo"),
        ("\ufeff---\na: b\n---\nbody", {"a": "b"}, "body"),
        ("---\ntools: [x, y]\n--- \nbody\n---\nmore", {"tools": ["x", "y"]}, "body\n---\nmore"),
        ("----\nnot: a header\n---\n", {}, "----\nnot: a header\n---\n"),
        (" ---\na: b\n---\n", {}, " ---\na: b\n---\n"),
    ],
)
def test_a_file_is_split_into_its_header_and_its_body(text: str, data: Any, body: str) -> None:
    found = split_front_matter(text)
    assert (found.header.data, found.body) == (data, body)


def test_a_key_knows_its_line_in_the_whole_file() -> None:
    found = split_front_matter("---\nname: x\ntools:\n  - a\n---\n")
    assert found.header.line(["tools"]) == 3


@pytest.mark.parametrize(
    ("line", "data"),
    [
        ("argument-hint: [file] [line]", {"argument-hint": "[file] [line]"}),
        ("description: Use this: it's good", {"description": "Use this: it's good"}),
        ("description: `x` does it", {"description": "`x` does it"}),
    ],
)
def test_values_that_yaml_refuses_are_read_as_other_tools_read_them(line: str, data: Any) -> None:
    assert split_front_matter(f"---\n{line}\n---\nbody").header.data == data


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("---\na: b\n", 1, "no second `---` ends its header"),
        ("---\n- a\n- b\n---\n", 2, "no list of keys and values"),
        ("---\na: b\nc: [\n  d\n---\n", 5, "is not valid YAML"),
        (f"---\na: [{'x, ' * MOST_VALUES}x]\n---\n", None, "more than"),
        (f"---\n{BOMB}\n---\n", None, "more than"),
    ],
)
def test_a_header_that_is_none_is_an_error_with_its_line(text: str, line: int | None, words: str) -> None:
    with pytest.raises(ParseError, match=words) as caught:
        split_front_matter(text)
    assert line is None or caught.value.line == line


@pytest.mark.parametrize("piece", ["---\n", "a\n", "a: [\n", "a: b\n", "--- x\n"])
def test_ten_times_the_text_takes_ten_times_the_time(piece: str) -> None:
    def measure(times: int) -> float:
        began = time.process_time()
        with suppress(ParseError):
            split_front_matter("---\nx: y\n" + piece * times)
        return time.process_time() - began

    small = min(measure(10_000) for _ in range(3))
    assert measure(100_000) < 40 * max(small, 0.001)
