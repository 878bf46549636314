"""Where the peers live: each lock file becomes one folder in `.cache/peers`, made once and kept while the lock is."""

import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).parent
CACHE = HERE.parents[1] / ".cache" / "peers"
LOCKS = [
    *sorted((HERE / "locks").glob("*.lock")),
    HERE.parents[1] / "locks" / "search.lock",
    HERE.parents[1] / "bench" / "peers" / "mcp-proxy.lock",
]
NPM = {
    "npm": (HERE, ["ci", "--ignore-scripts"]),
    "issuer": (HERE / "issuer", ["ci", "--ignore-scripts"]),
    "clients": (HERE / "clients", ["ci", "--ignore-scripts"]),
    "tools": (HERE / "tools", ["install"]),
    "readers": (HERE / "readers", ["ci", "--ignore-scripts"]),
}
"""The servers, the authorization server, and the coding tools that are asked what they have configured.

The tools come with a package for every platform, of which a registry need not have all, and `ci` would not have that;
some put their program in place by a script. The readers need neither.
"""
SOURCES = ("anthropic", "google-genai", "openai")
"""Libraries of providers whose source has replies that were recorded for their tests. No wheel has those."""
ADAPTERS = HERE.parent / "adapters"
ADAPTER_LOCKS = sorted((ADAPTERS / "locks").glob("*.lock"))
ADAPTER_NPM = {"pyright": (ADAPTERS, ["ci", "--ignore-scripts"])}
BACKENDS = HERE.parent / "backends"
BACKEND_LOCK = BACKENDS / "locks" / "backends.lock"
BACKEND_NPM = {"programs": (BACKENDS / "programs", ["install"])}
"""The programs behind the backends. As with the tools: one of them is put in place by a script."""
NODE = 20
AT_ONCE = 2


class CannotInstall(Exception):
    """A peer could not be installed; the message is for the person who wanted it."""


def python(room: str) -> str:
    """The interpreter of one environment, named for its lock."""
    return str(CACHE / room / "bin" / "python")


def node(package: str) -> list[str]:
    """The command of a server from npm."""
    return ["node", str(CACHE / "npm/node_modules/@modelcontextprotocol" / package / "dist/index.js")]


def tool(name: str, room: str = "tools") -> str:
    """The program of a coding tool."""
    return str(CACHE / room / "node_modules/.bin" / name)


def node_script(code: str, *words: str) -> list[str]:
    """The command that runs a script on the libraries of the readers."""
    import_from = CACHE / "readers" / "package.json"
    head = f"import {{ createRequire }} from 'node:module'; const load = createRequire({str(import_from)!r});"
    return ["node", "--input-type=module", "-e", f"{head} {code}", *words]


def source(library: str) -> Path:
    """The source of a provider's library."""
    [folder] = (path for path in (CACHE / _room_of_source(library)).iterdir() if path.is_dir())
    return folder


def _room_of_source(library: str) -> str:
    return f"source-{library}"


def mooring(room: str | None = None) -> str:
    """Our own program, or the one in an environment that has it."""
    folder = Path(sys.executable if room is None else python(room)).parent
    return str(folder / "mooring")


def install(say: Callable[[str], None], rooms: Collection[str] | None = None) -> None:
    """Make every environment of a peer, or those that are named, unless it is there and made from the same lock.

    Raises: CannotInstall.
    """
    npm = {room: source for room, source in NPM.items() if rooms is None or room in rooms}
    sources = [library for library in SOURCES if rooms is None or _room_of_source(library) in rooms]
    _make(say, npm, [lock for lock in LOCKS if rooms is None or lock.stem in rooms], sources)


def install_adapters(say: Callable[[str], None]) -> None:
    """Make the environment of each framework that there is an adapter for. Raises: CannotInstall."""
    _make(say, ADAPTER_NPM, ADAPTER_LOCKS)
    for lock in ADAPTER_LOCKS:
        [packages] = (CACHE / lock.stem / "lib").glob("python*/site-packages")
        (packages / "mooring.pth").write_text(str(HERE.parents[1] / "src"))


def install_backends(say: Callable[[str], None]) -> None:
    """Make the environment with the libraries of the backends, and fetch their programs. Raises: CannotInstall."""
    _make(say, BACKEND_NPM, [BACKEND_LOCK])
    if not Path(mooring("backends")).exists():
        pip = [sys.executable, "-m", "pip", "--python", python("backends")]
        _run(*pip, "install", "--no-deps", "--no-build-isolation", "-e", str(HERE.parents[1]))


