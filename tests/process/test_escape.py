"""A server that turns on the guard gains nothing by it, and nothing that is not ours is ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from escapes import KILLERS, LEAVERS, STOPPERS, EscapeHost, wait_until

from mooring.process.guard.proc import parent_of

pytestmark = pytest.mark.processes

POLITE = 'daemonize("stay()"); ready(); stay()'
"""A server whose daemon has shed everything, like those that try to escape, but that leaves its guard alone."""


@pytest.fixture(scope="module")
def neighbor() -> Iterator[EscapeHost]:
    """A second host of the same user, with a server and its daemon."""
    with EscapeHost(POLITE) as host:
        assert wait_until(lambda: len(host.servers) == 2)
        yield host


def is_gone(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return True


@pytest.mark.parametrize("name", KILLERS)
@pytest.mark.timeout(300)
def test_a_server_that_has_the_guard_killed_ends_with_all_it_started(name: str, neighbor: EscapeHost) -> None:
    with EscapeHost(KILLERS[name]) as host:
        assert wait_until(lambda: not host.guard or is_gone(host.guard))
        assert wait_until(lambda: not host.servers)
        assert len(host.bystanders) == 2, "the program's own children live on"
        host.process.kill()
        host.process.wait()
        time.sleep(0.1)
        assert host.servers == []
    assert len(neighbor.servers) == 2
    assert len(neighbor.bystanders) == 2


@pytest.mark.parametrize(
    ("name", "way"), [(name, "kill") for name in STOPPERS] + [("the server stops the guard", "close")]
)
@pytest.mark.timeout(300)
def test_a_guard_that_was_stopped_still_ends_everything(name: str, way: str, neighbor: EscapeHost) -> None:
    with EscapeHost(STOPPERS[name], way) as host:
        assert wait_until(lambda: _state(host.guard) == "T")
        if way == "kill":
            host.process.kill()
        assert host.process.stdin
        host.process.stdin.close()
        host.process.wait(100)
        assert wait_until(lambda: not host.servers)
        assert wait_until(lambda: is_gone(host.guard))
        assert len(host.bystanders) == 2
    assert len(neighbor.servers) == 2


@pytest.mark.parametrize("name", LEAVERS)
def test_a_daemon_without_session_or_mark_ends_with_its_server(name: str) -> None:
    with EscapeHost(LEAVERS[name]) as host:
        assert wait_until(lambda: not host.servers)
        assert not is_gone(host.guard)
        assert host.process.poll() is None
        assert len(host.bystanders) == 2


def test_the_guard_knows_nothing_of_the_persons_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CANARY_TOKEN", "canary-7f3a")
    with EscapeHost(POLITE) as host:
        with open(f"/proc/{host.guard}/environ", "rb") as file:
            names = {line.partition(b"=")[0] for line in file.read().split(b"\0") if line}
        assert names <= {b"LD_LIBRARY_PATH", b"LC_ALL", b"LC_CTYPE", b"LANG", b"MOORING_TREE"}


def _state(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return ""


LIMITED_DAEMON = """
import os, resource, sys, time
if os.fork():
    os._exit(0)
os.setsid()
resource.setrlimit(10, (64, 64))
print(os.getpid(), flush=True)
os.close(1)
time.sleep(60)
"""


@pytest.mark.timeout(300)
def test_a_daemon_with_a_limit_of_its_own_that_was_there_before_is_not_ended() -> None:
    daemon = subprocess.run([sys.executable, "-c", LIMITED_DAEMON], stdout=subprocess.PIPE, text=True, check=True)
    pid = int(daemon.stdout)
    try:
        assert wait_until(lambda: parent_of(pid) == 1 or parent_of(pid) == _find_reaper())
        with EscapeHost(next(iter(KILLERS.values()))) as host:
            assert wait_until(lambda: not host.guard or is_gone(host.guard))
            assert wait_until(lambda: not host.servers)
        assert not is_gone(pid)
    finally:
        os.kill(pid, signal.SIGKILL)


def _find_reaper() -> int:
    """Who is given orphans here: process 1, unless a process above has asked for them."""
    code = "import os,time; r,w=os.pipe(); pid=os.fork()\nif pid: os._exit(0)\ntime.sleep(0.3); print(os.getppid())"
    return int(subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=True).stdout)
