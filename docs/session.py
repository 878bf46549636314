"""Runs commands in a terminal with a sample home, for what the README and the first page show: `make docs`.

The programs that the sample names are stand-ins that do nothing; no command here starts them.
"""

import os
import pty
import re
import select
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

PICTURE = Path(__file__).with_name("start") / "session.svg"
README = Path(__file__).parents[1] / "README.md"
FIRST_PAGE = Path(__file__).with_name("start") / "first-five-minutes.md"

SAMPLE = {
    ".claude.json": """\
{"mcpServers": {
  "github": {"type": "http", "url": "https://api.githubcopilot.com/mcp/"},
  "time": {"command": "uvx", "args": ["mcp-server-time"]}}}
""",
    ".cursor/mcp.json": """\
{"mcpServers": {
  "browser": {"command": "npx", "args": ["-y", "@playwright/mcp@latest"]},
  "github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"]}}}
""",
    ".codex/config.toml": """\
[mcp_servers.sqlite]
command = "uvx"
args = ["mcp-server-sqlite"]
startup_timeout_sec = "ten"
""",
    "shop/.mcp.json": """\
{"mcpServers": {"shop-db": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-postgres"]}}}
""",
    "shop/.git/HEAD": "ref: refs/heads/main\n",
}
STAND_INS = ("npx", "uvx")
LISTING = "mooring mcp list"
COMMANDS = (
    LISTING,
    "mooring mcp why github",
    "mooring tools demo --demo",
    "mooring call demo.add a=2 b=40 --demo",
)
DIALOGS = {
    "mooring chat --plain --demo": (
        ("> ", "add two numbers"),
        ("Enter for none: ", "1"),
        ("a (number, required): ", "2"),
        ("b (number, required): ", "40"),
        ("> ", "/quit"),
    ),
    "mooring mcp approve shop-db": (("[y/N]: ", "y"),),
}
"""What is typed into a command of the first page: each answer after the end of what it answers."""

LINE, COLUMN, MARGIN = 20, 8.4, 20
WIDTH = 130  # columns
COLORS = {"31": "red", "32": "green", "33": "yellow", "36": "cyan", "2": "dim", "1": "bold"}
STYLE = """\
  rect { fill: #0d1117 }
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3 }
  .red { fill: #ff7b72 } .green { fill: #7ee787 } .yellow { fill: #e3b341 } .cyan { fill: #79c0ff }
  .dim { fill: #8b949e } .bold { font-weight: 600 } .prompt { fill: #8b949e }"""


def run_session() -> dict[str, str]:
    """What each command prints on a terminal."""
    with _sample_home() as home:
        return {command: _run(command, home) for command in COMMANDS}


@contextmanager
def _sample_home() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        for path, text in SAMPLE.items():
            _write(home / path, text)
        for name in STAND_INS:
            _write(home / "bin" / name, "#!/bin/sh\n")
            (home / "bin" / name).chmod(0o755)
        yield home


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def _run(command: str, home: Path) -> str:
    terminal, program_side = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-I", "-m", *shlex.split(command)],
        cwd=home / "shop",
        env={
            "HOME": str(home),
            "PATH": f"{home / 'bin'}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            "COLUMNS": str(WIDTH),
        },
        stdin=program_side if command in DIALOGS else subprocess.DEVNULL,
        stdout=program_side,
        stderr=program_side,
        start_new_session=True,
    )
    os.close(program_side)
    output = b"".join(_answer(terminal, command))
    os.close(terminal)
    program.wait()
    # Without what asks the terminal to mark pastes.
    text = re.sub(r"\x1b\[\?2004[hl]\r?", "", output.decode().replace("\r\n", "\n")).strip("\n")
    # A command that takes a moment says so on a line that it erases.
    return re.sub(r"^.*\r\x1b\[K", "", text, flags=re.M)


def _answer(terminal: int, command: str) -> Iterator[bytes]:
    """What is printed, while each question of the command's dialog is answered."""
    dialog = list(DIALOGS.get(command, ()))
    seen = b""
    for data in _read(terminal):
        yield data
        seen += data
        # A program ignores what is typed before its question is there.
        if dialog and _strip(seen.decode(errors="ignore")).endswith(dialog[0][0]):
            os.write(terminal, f"{dialog.pop(0)[1]}\r".encode())
            seen = b""


def _read(terminal: int) -> Iterator[bytes]:
    while select.select([terminal], [], [], 30)[0]:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # Linux says so when the program has ended
            return
        if not data:
            return
        yield data


def draw(session: dict[str, str]) -> str:
    """The session as an SVG picture."""
    lines = [line for command, output in session.items() for line in (f"$ {command}", *output.split("\n"), "")][:-1]
    width = round(max(len(_strip(line)) for line in lines) * COLUMN + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    rows = "\n".join(_draw_line(line, MARGIN + (row + 0.75) * LINE) for row, line in enumerate(lines) if line)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="A terminal session: {escape(", ".join(session))}">\n<style>\n{STYLE}\n</style>\n'
        f'<rect width="{width}" height="{height}" rx="8"/>\n{rows}\n</svg>\n'
    )


def _draw_line(line: str, y: float) -> str:
    if line.startswith("$ "):
        spans = _draw_span("$", "prompt", 0) + _draw_span(line[2:], "bold", 2)
    else:
        spans = "".join(_draw_spans(line))
    return f'<text y="{y:g}" xml:space="preserve">{spans}</text>'


def _draw_spans(line: str) -> Iterator[str]:
    color, column = "", 0
    for text, code in re.findall(r"([^\x1b]*)(?:\x1b\[([\d;]*)m)?", line):
        if text:
            yield _draw_span(text, color, column)
        column += len(text)
        # 0 and nothing end a color; 22 only says that it is of normal weight.
        color = color if code == "22" else COLORS.get(code, "")


def _draw_span(text: str, color: str, column: int) -> str:
    # The length is given so that columns align in any font.
    place = f'x="{MARGIN + column * COLUMN:g}" textLength="{len(text) * COLUMN:g}" lengthAdjust="spacingAndGlyphs"'
    kind = f' class="{color}"' if color else ""
    return f"<tspan {place}{kind}>{escape(text)}</tspan>"


def fill_in(page: str, session: dict[str, str]) -> str:
    """The README with what the listing prints today."""
    block = f"```\n$ {LISTING}\n{_strip(session[LISTING])}\n```\n"
    return re.sub(r"(?<=<!-- listing -->\n).*?(?=<!-- end -->)", lambda _: block, page, flags=re.S)


def fill_in_outputs(page: str) -> str:
    """A page with what its commands print today, run in the order in which they stand there."""
    with _sample_home() as home:

        def run(block: re.Match[str]) -> str:
            command = block[1]
            output = _strip(_run(command, home)).replace(str(home), "~")
            # How long a call took differs from run to run.
            output = re.sub(r"· [0-9.]+ m?s$", "· 1 ms", output, flags=re.M)
            return f"```console\n$ {command}\n{output}\n```\n"

        return re.sub(r"```console\n\$ (.+?)\n.*?```\n", run, page, flags=re.S)


def _strip(text: str) -> str:
    return re.sub(r"\x1b\[[\d;]*m", "", text)


if __name__ == "__main__":
    session = run_session()
    PICTURE.write_text(draw(session))
    README.write_text(fill_in(README.read_text(), session))
    FIRST_PAGE.write_text(fill_in_outputs(FIRST_PAGE.read_text()))
