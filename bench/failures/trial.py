"""One client in one case: what its program reported, and which processes it left behind."""

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.peers.processes import marked

from bench.failures.cases import GOOD, Case, Rival

PATIENCE = 40
"""Seconds that a program may take."""
SETTLING = 2
"""Seconds that processes have to end once the program has."""


class Seen(NamedTuple):
    """What a program reported, step by step; how many other lines it printed; whether it ended; what it left."""

    steps: dict[str, dict[str, Any]]
    noise: int
    ended: bool
    left: int


def try_case(rival: Rival, case: Case) -> Seen:
    nonce = os.urandom(8).hex()
    servers = {"good": GOOD} if case.bad is None else {"good": GOOD, "bad": case.bad}
    env = {"MOORING_TEST": nonce, "PATH": "/usr/bin:/bin"}
    argument = json.dumps({name: {**entry, "env": env} for name, entry in servers.items()})
    with TemporaryDirectory() as home:
        program = subprocess.Popen(
            [*rival.command, argument, case.key],
            cwd=home,
            env={"HOME": home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=(Path(home) / "stderr").open("wb"),
            text=True,
            start_new_session=True,
        )
        steps, chatter, ended = _follow(program, nonce)
        noise = chatter + len((Path(home) / "stderr").read_text(errors="replace").splitlines())
    return Seen(steps, noise, ended, _count_left(nonce))


def _follow(program: subprocess.Popen[str], nonce: str) -> tuple[dict[str, dict[str, Any]], int, bool]:
    """Read the reports until the program ends, and stop it where it does not; what else it prints is counted."""
    steps: dict[str, dict[str, Any]] = {}
    late = threading.Timer(PATIENCE, program.kill)
    late.start()
    chatter = 0
    assert program.stdout is not None
    for line in program.stdout:
        if not line.startswith('{"step"'):
            chatter += 1
            continue
        report = json.loads(line)
        steps[report["step"]] = report
        if report["step"] == "begin killed":
            threading.Timer(1, _kill, [nonce]).start()
    program.wait()
    late.cancel()
    late.join()
    return steps, chatter, program.returncode == 0


def _kill(nonce: str) -> None:
    for pid in marked(nonce):
        os.kill(pid, signal.SIGKILL)


def _count_left(nonce: str) -> int:
    until = time.monotonic() + SETTLING
    while marked(nonce) and time.monotonic() < until:
        time.sleep(0.05)
    left = len(marked(nonce))
    _kill(nonce)
    return left
