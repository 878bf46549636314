"""Plays the scenario with one agent, in both ways: `python -m tests.backends.scenario.play AGENT FILE`."""

import asyncio
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Awaitable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.backends.scenario import words
from tests.backends.scenario.rows import ROWS, ROWS_AFTER
from tests.backends.scenario.stage import Stage, run_locked_server, run_server
from tests.models import FakeModel
from tests.peers.processes import marked

from mooring.core.conversation.backend_name import SERVERS_WAYS, ServersWay

LONGEST_ROW = 120.0
"""Seconds for one row, on a machine that is busy."""
LAST_FRAMES = 3


class Results:
    """What became of each row."""

    def __init__(self, agent: str) -> None:
        self.rows: list[dict[str, Any]] = []
        self._agent = agent

    async def note(self, way: ServersWay, title: str, trying: Awaitable[None]) -> bool:
        """Try a row, and write down how it ended."""
        began, problem = time.monotonic(), ""
        try:
            async with asyncio.timeout(LONGEST_ROW):
                await trying
        except Exception as error:  # noqa: BLE001  # whatever it is, the next row is tried
            frames = traceback.extract_tb(error.__traceback__)[-LAST_FRAMES:]
            place = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames))
            problem = f"{type(error).__name__}: {error} ({place})"
        seconds = time.monotonic() - began
        row = {"way": way, "title": title, "problem": problem, "seconds": round(seconds, 1)}
        self.rows.append(row)
        sys.stderr.write(f"{self._agent} {way}: {title}: {problem or 'ok'} ({seconds:.1f} s)\n")
        return not problem


async def play(agent: Any, way: ServersWay, results: Results, http: int, sse: int) -> None:
    """All rows, in one way."""
    with TemporaryDirectory() as folder:
        async with FakeModel(words.reply, skip_asides=True) as model, run_locked_server() as locked:
            stage = Stage(Path(folder), agent, way, model)
            stage.configure(f"http://127.0.0.1:{http}/mcp", f"http://127.0.0.1:{sse}/sse", locked)
            try:
                await _play_conversation(stage, results)
                for row in ROWS_AFTER:
                    await results.note(way, row.title, row.run(stage))
            finally:
                for pid in marked(stage.nonce):
                    os.kill(pid, signal.SIGKILL)


async def _play_conversation(stage: Stage, results: Results) -> None:
    """The rows of one conversation; after one that failed, another conversation is opened for the rest."""
    rows = list(ROWS)
    while rows:
        try:
            async with stage.open() as opened:
                while rows:
                    row = rows.pop(0)
                    if not await results.note(stage.way, row.title, row.run(opened)):
                        break
        except Exception as error:  # noqa: BLE001  # what can't be opened or closed costs one row
            title = rows.pop(0).title if rows else "closing"
            await results.note(stage.way, title, _raise(error))


async def _raise(error: Exception) -> None:
    raise error


def main(agent: str, file: str, ways: tuple[ServersWay, ...]) -> int:
    results = Results(agent)
    with run_server("streamable-http") as http, run_server("sse") as sse:
        for way in ways:
            asyncio.run(play(agent, way, results, http, sse))
    Path(file).write_text(json.dumps(results.rows))
    return 1 if any(row["problem"] for row in results.rows) else 0


if __name__ == "__main__":
    chosen: Any = tuple(sys.argv[3:]) or SERVERS_WAYS
    sys.exit(main(sys.argv[1], sys.argv[2], chosen))
