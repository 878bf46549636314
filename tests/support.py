"""What tests share: sample homes laid out in a folder of their own, and the command line run in one of them."""

import asyncio
import fcntl
import json
import os
import selectors
import shutil
import statistics
import struct
import sys
import termios
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mooring.cli.app import run
from mooring.core.definitions.paths import Paths, Workspace
from mooring.host.host import Host
from mooring.inventory.load import Inventory, load
from mooring.servers.server import Server

try:
    from warm import MOORING as MOORING
    from warm import RECORD_OPENED, WATCHED, run_mooring, start_mooring
except ModuleNotFoundError:  # loaded as a part of `tests`, by the suites that are programs of their own
    from tests.warm import MOORING as MOORING
    from tests.warm import RECORD_OPENED, WATCHED, run_mooring, start_mooring

HOMES = Path(__file__).parent / "homes"
ACTOR = str(Path(__file__).parent / "flow" / "actor.py")
NO_KEYRING = "keyring.backends.fail.Keyring"
"""What the package `keyring` has where a system has none."""
ROOT = Path(__file__).parents[1]


def install_command(extra: str) -> str:
    """What adds an extra to the clone that the tests run in."""
    return f"{sys.executable} -m pip install -e '{ROOT}[{extra}]'"


DEMO = {"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]}


def take_record_openings() -> list[str]:
    """Who opened the record of conversations since the last look."""
    if not RECORD_OPENED.exists():
        return []
    found = RECORD_OPENED.read_text().splitlines()
    RECORD_OPENED.unlink()
    return found


@contextmanager
def umask(bits: int) -> Iterator[None]:
    before = os.umask(bits)
    try:
        yield
    finally:
        os.umask(before)


class Home:
    """A sample home on disk: a person's folder, a project, and the machine's own files."""

    def __init__(self, folder: Path, sample: Path | None = None) -> None:
        self.folder = folder
        if sample is not None:
            shutil.copytree(sample, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("expected.json"))
        for name in ("home", "project/.git", "system"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        for path in folder.rglob("*.*"):
            if path.is_file():
                path.write_bytes(path.read_bytes().replace(b"$PROJECT", str(self.project).encode()))

    @property
    def home(self) -> Path:
        return self.folder / "home"

    @property
    def project(self) -> Path:
        return self.folder / "project"

    @property
    def cwd(self) -> Path:
        below = self.project / "sub"
        return below if below.is_dir() else self.project

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": "/usr/bin:/bin", "GITHUB_TOKEN": "canary-environment"}

    @property
    def where(self) -> Paths:
        return Paths(str(self.home), self.env, "linux", str(self.folder / "system"))

    def write(self, path: str, content: str | bytes | Any) -> Path:
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        text = content if isinstance(content, str | bytes) else json.dumps(content)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())
        return target

    def configure(self, **servers: Any) -> None:
        """Make these the person's own servers."""
        self.write("home/.mcp.json", {"mcpServers": servers})

    def request(self, **changes: Any) -> Workspace:
        return msgspec.structs.replace(Workspace(self.where, str(self.cwd)), **changes)

    def inventory(self, *, remember: bool = True, **changes: Any) -> Inventory:
        return load(self.request(**changes), remember=remember)

    def shorten(self, path: Path) -> str:
        """A path as messages have it."""
        return str(path).replace(str(self.home), "~")

    def neutral(self, value: Any) -> Any:
        """The same data with this machine's folders named `$HOME`, `$PROJECT` and `$SYSTEM`."""
        text = json.dumps(msgspec.to_builtins(value))
        for name in ("home", "project", "system"):
            text = text.replace(str(self.folder / name), f"${name.upper()}")
        return json.loads(text)


class Actor:
    """The script of one acting server, and what it has done so far."""

    def __init__(self, path: Path, **script: Any) -> None:
        self.path = path
        self.tell(**script)

    def tell(self, **script: Any) -> None:
        self.path.write_text(json.dumps(script))

    @property
    def entry(self) -> dict[str, Any]:
        return {"command": sys.executable, "args": ["-S", ACTOR, str(self.path)]}

    def done(self, kind: str) -> list[str]:
        file = Path(f"{self.path}.{kind}")
        return file.read_text().split() if file.exists() else []


class Result:
    """How a command ended and what it printed."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def data(self) -> Any:
        return json.loads(self.out)


class Cli:
    """The command line, run inside this process with a sample home around it."""

    def __init__(self, home: Home, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
        self.home, self.capfd = home, capfd
        for name in list(os.environ):
            monkeypatch.delenv(name)
        for name, value in home.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", NO_KEYRING)
        monkeypatch.chdir(home.cwd)

    def __call__(self, *args: str) -> Result:
        self.capfd.readouterr()
        code = run(list(args))
        printed = self.capfd.readouterr()
        return Result(code, printed.out, printed.err)


def run_beside(home: Home, *words: str, real: bool = False, **env: str) -> Result:
    """The command line as a process of its own: a warm one, unless it shall be `real`."""
    done = run_mooring(*words, cwd=home.cwd, env={**home.env, **WATCHED, **env}, real=real)
    return Result(done.returncode, done.stdout, done.stderr)


class Pauses:
    """The waits of a host between two looks, which take next to no time."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.asked.append(seconds)
        await asyncio.sleep(0.01)


class Swift(asyncio.SelectorEventLoop):
    """A loop on which nobody waits: its clock stands still, and where nothing is ready jumps to what is due next.

    For tests whose other side is in memory: their deadlines are exact however busy the machine is.
    """

    def __init__(self) -> None:
        self._now = 0.0
        super().__init__(_Impatient(self._skip))

    def time(self) -> float:
        return self._now

    async def shutdown_default_executor(self, *_: object) -> None:
        """Without a limit: threads end by a clock that stands for nobody, and this one would jump to the limit."""
        await super().shutdown_default_executor()

    def _skip(self, seconds: float) -> None:
        self._now += seconds


class _Impatient(selectors.DefaultSelector):
    def __init__(self, skip: Callable[[float], None]) -> None:
        super().__init__()
        self._skip = skip

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = super().select(0 if timeout else timeout)
        if timeout and not ready:
            self._skip(timeout)
        return ready


FIXED_WORK_SECONDS = 0.0015
"""What `_do_fixed_work` takes where the bounds of tests were set."""


def is_within(seconds: float, bound: float) -> bool:
    """Whether a time of the processor is within a bound, on a machine that is slow or busy now as much later.

    What shares a core with others is slowed down by them, in its own time of the processor too: by how much is seen
    from a fixed piece of work.
    """
    return seconds < bound or seconds < bound * _find_slowness()


def _find_slowness() -> float:
    took = timeit.repeat(_do_fixed_work, timer=time.thread_time, number=1, repeat=20)
    return max(1.0, statistics.median(took) / FIXED_WORK_SECONDS)


def _do_fixed_work() -> None:
    text = "".join(map(str, range(2_000)))
    counts: dict[str, int] = {}
    for place in range(4_000):
        counts[text[place : place + 3]] = counts.get(text[place : place + 3], 0) + place


class Memory:
    """How much larger this process was at its largest than at the beginning, in bytes.

    Not `ru_maxrss`: that remembers the largest it ever was, which in a worker was some other test.
    """

    def __init__(self) -> None:
        Path("/proc/self/clear_refs").write_text("5")
        self._before = self._largest()

    @property
    def grown(self) -> int:
        return self._largest() - self._before

    def _largest(self) -> int:
        status = Path("/proc/self/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024


def live_server(host: Host, name: str) -> Server:
    """The server behind a name, for what a program cannot do: have it act without the gate."""
    return host._runtime.lookup.server(name)


def running(nonce: str) -> list[str]:
    """The processes that have this in their environment."""
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and nonce.encode() in _environ(pid)]


def _environ(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def run_at_terminal(home: Home, *words: str, cells: int = 0, real: bool = False) -> tuple[str, int]:
    """Run `mooring` at a terminal of that width; what it showed, and how it ended."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, cells, 0, 0))
    process = start_mooring(words, cwd=home.cwd, env=home.env, real=real, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    shown = b""
    while data := read_terminal(master):
        shown += data
    os.close(master)
    return shown.decode(), process.wait(100)


def read_terminal(master: int) -> bytes:
    """What a terminal shows next; nothing once nobody has its other end any more."""
    # Linux may say that the other end is closed just before it hands over what was written last.
    for _ in range(2):
        try:
            return os.read(master, 65536)
        except OSError:
            continue
    return b""
