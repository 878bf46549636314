"""`make backends`: the scenario with every agent, each in a process of its own; prints the table of `docs/results/agents.md`.

With `--write` the table is written into the page; without, it is compared with the page.
"""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.peers import install

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "results" / "agents.md"
AGENTS = ("claude", "copilot", "opencode")
WAYS = ("shared", "native")
PATIENCE = 900
AT_ONCE = 2
_TABLE = re.compile(r"(<!-- scenario -->\n).*?(<!-- end of scenario -->)", re.DOTALL)

Rows = Sequence[Mapping[str, Any]]


def main(words: Sequence[str]) -> int:
    try:
        install.install_backends(_say)
    except install.CannotInstall as error:
        _say(f"backends: {error}")
        return 1
    began = time.monotonic()
    agents = [word for word in words if word in AGENTS] or list(AGENTS)
    with TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as workers:
        played = dict(zip(agents, workers.map(lambda agent: _play(agent, Path(folder)), agents), strict=True))
    problems = [_name(agent, row) for agent, rows in played.items() for row in rows if row["problem"]]
    table = make_table(played)
    _print(table)
    for problem in problems:
        _print(f"- {problem}")
    is_true = agents != list(AGENTS) or check_page(table, write="--write" in words)
    passed = sum(not row["problem"] for rows in played.values() for row in rows)
    _print(f"{passed} passed, {len(problems)} failed, {time.monotonic() - began:.0f} s")
    return 0 if is_true and not problems else 1


def _play(agent: str, folder: Path) -> Rows:
    """What became of every row with one agent."""
    file = folder / f"{agent}.json"
    command = [install.python("backends"), "-m", "tests.backends.scenario.play", agent, str(file)]
    env = {name: value for name, value in os.environ.items() if name != "MOORING_TEST"}
    try:
        subprocess.run(command, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, timeout=PATIENCE, check=False)
        rows: Rows = json.loads(file.read_text())
    except (subprocess.TimeoutExpired, OSError) as error:
        return [{"way": way, "title": "all", "problem": str(error), "seconds": 0.0} for way in WAYS]
    return rows


def make_table(played: Mapping[str, Rows]) -> str:
    """The rows as Markdown: what each agent does in each way."""
    columns = [(agent, way) for agent in played for way in WAYS]
    titles = dict.fromkeys(row["title"] for rows in played.values() for row in rows)
    lines = [
        "| | " + " | ".join(f"{agent}, {way}" for agent, way in columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    for title in titles:
        cells = [_make_cell(played[agent], way, title) for agent, way in columns]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _make_cell(rows: Rows, way: str, title: str) -> str:
    found = [row for row in rows if (row["way"], row["title"]) == (way, title)]
    if not found:
        return "–"
    return "✗" if any(row["problem"] for row in found) else "✓"


def check_page(table: str, *, write: bool) -> bool:
    """Whether the page shows this table; with `write`, it does from now on."""
    page = PAGE.read_text()
    wanted = _TABLE.sub(lambda found: f"{found[1]}{table}\n{found[2]}", page)
    if write:
        PAGE.write_text(wanted)
    elif wanted != page:
        _print("docs/results/agents.md shows another table: python -m tests.backends.scenario --write")
    return write or wanted == page


def _name(agent: str, row: Mapping[str, Any]) -> str:
    return f"{agent}, {row['way']}: {row['title']}: {row['problem']}"


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
