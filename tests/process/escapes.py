"""Servers that try to outlive everything: they leave their session, clear their environment and turn on the guard."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress

PRELUDE = """
import os, signal, sys, time
NONCE, GUARD = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else os.getppid()

def ready():
    os.write(1, b"ready")

def stay():
    for number in signal.SIGTERM, signal.SIGHUP, signal.SIGINT:
        signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(60)

def release():
    null = os.open(os.devnull, os.O_RDWR)
    for fd in 0, 1, 2:
        os.dup2(null, fd)

def run_bare(code, env={}):
    # With nothing of ours: no environment, no descriptors, another folder.
    os.chdir("/")
    words = [sys.executable, "-I", "-S", "-c", PRELUDE + code, NONCE, str(GUARD)]
    os.execve(sys.executable, words, env)

def daemonize(code, env={}):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            release()
            run_bare(code, env)
        os._exit(0)
    os.wait()
"""
PRELUDE = f"PRELUDE = {PRELUDE!r}\nPRELUDE = f'PRELUDE = {{PRELUDE!r}}\\n' + PRELUDE\n{PRELUDE}"

KILLERS = {
    "a daemon kills the guard": 'daemonize("os.kill(GUARD, 9); stay()"); ready(); stay()',
    "the server kills the guard": 'daemonize("stay()"); ready(); time.sleep(0.2); os.kill(GUARD, 9); stay()',
    "at its first instruction": 'os.kill(GUARD, 9); daemonize("stay()"); ready(); stay()',
    "before it says that it is up": 'daemonize("stay()"); time.sleep(0.1); os.kill(GUARD, 9); ready(); stay()',
    "a daemon of a daemon": """
daemonize('daemonize("os.kill(GUARD, 9); stay()"); stay()'); ready(); stay()
""",
    "thirty daemons": """
for _ in range(30):
    daemonize("stay()")
ready(); time.sleep(0.3); os.kill(GUARD, 9); stay()
""",
    "with a mark of its own": 'daemonize("os.kill(GUARD, 9); stay()", {"MOORING_TREE": "0-1;"}); ready(); stay()',
    "with its brand lowered": """
daemonize("import resource; resource.setrlimit(10, (5, 5)); os.kill(GUARD, 9); stay()"); ready(); stay()
""",
    "with its state hidden": """
daemonize("import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); os.kill(GUARD, 9); stay()"); ready(); stay()
""",
    "a runner that forks and exits": """
daemonize('''
os.kill(GUARD, 9)
while True:
    if os.fork():
        os._exit(0)
    os.setsid()
    time.sleep(0.002)
'''); ready(); stay()
""",
    "a bounded fork bomb": """
daemonize('''
os.kill(GUARD, 9)
for _ in range(6):
    os.fork()
    os.setsid() if os.getpgrp() != os.getpid() else None
stay()
'''); ready(); stay()
""",
}
"""Each leaves its session and its environment, and has the guard killed."""

STOPPERS = {
    "a daemon stops the guard": 'input(); daemonize("os.kill(GUARD, 19); stay()"); ready(); stay()',
    "the server stops the guard": 'input(); daemonize("stay()"); ready(); os.kill(GUARD, 19); stay()',
}
"""Each waits until the host knows of it: a guard that is stopped before it has said so leaves the host waiting."""

LEAVERS = {
    "a daemon that would kill the guard later": 'daemonize("time.sleep(2); os.kill(GUARD, 9); stay()"); ready()',
    "a daemon outlives its server": 'daemonize("stay()"); ready()',
    "a daemon forges the mark of another tree": 'daemonize("stay()", {"MOORING_TREE": "x-2;"}); ready()',
}

HOST = """
import asyncio, contextlib, os, subprocess, sys
from mooring.process.programs import Guard

async def wait_for_exec(pid, nonce):
    # Until then it looks like the guard, and whoever looks for the server would find nothing.
    for _ in range(500):
        try:
            command_line = open(f"/proc/{pid}/cmdline").read()
        except OSError:
            return  # it has ended
        if nonce in command_line:
            return
        await asyncio.sleep(0.005)

async def main(nonce, server):
    # What the program around us starts is its own: an editor, a browser, a daemon.
    # Each is started by exec: a mere fork of this process could be taken for a server for a moment.
    bare = dict(env={}, start_new_session=True, stdin=subprocess.DEVNULL)
    for beginning in "", "import os; os.fork() and os._exit(0); ":
        code = beginning + "import time; time.sleep(600)"
        started = subprocess.Popen([sys.executable, "-I", "-S", "-c", code, "bystander-" + nonce], **bare)
    started.wait()
    async with Guard() as guard:
        child = await guard.spawn([sys.executable, "-I", "-S", "-c", server, nonce])
        await wait_for_exec(child.pid, nonce)
        print(guard.pid, child.pid, flush=True)
        with contextlib.suppress(OSError):
            os.write(child.stdin, b"\\n")
        if "close" in sys.argv:
            await asyncio.to_thread(sys.stdin.read)
        else:
            await asyncio.Event().wait()

try:
    asyncio.run(main(*sys.argv[1:3]))
except BaseException as error:
    print("0 0", error, flush=True)
    if "close" not in sys.argv:
        while True:
            __import__("time").sleep(60)
"""


class EscapeHost:
    """A host process with one server; what is left of either is killed at the end.

    With "close" it closes its guard by itself, once its stdin ends.
    """

    def __init__(self, server: str, *how: str) -> None:
        self.nonce = os.urandom(8).hex()
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOST, self.nonce, PRELUDE + server, *how],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def __enter__(self) -> "EscapeHost":
        assert self.process.stdout
        self.guard = int(self.process.stdout.readline().split()[0])
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        self.process.stdout.close()
        # Again and again: one that forks and exits is not hit at once.
        while left := find_processes(self.nonce):
            for pid in left:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    @property
    def servers(self) -> list[int]:
        """What its server is and has started, wherever it is now."""
        return [pid for pid in find_processes(self.nonce) if pid not in self.bystanders and pid != self.process.pid]

    @property
    def bystanders(self) -> list[int]:
        return find_processes(f"bystander-{self.nonce}")


def find_processes(words: str) -> list[int]:
    """The living processes that have these words on their command line."""
    return [int(name) for name in os.listdir("/proc") if name.isdigit() and _has(name, words.encode())]


def _has(pid: str, words: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return words in file.read()
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], patience: float = 100.0) -> bool:
    """Wait for something that can be seen; whether it came."""
    deadline = time.monotonic() + patience
    while not (met := condition()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return met
