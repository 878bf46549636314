"""What has to be there before anything is measured: the server, compiled, and each peer in an environment of its own.

All of it is kept in `.cache/bench` and made anew only when its sources change.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
CACHE = ROOT / ".cache" / "bench"
SERVER = CACHE / "server"
NODE = CACHE / "node"


class Missing(Exception):
    """Something that this machine must have first: the message says what to install."""


def build_server() -> None:
    """Raises: Missing."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        raise Missing("The benchmark's server is written in C: install a C compiler (Debian: apt-get install gcc).")
    source = HERE / "server.c"
    flags = ["-O2", "-Wall", "-Wextra", "-std=c11", "-D_POSIX_C_SOURCE=200809L"]
    _once("server", [source], lambda: _run([compiler, *flags, "-o", str(SERVER), str(source)]))


def build_python(peer: str) -> None:
    """The environment of a peer in Python, from its lock file."""
    lock, folder = HERE / "peers" / f"{peer}.lock", CACHE / peer

    def build() -> None:
        _run([sys.executable, "-m", "venv", "--clear", str(folder)])
        pip = [str(folder / "bin/python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        # A lock file names all there is: without --no-deps pip refuses an extra such as `pydantic[email]` as unpinned.
        _run([*pip, "--require-hashes", "--no-deps", "-r", str(lock)])

    _once(peer, [lock], build)


def build_node() -> None:
    """The packages of the peers on Node, and our scripts beside them, where they are found.

    Raises: Missing.
    """
    if shutil.which("npm") is None:
        raise Missing("Some peers run on Node: install Node 20 or newer with npm, or measure with --quick.")
    sources = [HERE / "peers" / name for name in ("package.json", "package-lock.json")]
    NODE.mkdir(parents=True, exist_ok=True)

    def build() -> None:
        for source in sources:
            shutil.copy(source, NODE)
        _run(["npm", "ci", "--prefix", str(NODE), "--no-audit", "--no-fund", "--loglevel=error"])

    _once("node", sources, build)
    for script in (HERE / "drivers").glob("*.mjs"):
        shutil.copy(script, NODE)


def python_of(peer: str) -> str:
    return str(CACHE / peer / "bin/python")


def locked(peer: str, package: str) -> str:
    """The version of a package that a peer's lock file names."""
    found = re.search(rf"^{package}==(\S+)", (HERE / "peers" / f"{peer}.lock").read_text(), re.M)
    return found[1] if found else "?"


def _once(name: str, sources: list[Path], build: Callable[[], None]) -> None:
    """Build unless that was done from the same sources."""
    CACHE.mkdir(parents=True, exist_ok=True)
    mark = CACHE / f"{name}.built"
    digest = sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    if mark.exists() and mark.read_text() == digest:
        return
    sys.stderr.write(f"setting up {name} (once) ...\n")
    build()
    mark.write_text(digest)


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Missing(f"{' '.join(command[:4])} … failed:\n{(done.stderr or done.stdout)[-2000:]}")
