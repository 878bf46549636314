"""Commands as a person gives them: started, waited for, and timed from outside, turn by turn."""

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from bench.drive import Broken, Samples, keep, turns


def time_commands(commands: Mapping[str, Sequence[str]], rounds: int, cwd: Path, env: Mapping[str, str]) -> Samples:
    """Run every command in every round, after one that is not counted.

    Raises: Broken.
    """
    samples: Samples = {name: {} for name in commands}
    for name, command in commands.items():
        run_once(name, command, cwd, env)
    for name in turns(list(commands), rounds):
        keep(samples[name], _timed(commands[name], cwd, env))
    return samples


def run_once(name: str, command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> None:
    """Run a command that has to succeed. Raises: Broken."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True)
    if done.returncode:
        raise Broken(f"{name} exits with {done.returncode}:\n{done.stderr[-2000:]}")


def _timed(command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> dict[str, float]:
    started = time.perf_counter()
    process = subprocess.Popen(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, process.returncode, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - started
    return {"wall": took * 1e3, "cpu": (usage.ru_utime + usage.ru_stime) * 1e3}