def backend_programs() -> str:
    """The folders of the backends' programs and of their Node.js, as the beginning of a PATH."""
    modules = CACHE / "programs" / "node_modules"
    [node] = modules.glob("node-linux-*/bin")
    return os.pathsep.join(map(str, (modules / ".bin", node)))


def _make(
    say: Callable[[str], None],
    npm: Mapping[str, tuple[Path, list[str]]],
    locks: Sequence[Path],
    sources: Sequence[str] = (),
) -> None:
    if npm:
        _need_node()
    CACHE.mkdir(parents=True, exist_ok=True)
    with _alone(), ThreadPoolExecutor(AT_ONCE) as workers:
        made = [workers.submit(_install_npm, room, *source, say) for room, source in npm.items()]
        made += [workers.submit(_install_python, lock, say) for lock in locks]
        made += [workers.submit(_install_source, library, say) for library in sources]
        try:
            for each in as_completed(made):
                each.result()
        finally:
            workers.shutdown(cancel_futures=True)


@contextmanager
def _alone() -> Iterator[None]:
    with open(CACHE / ".lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _install_npm(name: str, folder: Path, verb: list[str], say: Callable[[str], None]) -> None:
    sources = [folder / "package.json", folder / "package-lock.json"]
    with _room(name, sources, say) as room:
        if room is None:
            return
        for source in sources:
            shutil.copy(source, room)
        _run("npm", *verb, "--no-audit", "--no-fund", cwd=room)


def _install_python(lock: Path, say: Callable[[str], None]) -> None:
    with _room(lock.stem, [lock], say) as room:
        if room is None:
            return
        _run(sys.executable, "-m", "venv", "--without-pip", str(room))
        pip = [sys.executable, "-m", "pip", "--python", str(room / "bin/python")]
        _run(*pip, "install", "--require-hashes", "-r", str(lock))


def _install_source(library: str, say: Callable[[str], None]) -> None:
    lock = HERE / "locks" / "providers.lock"
    with _room(_room_of_source(library), [lock], say) as room:
        if room is None:
            return
        wanted = room / "wanted.lock"
        wanted.write_text(_find_locked(library, lock.read_text()))
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", library]
        _run(*pip, "--require-hashes", "-r", str(wanted), "-d", str(room))
        [archive] = room.glob("*.tar.gz")
        with tarfile.open(archive) as packed:
            packed.extractall(room, filter="data")


def _find_locked(library: str, lock: str) -> str:
    """The lines of a lock that are about one library."""
    found = re.search(rf"^{library}==.*\n(?: .*\n)*", lock, re.MULTILINE)
    assert found is not None, library
    return found[0]


@contextmanager
def _room(name: str, sources: list[Path], say: Callable[[str], None]) -> Iterator[Path | None]:
    """An empty folder to fill, or nothing where it is full already; it counts as full when the block is left."""
    room, stamp = CACHE / name, CACHE / name / ".made-from"
    wanted = _hash(sources)
    if stamp.exists() and stamp.read_text() == wanted:
        yield None
        return
    say(f"installing {name} ...")
    began = time.monotonic()
    shutil.rmtree(room, ignore_errors=True)
    room.mkdir()
    yield room
    stamp.write_text(wanted)
    say(f"installing {name}: done in {time.monotonic() - began:.0f} s")


def _hash(sources: list[Path]) -> str:
    ground = f"{platform.machine()} {sys.executable} {sys.version}".encode()
    return hashlib.sha256(b"\0".join([ground, *(source.read_bytes() for source in sources)])).hexdigest()


def _need_node() -> None:
    if not (shutil.which("npm") and _node_version() >= NODE):
        raise CannotInstall(
            f"Servers from npm need Node.js {NODE} or newer with npm: install it from https://nodejs.org."
        )


def _node_version() -> int:
    try:
        said = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True).stdout
        return int(said.removeprefix("v").partition(".")[0])
    except (OSError, subprocess.CalledProcessError, ValueError):
        return 0


def _run(*command: str, cwd: Path | None = None) -> None:
    env = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    done = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        said = "\n".join((done.stdout + done.stderr).splitlines()[-20:])
        raise CannotInstall(f"{' '.join(command)} failed with exit code {done.returncode}:\n{said}")
