"""Jobs for drivers: each contender in a process of its own, round after round, turn by turn."""

import json
import os
import select
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, Any, TypeAlias

from bench.ground import CACHE

Samples: TypeAlias = dict[str, dict[str, list[float]]]
"""For each contender and each of its figures what was measured, a value for each round."""

PATIENCE = 120.0
QUIET = {
    "MCP_USE_ANONYMIZED_TELEMETRY": "false",
    "FASTMCP_LOG_LEVEL": "ERROR",
    "FASTMCP_CHECK_FOR_UPDATES": "off",
    "NO_COLOR": "1",
}
"""Peers neither report home nor write logs while they are measured."""


class Broken(Exception):
    """A contender did not do its job."""


def drive(drivers: Mapping[str, Sequence[str]], job: Mapping[str, Any], rounds: int) -> Samples:
    """Have every driver do the job in every round.

    Raises: Broken.
    """
    samples: Samples = {name: {} for name in drivers}
    with ExitStack() as running:
        processes = {name: running.enter_context(_running(name, argv)) for name, argv in drivers.items()}
        for name in turns(list(drivers), rounds):
            keep(samples[name], _ask(name, processes[name], job))
    return samples


def turns(names: list[str], rounds: int) -> Iterator[str]:
    """Every name once a round, each round beginning with another: none is always the one after the slowest."""
    for turn in range(rounds):
        first = turn % len(names)
        yield from names[first:] + names[:first]


def keep(figures: dict[str, list[float]], measured: Mapping[str, float]) -> None:
    for figure, value in measured.items():
        figures.setdefault(figure, []).append(value)


@contextmanager
def _running(name: str, argv: Sequence[str]) -> "Iterator[subprocess.Popen[bytes]]":
    with open(_log(name), "wb") as log:
        process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, env={**os.environ, **QUIET}
        )
    try:
        yield process
        process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()


def _ask(name: str, process: "subprocess.Popen[bytes]", job: Mapping[str, Any]) -> dict[str, float]:
    try:
        _pipe(process.stdin).write(json.dumps(job).encode() + b"\n")
        _pipe(process.stdin).flush()
    except BrokenPipeError:
        pass  # its last words are in the log
    answer = _pipe(process.stdout).readline() if _answers(process) else b""
    if not answer:
        raise Broken(f"{name} did not finish {job['job']}:\n{_log(name).read_text(errors='replace')[-2000:]}")
    return dict(json.loads(answer))


def _answers(process: "subprocess.Popen[bytes]") -> bool:
    return bool(select.select([_pipe(process.stdout)], [], [], PATIENCE)[0])


def _pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    assert pipe is not None
    return pipe


def _log(name: str) -> Any:
    return CACHE / f"{name}.log"
