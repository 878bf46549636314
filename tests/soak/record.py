"""The record of conversations under load: eight processes on one home, ended at random or killed, lose nothing.

`python -m tests.soak.record` runs until 500 processes were killed. Each says something, begins sub-agents, continues,
lists, removes and cleans up at random. What a process knew to be written is in the record exactly once afterwards.
"""

import argparse
import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from mooring.agents.history import PersonMessage
from mooring.agents.sessions.journal import SessionJournal
from mooring.agents.sessions.store import SessionStore
from mooring.core.content import Text
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.errors import ConfigError

PROCESSES = 8
REMOVABLE = "to be removed"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.soak.record", description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--work", metavar="HOME", help="be one of the processes")
    options = parser.parse_args(words)
    if options.work:
        asyncio.run(work(options.work))
        return 0
    with tempfile.TemporaryDirectory() as home:
        began = time.monotonic()
        ended = kill_at_random(home, options.kills)
        faults = check(home)
        said = len(Path(f"{home}/said").read_text().splitlines())
    seconds = time.monotonic() - began
    counted = f"{options.kills} killed, {ended} ended by themselves, {said} entries, {seconds:.0f} s"
    sys.stdout.write("\n".join([counted, *faults, ""]))
    return 1 if faults else 0


def kill_at_random(home: str, kills: int) -> int:
    """Keep eight processes running until so many were killed; how many ended by themselves."""
    running: list[subprocess.Popen[bytes]] = []
    killed = ended = 0
    while killed < kills:
        while len(running) < PROCESSES:
            running.append(subprocess.Popen([sys.executable, "-m", "tests.soak.record", "--work", home]))
        time.sleep(random.random() / 5)
        victim = running.pop(random.randrange(PROCESSES))
        if random.random() < 0.8:
            victim.kill()
        code = victim.wait(60)
        assert code in (0, -signal.SIGKILL), code
        killed += code == -signal.SIGKILL
        ended += code == 0
    for process in running:
        assert process.wait(60) == 0
    return ended + len(running)


class Told:
    """What the person is told: whether something is known not to be stored."""

    is_failing = False

    def tell(self, problem: Problem) -> None:
        sys.stderr.write(f"{problem.message}\n")
        self.is_failing = problem.level == "warning"


async def work(home: str) -> None:
    """Talk for a few seconds, in one conversation after another."""
    told = Told()
    store = SessionStore(Where(home, {}), on_problem=told.tell)
    until = time.monotonic() + 4 * random.random()
    while time.monotonic() < until:
        journal = open_journal(store, home)
        for number in range(random.randrange(30)):
            await say(journal, home, told, f"{os.getpid()} {time.monotonic_ns()} {number}")
            if random.random() < 0.05:
                below = journal.begin_sub_agent("call", agent="explore", model="m")
                await say(below, home, told, f"{os.getpid()} {time.monotonic_ns()} {number} below")
                below.close()
            if random.random() < 0.05:
                random.choice([store.list, lambda: store.remove_expired(90), lambda: remove(store)])()
        journal.close()


def open_journal(store: SessionStore, home: str) -> SessionJournal:
    try:
        if random.random() < 0.5:
            return store.resume(store.find_newest(home).id).journal
    except ConfigError:
        pass  # there is none, or another process has it open
    return store.begin(home, model="m")


async def say(journal: SessionJournal, home: str, told: Told, words: str) -> None:
    """Say something, and note that it is stored, unless the person was told that it isn't."""
    journal.add_message(PersonMessage((Text(words),)))
    await journal.settle()
    if told.is_failing:
        return
    handle = os.open(f"{home}/said", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, f"{words}\n".encode())
    os.close(handle)


def remove(store: SessionStore) -> None:
    """Begin a conversation that is removed again."""
    journal = store.begin("/", model="m")
    journal.add_message(PersonMessage((Text(REMOVABLE),)))
    journal.close()
    # The file may be busy: then it is still this process's for a moment, and stays.
    with suppress(ConfigError):
        store.remove(journal.id)


def check(home: str) -> list[str]:
    """What is wrong with the record."""
    connection = sqlite3.connect(SessionStore(Where(home, {})).path)
    try:
        health = connection.execute("PRAGMA integrity_check").fetchall()
        rows = [row[0] for row in connection.execute("SELECT data FROM entries")]
    finally:
        connection.close()
    stored = Counter(row.partition('"text":"')[2].partition('"')[0] for row in rows)
    said = Path(f"{home}/said").read_text().splitlines()
    lost = [words for words in said if not stored[words]]
    twice = [words for words, count in stored.items() if count > 1 and words != REMOVABLE]
    faults = [f"lost: {words}" for words in lost] + [f"twice: {words}" for words in twice]
    return faults if health == [("ok",)] else [*faults, f"integrity_check: {health}"]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
