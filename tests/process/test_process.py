"""Children seen from the host: how they start, fail, speak, end, and what remains of them."""

import asyncio
import errno
import os
import resource
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from mooring.core.protocol.failure import COOLDOWN, MAX_FAILURES
from mooring.errors import GuardLost, MooringError, SpawnError
from mooring.process import programs
from mooring.process.child import LOST, Child
from mooring.process.guard.boot import start_guard
from mooring.process.programs import Guard
from support import Memory

pytestmark = pytest.mark.processes

Seen = TypeVar("Seen")
MIB = 1024 * 1024
PYTHON = [sys.executable, "-I", "-S", "-c"]
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(flush=True); time.sleep(600)"


@pytest.fixture(autouse=True)
def nonce(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Marks every process of a test; after it none may be left, nor a descriptor of ours."""
    nonce = os.urandom(8).hex()
    monkeypatch.setenv("MOORING_TEST", nonce)
    before = len(os.listdir("/proc/self/fd"))
    yield nonce
    left = settled(lambda: marked(nonce), [])
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.fixture(params=["linux", "portable"])
def portable(request: pytest.FixtureRequest) -> bool:
    return bool(request.param == "portable")


def test_a_child_echoes_and_exits_at_the_end_of_its_input(portable: bool) -> None:
    async def scene(guard: Guard) -> None:
        child = await guard.spawn(["cat"])
        os.write(child.stdin, b"ahoy\n")
        assert await read(child) == b"ahoy\n"
        await child.close()
        assert child.exited.result() == 0

    play(scene, Guard(portable=portable))


@pytest.mark.parametrize(("script", "code"), [("exit 0", 0), ("exit 7", 7), ("kill -9 $$", -9), ("kill -15 $$", -15)])
def test_the_exit_is_told_as_subprocess_tells_it(script: str, code: int, portable: bool) -> None:
    async def scene(guard: Guard) -> None:
        child = await guard.spawn(["sh", "-c", script])
        assert await child.exited == code
        await child.close()

    play(scene, Guard(portable=portable))


def test_a_child_gets_the_environment_and_folder_that_were_named_and_no_others(tmp_path: Path) -> None:
    async def scene(guard: Guard) -> None:
        child = await guard.spawn(
            ["/bin/sh", "-c", "pwd; env"], env={"ONE": "1", "MOORING_TEST": ""}, cwd=str(tmp_path)
        )
        await child.exited
        folder, *lines = (await read(child)).decode().splitlines()
        assert folder == str(tmp_path)
        names = {line.partition("=")[0] for line in lines}
        assert names - {"PWD", "_", "SHLVL"} == {"ONE", "MOORING_TEST", "MOORING_TREE"}

    play(scene)


def test_a_child_starts_with_three_descriptors_default_signals_and_its_own_session() -> None:
    look = (
        "import os; status = open('/proc/self/status').read()\n"
        "field = lambda name: int(status.partition(name)[2].split()[0], 16)\n"
        "ignored = field('SigIgn:') & ~(1 << 12 | 1 << 24 | 3 << 31)\n"
        "print(sorted(os.listdir('/proc/self/fd'))[:4], field('SigBlk:'), ignored)\n"
        "print(os.getsid(0) == os.getpid() == os.getpgrp())"
    )

    async def scene(guard: Guard) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
        ours = os.open(os.devnull, os.O_RDONLY)
        os.set_inheritable(ours, True)
        try:
            child = await guard.spawn([*PYTHON, look])
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
            os.close(ours)
        await child.exited
        # the fourth is the listing's own; python ignores PIPE and XFSZ by itself, glibc its own 32 and 33
        assert (await read(child)).decode().split("\n")[:2] == ["['0', '1', '2', '3'] 0 0", "True"]

    play(scene)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    (tmp_path / "some-text").write_text("text")
    (tmp_path / "plain").write_bytes(b"\x00\x01")
    (tmp_path / "plain").chmod(0o755)
    (tmp_path / "hollow").write_text("#!/nowhere/interpreter\n")
    (tmp_path / "hollow").chmod(0o755)
    (tmp_path / "loop").symlink_to("loop")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "cwd", "cause", "words"),
    [
        ("no-such-command", ".", "ENOENT", "'no-such-command' is not on PATH"),
        ("some-text", ".", "EACCES", "some-text is on PATH but not executable"),
        ("./missing", ".", "ENOENT", "./missing does not exist"),
        ("./some-text", ".", "EACCES", "./some-text is not an executable file"),
        ("./plain", ".", "ENOEXEC", "no `#!` line"),
        ("./hollow", ".", "ENOENT", "interpreter that does not exist"),
        ("hollow", ".", "ENOENT", "interpreter that does not exist"),
        ("./", ".", "EACCES", "not an executable file"),
        ("./loop", ".", "ELOOP", "could not be started"),
        ("cat", "missing", "ENOENT", "missing for 'cat' does not exist"),
        ("cat", "some-text", "ENOTDIR", "some-text is not a folder"),
        ("", ".", "EINVAL", "no command"),
        ("cat\0", ".", "EINVAL", "NUL"),
    ],
)
def test_what_cannot_start_says_why(broken: Path, command: str, cwd: str, cause: str, words: str) -> None:
    path = f"{broken}:{os.environ['PATH']}"

    async def scene(guard: Guard) -> None:
        with pytest.raises(SpawnError) as caught:
            await guard.spawn([command], env={**os.environ, "PATH": path}, cwd=str(broken / cwd))
        error = caught.value
        assert (error.command, error.cwd, error.cause) == (command, str(broken / cwd).rstrip("/."), cause)
        assert words in str(error)
        assert str(error).endswith(".")

    play(scene)


def test_arguments_and_environment_of_nearly_two_mebibytes_arrive_and_more_is_refused() -> None:
    piece = "x" * 100_000

    async def scene(guard: Guard) -> None:
        env = {**os.environ, **{f"BIG{at}": piece for at in range(9)}}
        child = await guard.spawn(["sh", "-c", 'echo "$#"; env | wc -c', *[piece] * 9], env=env)
        await child.exited
        count, size = map(int, (await read(child)).split())
        assert count == 8
        assert size > 900_000
        with pytest.raises(SpawnError, match="than the system accepts") as caught:
            await guard.spawn(["true", *[piece] * 40])
        assert caught.value.code == errno.E2BIG

    play(scene)


def test_two_hundred_children_start_at_once_and_end_together() -> None:
    async def scene(guard: Guard) -> None:
        children = await asyncio.gather(*(guard.spawn(["cat"]) for _ in range(200)))
        for at, child in enumerate(children):
            os.write(child.stdin, b"%d" % at)
        assert [int(await read(child)) for child in children] == list(range(200))
        assert len({child.pid for child in children}) == 200
        await asyncio.gather(*(child.close() for child in children))
        assert {child.exited.result() for child in children} == {0}

    play(scene)


def test_two_hundred_starts_fit_a_limit_of_descriptors_that_their_own_pipes_nearly_fill() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (650 + len(os.listdir("/proc/self/fd")), hard))
    try:
        test_two_hundred_children_start_at_once_and_end_together()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_start_without_descriptors_left_fails_alone() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)

    async def scene(guard: Guard) -> None:
        child = await guard.spawn(["cat"])
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 3, hard))
        try:
            with pytest.raises(SpawnError, match="Too many open files"):
                await guard.spawn(["cat"])
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        os.write(child.stdin, b"still here")
        assert await read(child) == b"still here"

    play(scene)


def test_a_flood_on_stderr_neither_blocks_the_child_nor_fills_memory() -> None:
    flood = (
        "import sys\nfor _ in range(800): sys.stderr.write(('~' * 63 + '\\n') * 1024)\nsys.stderr.write('\\xff last')"
    )

    async def scene(guard: Guard) -> None:
        memory = Memory()
        child = await guard.spawn([*PYTHON, flood.replace("\\xff", "\\udcff")])
        assert await child.exited == 0
        tail = child.stderr_tail
        assert len(tail) <= 256 * 1024
        assert tail.startswith("~" * 63 + "\n")
        assert tail.endswith(" last")
        assert memory.grown < 16 * MIB

    play(scene)


def test_the_lines_of_stderr_are_told_one_by_one_and_invalid_bytes_replaced() -> None:
    async def scene(guard: Guard) -> None:
        lines: list[str] = []
        child = await guard.spawn(
            ["sh", "-c", r"printf 'one\ntw' >&2; printf 'o\n\377\nend' >&2"], on_stderr=lines.append
        )
        await child.exited
        await child.close()
        assert lines == ["one", "two", "�", "end"]
        assert child.stderr_tail == "one\ntwo\n�\nend"

    play(scene)


def test_the_last_words_are_known_when_the_exit_is() -> None:
    async def scene(guard: Guard) -> None:
        for _ in range(20):
            child = await guard.spawn(["sh", "-c", "echo because >&2; exit 1"])
            assert (await child.exited, child.stderr_tail) == (1, "because\n")
            await child.close()

    play(scene)


def test_a_child_that_closed_its_output_is_seen_to_be_alive() -> None:
    async def scene(guard: Guard) -> None:
        child = await guard.spawn(["sh", "-c", "exec >&-; exec sleep 600"])
        assert await read(child) == b""
        assert not child.exited.done()
        await child.close(grace=0)
        assert child.exited.result() == -signal.SIGTERM

    play(scene)


def test_a_stubborn_child_is_killed_after_both_graces(portable: bool) -> None:
    async def scene(guard: Guard) -> None:
        child = await guard.spawn([*PYTHON, STUBBORN])
        await read(child)
        start = time.monotonic()
        await child.close(grace=0.2, term_grace=0.2)
        assert 0.4 <= time.monotonic() - start < 30
        assert child.exited.result() == -signal.SIGKILL

    play(scene, Guard(portable=portable))


def test_a_child_that_exits_takes_what_it_started_with_it(nonce: str) -> None:
    async def scene(guard: Guard) -> None:
        child = await guard.spawn(["sh", "-c", "sleep 600 & (setsid sleep 600 &) ; exit 3"])
        assert await child.exited == 3
        assert await asyncio.to_thread(settled, lambda: set(marked(nonce)) - {os.getpid(), guard.pid}, set()) == set()
        await child.close()

    play(scene)


def test_one_tree_ends_and_the_daemons_of_another_stay() -> None:
    async def scene(guard: Guard) -> None:
        script = "(setsid sleep 600 & echo $!) ; exec cat"
        one, two = [await guard.spawn(["sh", "-c", script]) for _ in range(2)]
        first, second = int(await read(one)), int(await read(two))
        await one.close()
        assert not alive(first)
        assert alive(second)
        await two.close()
        assert not alive(second)

    play(scene)


def test_closing_a_dead_child_again_is_quiet() -> None:
    async def scene(guard: Guard) -> None:
        child = await guard.spawn(["true"])
        await child.exited
        await child.close()
        await child.close()
        assert (child.stdin, child.stdout, child.stderr) == (-1, -1, -1)

    play(scene)


def test_a_cancelled_close_still_ends_the_child() -> None:
    async def scene(guard: Guard) -> None:
        child = await guard.spawn([*PYTHON, STUBBORN])
        await read(child)
        closing = asyncio.create_task(child.close(0.1, 0.1))
        await asyncio.sleep(0)
        closing.cancel()
        assert await asyncio.wait_for(child.exited, 100) == -signal.SIGKILL

    play(scene)


def test_a_cancelled_spawn_leaves_nothing(nonce: str) -> None:
    async def scene(guard: Guard) -> None:
        await (await guard.spawn(["true"])).close()
        before = len(os.listdir("/proc/self/fd"))
        for turns in range(4):
            spawning = asyncio.create_task(guard.spawn([*PYTHON, STUBBORN]))
            for _ in range(turns):
                await asyncio.sleep(0)
            spawning.cancel()
        assert await asyncio.to_thread(settled, lambda: set(marked(nonce)) - {os.getpid(), guard.pid}, set()) == set()
        assert await asyncio.to_thread(settled, lambda: len(os.listdir("/proc/self/fd")), before) == before

    play(scene)


def test_closing_the_guard_ends_all_children_in_the_time_of_one(portable: bool) -> None:
    async def main() -> None:
        guard = Guard(portable=portable)
        children = await asyncio.gather(*(guard.spawn([*PYTHON, STUBBORN]) for _ in range(10)))
        await asyncio.gather(*map(read, children))
        start = time.monotonic()
        await guard.close(grace=0.5, term_grace=0.5)
        assert time.monotonic() - start < 8, "one after another they would take 10 s"
        assert {child.exited.result() for child in children} == {-signal.SIGKILL}
        with pytest.raises(GuardLost, match="closed"):
            await guard.spawn(["true"])

    asyncio.run(main())


def test_closing_the_guard_refuses_the_starts_that_still_wait() -> None:
    async def main() -> None:
        guard = Guard().begin()
        huge = {**os.environ, **{f"BIG{at}": "x" * 100_000 for at in range(15)}}
        spawning = [asyncio.create_task(guard.spawn(["cat"], env=huge)) for _ in range(5)]
        await asyncio.sleep(0)
        await guard.close()
        outcomes = await asyncio.gather(*spawning, return_exceptions=True)
        assert any(isinstance(outcome, GuardLost) for outcome in outcomes)
        assert all(isinstance(outcome, GuardLost | Child) for outcome in outcomes)

    asyncio.run(main())


def test_the_death_of_the_guard_ends_its_trees_and_another_is_started_unless_it_keeps_dying(
    nonce: str, portable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr(programs, "monotonic", lambda: clock[0])

    async def scene(guard: Guard) -> None:
        script = STUBBORN if portable else f"import os; os.fork() or os.setsid(); {STUBBORN}"
        for life in range(MAX_FAILURES + 1):
            child = await guard.spawn([*PYTHON, script])
            await read(child)
            assert guard.pid
            os.kill(guard.pid, signal.SIGKILL)
            assert await asyncio.wait_for(child.exited, 5) == LOST, life
            assert await asyncio.to_thread(settled, lambda: set(marked(nonce)) - {os.getpid()}, set()) == set()
            await child.close()
        for _ in range(2):
            words = r"The guard process died more than 5 times within 30 s, so no server is started for 60 s\.$"
            with pytest.raises(GuardLost, match=words):
                await guard.spawn(["true"])
        clock[0] += COOLDOWN
        await (await guard.spawn(["true"])).exited

    play(scene, Guard(portable=portable))


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what a process shares")
def test_the_guard_takes_less_than_5_mb_of_its_own_while_it_guards_20_programs() -> None:
    async def scene(guard: Guard) -> None:
        await asyncio.gather(*(guard.spawn(["cat"]) for _ in range(20)))
        rollup = await asyncio.to_thread(Path(f"/proc/{guard.pid}/smaps_rollup").read_text)
        own = sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Private_"))
        assert 1000 < own < 5000

    play(scene)


def test_a_start_that_is_under_way_when_the_guard_dies_fails_at_once() -> None:
    async def scene(guard: Guard) -> None:
        assert guard.pid
        os.kill(guard.pid, signal.SIGSTOP)
        spawning = asyncio.create_task(guard.spawn(["cat"]))
        await asyncio.sleep(0)
        os.kill(guard.pid, signal.SIGKILL)
        with pytest.raises(GuardLost):
            await asyncio.wait_for(spawning, 5)
        await (await guard.spawn(["true"])).exited

    play(scene)


def test_a_guard_that_was_begun_before_costs_the_host_next_to_nothing() -> None:
    start = time.process_time()
    begun = start_guard()
    took = time.process_time() - start

    async def scene(guard: Guard) -> None:
        assert guard.pid == begun.pid
        assert await (await guard.spawn(["true"])).exited == 0

    play(scene, Guard(begun))
    assert took < 5 * 0.002


def test_on_windows_one_sentence_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(MooringError, match="Mooring cannot start programs on Windows yet"):
        Guard()


def test_a_guard_that_cannot_start_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(GuardLost, match="/nowhere/python"):
        Guard().begin()


CID = "c0ffee00" * 8
DOCKER = """#!/bin/sh
echo "$@" >> "$0.log"
[ "$1" = run ] || [ "$3" = run ] || exit 0
while [ $# -gt 0 ]; do [ "$1" = --cidfile ] && printf CID > "$2"; shift; done
trap '' TERM HUP
echo up
while :; do sleep 600; done
""".replace("CID", CID)


@pytest.mark.parametrize("options", [[], ["--context", "far"]])
@pytest.mark.parametrize("name", ["docker", "podman"])
def test_the_container_of_a_docker_run_is_removed(name: str, options: list[str], tmp_path: Path) -> None:
    script = tmp_path / name
    script.write_text(DOCKER)
    script.chmod(0o755)
    env = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}

    async def scene(guard: Guard) -> None:
        child = await guard.spawn([name, *options, "run", "-i", "image"], env=env)
        assert await read(child) == b"up\n"
        started = log(script)[0]
        assert started.startswith(" ".join([*options, "run --cidfile /"]))
        assert started.endswith("/cid -i image")
        await child.close(0.1, 0.1)
        assert log(script)[1:] == [" ".join([*options, f"rm -f {CID}"])]
        assert not Path(started.split()[len(options) + 2]).parent.exists()

    play(scene)


def test_a_cidfile_that_was_given_is_found_in_the_folder_of_its_program_and_kept(tmp_path: Path) -> None:
    script = tmp_path / "docker"
    script.write_text(DOCKER)
    script.chmod(0o755)
    cidfile = tmp_path / "mine"

    async def scene(guard: Guard) -> None:
        child = await guard.spawn([str(script), "run", "--cidfile", "./mine", "image"], cwd=str(tmp_path))
        await read(child)
        await child.close(0.1, 0.1)
        assert log(script)[1:] == [f"rm -f {CID}"]
        assert cidfile.exists()

    play(scene)


@pytest.mark.parametrize("content", [CID, "postgres-prod"])
def test_a_cidfile_that_was_there_before_removes_nothing(tmp_path: Path, content: str) -> None:
    script = tmp_path / "docker"
    script.write_text('#!/bin/sh\necho "$@" >> "$0.log"\necho up\nwhile :; do sleep 600; done\n')
    script.chmod(0o755)
    (tmp_path / "cid").write_text(content)

    async def scene(guard: Guard) -> None:
        child = await guard.spawn([str(script), "run", "--cidfile", str(tmp_path / "cid"), "image"])
        await read(child)
        await child.close(0.1, 0.1)
        assert log(script)[1:] == []
        assert (tmp_path / "cid").read_text() == content

    play(scene)


def test_a_name_in_the_place_of_an_id_removes_nothing(tmp_path: Path) -> None:
    script = tmp_path / "docker"
    script.write_text(DOCKER.replace(CID, "postgres-prod"))
    script.chmod(0o755)

    async def scene(guard: Guard) -> None:
        child = await guard.spawn([str(script), "run", "--cidfile", str(tmp_path / "cid"), "image"])
        await read(child)
        assert (tmp_path / "cid").read_text() == "postgres-prod"
        await child.close(0.1, 0.1)
        assert log(script)[1:] == []

    play(scene)


def log(script: Path) -> list[str]:
    return Path(f"{script}.log").read_text().splitlines()


def play(scene: Callable[[Guard], Awaitable[None]], guard: Guard | None = None) -> None:
    async def main() -> None:
        async with guard or Guard() as opened:
            await scene(opened)

    asyncio.run(main())


async def read(child: Child) -> bytes:
    """The next output of a child, b"" at its end."""
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(child.stdout, ready.set)
    await asyncio.wait_for(ready.wait(), 100)
    loop.remove_reader(child.stdout)
    return os.read(child.stdout, 65536)


def marked(nonce: str) -> list[int]:
    needle = f"MOORING_TEST={nonce}".encode()
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if needle in environ(pid)]


def environ(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def alive(pid: int) -> bool:
    """Whether a process is there and has not ended. In the middle of an exec, its environment reads as empty."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] not in "ZX"


def settled(look: Callable[[], Seen], wanted: Seen) -> Seen:
    """What is seen once it is what is wanted, or at the end of all patience."""
    deadline = time.monotonic() + 100
    while (seen := look()) != wanted and time.monotonic() < deadline:
        time.sleep(0.01)
    return seen
