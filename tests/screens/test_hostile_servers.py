"""A server whose every text is hostile: nothing changes outside of what is its own, and the chat stays quick."""

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from pyte.screens import Char
from test_real_terminals import CHAT, RESUME, uses_shell
from tests.models import Call, FakeModel, Say, Usage
from windows import CTRL_C, ENTER, Window

from backends.asking import variables
from support import Home, is_within

pytestmark = pytest.mark.processes
SERVER = str(Path(__file__).parent / "hostile_server.py")
LARGE = 1_000_000
HARMLESS = "harmless"
HOSTILE = {
    "escapes": "\x1b[2J\x1b[H\x1b[?1049l\x1b[31mred\x1b[0m\x1bc\x9b2J\x1b[?25l\x1b[5;5r",
    "titles": "\x1b]0;title\x07\x1b]2;title\x1b\\\x9d0;title\x9c\x1bP+q544e\x1b\\\x1b_Gi=1;AAAA\x1b\\\x1b^x\x1b\\",
    "clipboard": "\x1b]52;c;aGVsbG8=\x07\x1b]8;;https://evil.example\x07link\x1b]8;;\x07",
    "queries": "\x1b[6n\x1b[c\x1b[>c\x1b[5n\x1b]10;?\x07\x1b]11;?\x07\x1bZ\x05\x1b[?2026$p",
    "markup": "[red]red[/red] [@click=app.exit]leave[/] [bold $primary on $error]b[/] [link=https://evil.example]l[/] [/]",
    "right to left": "\u202eevil\u202c \u2067right\u2069 \u200fעברית\u200e العربية \u061c",
    "wide": "資料夾 " * 60,
    "combining": "e" + "\u0301" * 500 + " क्षत्रिय " + "Z\u0335\u0336\u0337" * 60,
    "joined": "👨\u200d👩\u200d👧\u200d👦 1️⃣ ☠️ 🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f 🇩🇪🇩 " * 20,
    "controls": "a\tb\x00c\rd\x08\x08e\x0bf\x0cg\x7fh\x85i\u2028j\u2029k\ufeff\u00ad\u200b",
    "a long word": "w" * LARGE,
    "long wide words": "資" * (LARGE // 3),
    "long words": "word " * (LARGE // 5),
    "lines": "line\n" * 100_000,
    "a long escape": "\x1b[" + "1;" * (LARGE // 2) + "m",
}
CPU_SECONDS = 20.0
"""What the whole chat may take of the processor."""
OWN = re.compile(r"❯ Go|Before\.|Between\.|After\.|tokens in")
"""Rows that are no server's."""


class Visit:
    """What a person saw of a chat with the server, and what its terminal was sent."""

    def __init__(self, home: Home, text: str) -> None:
        path = home.write("text.json", json.dumps(text))
        # The descriptions of some fill any window: a model always has to search for the tools.
        home.write("home/.config/mooring/settings.json", {"toolBudget": 0})
        home.configure(guest={"command": sys.executable, "args": ["-S", SERVER, str(path)]})
        spent = Usage(input=4_000, output=250)
        script = [
            [Call("ToolSearch", {"query": "select:mcp__guest__go,mcp__guest__fail,mcp__guest__flood"}), spent],
            [Say("Before."), Call("mcp__guest__go", {}), spent], [Say("Between."), Call("mcp__guest__fail", {}), spent],
            [Say("Further."), Call("mcp__guest__flood", {}), spent], [Say("After."), spent],
        ]  # fmt: skip
        self.rows: dict[str, list[list[Char]]] = {}
        with FakeModel(script) as fake, Window(home, 100, 40, **variables(fake)) as window:
            self._converse(window)
            self.raw = window.raw

    def _converse(self, window: Window) -> None:
        window.runs(*CHAT, "--allow", "guest.*")
        window.sees("mcp 1/1")
        window.presses(f"Go{ENTER}")
        window.sees("Enter to answer")
        self._note("asked", window)
        window.presses(f"n{ENTER}")
        window.sees("After.")
        window.sees("tokens in")
        self._note("answered", window)
        for number, command in enumerate(["/tools", "/resources", "/prompts", "/mcp guest", "/show 2", "/mcp doctor"]):
            window.presses(f"{command}{ENTER}")
            window.presses(f"/nothing{number}{ENTER}")
            window.sees(f"There is no command /nothing{number}.")
            self._note(command, window)
        window.presses("@guest:\t")
        window.sees("@guest:")
        window.presses(CTRL_C)
        window.sees_no_more("@guest:")
        self._note("completion", window)
        self.cpu = max(map(read_cpu, window.find_chats()))
        window.presses(f"/quit{ENTER}")
        window.sees(RESUME)
        window.waits_for_chats(0)
        uses_shell(window)

    def _note(self, moment: str, window: Window) -> None:
        """Keep the rows at this moment that are no server's, and every row's edges."""
        window.settles()
        grid = window.grid
        self.rows[moment] = list(find_own_rows(grid))


def find_own_rows(grid: Sequence[list[Char]]) -> Iterator[list[Char]]:
    """The rows of the conversation that are not the server's, and those of the frame."""
    texts = ["".join(cell.data for cell in row) for row in grid]
    frame = max(y for y, text in enumerate(texts) if text.startswith("────"))
    for y, row in enumerate(grid):
        if y >= frame:
            yield row
        elif OWN.search(texts[y]):
            yield row[:-1]  # the scroll bar is as long as the conversation


def read_text(row: Sequence[Char]) -> str:
    return "".join(cell.data for cell in row)


def read_cpu(pid: int) -> float:
    """The seconds of the processor that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def name_sequences(raw: str) -> set[str]:
    """Every kind of sequence that steers a terminal, without its numbers, but all of those with text of their own."""
    found = re.findall(
        r"\x1b\][^\x07\x1b]*|\x1b\[[<-?]*[\d;:]*[ -/]*[@-~]|\x1b[^\[]|[\x80-\x9f]|[\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f]",
        raw,
    )
    return {
        sequence if sequence[:2] == "\x1b]" or "?" in sequence else re.sub(r"\d+(;\d+)*", "N", sequence)
        for sequence in found
    }


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Visit:
    return Visit(Home(tmp_path_factory.mktemp("calm") / "machine"), HARMLESS)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_whatever_a_server_says_nothing_changes_outside_of_its_own_rows(home: Home, calm: Visit, text: str) -> None:
    visit = Visit(home, text)
    for moment, rows in visit.rows.items():
        # What the server says may take more rows, and move others out of the view.
        expected = calm.rows[moment][-len(rows) :]
        assert list(map(read_text, rows)) == list(map(read_text, expected)), moment
        assert rows == expected, moment
    assert name_sequences(visit.raw) <= name_sequences(calm.raw)
    assert is_within(visit.cpu, CPU_SECONDS), visit.cpu
