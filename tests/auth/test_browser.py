"""The person's browser: opened with one argument, for addresses alone, and only where they can see it."""

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from mooring.auth.browser import has_browser, is_page, open_page


async def until(fact: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 100
    while not fact():
        assert time.monotonic() < deadline, "it never came true"
        await asyncio.sleep(0.02)


URL = "https://as.example/authorize?a=1&b=%20%24%28touch%20x%29"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A program that writes down what it was called with."""
    program = tmp_path / "browser.py"
    program.write_text(f"import sys; open({str(tmp_path / 'log')!r}, 'a').write(repr(sys.argv[1:]) + '\\n')")
    return tmp_path / "log"


def command(log: Path) -> str:
    return f"{sys.executable} {log.parent / 'browser.py'}"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [("", [URL]), (" --new %s", ["--new", URL]), (" %s --last &", [URL, "--last"]), (" 'a b'", ["a b", URL])],
)
async def test_the_variable_is_read_as_python_reads_it(log: Path, arguments: str, expected: list[str]) -> None:
    assert open_page(URL, {"BROWSER": f"{command(log)}{arguments}"})
    await until(log.exists)
    await until(lambda: log.read_text() == f"{expected!r}\n")


async def test_the_next_command_is_tried_where_one_is_missing(log: Path) -> None:
    assert open_page(URL, {"BROWSER": f"/no/such/browser:{command(log)}"})
    await until(log.exists)


def test_a_browser_that_cannot_be_started_is_no_browser() -> None:
    assert not open_page(URL, {"BROWSER": "/no/such/browser"})
    assert not open_page(URL, {"BROWSER": "'unclosed"})


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "javascript:alert(1)", "--flag", "-x", "$(touch x)", "https://a.example/\nx", "", "https://",
     "https://a.example/`x`", "https://a.example/ x", "http://user@a.example", "data:text/html,x", "calculator:", "https://a\\b"],
)  # fmt: skip
def test_nothing_but_an_address_is_handed_to_a_browser(log: Path, url: str) -> None:
    assert not is_page(url)
    assert not open_page(url, {"BROWSER": command(log)})
    assert not log.exists()


def test_over_ssh_and_without_a_display_there_is_no_browser() -> None:
    assert not has_browser({"SSH_CONNECTION": "x", "DISPLAY": ":0"}, "linux")
    assert not has_browser({}, "linux")
    assert not has_browser({"SSH_TTY": "/dev/pts/1"}, "darwin")
    assert has_browser({}, "darwin")
    assert has_browser({"BROWSER": "w3m", "SSH_TTY": "x"}, "linux")
