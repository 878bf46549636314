"""libedit for the tests of typing: Python's own module `readline` with it in place of GNU's, as Python has it on macOS.

It is the machine's own if there is one, and else Debian's, kept in `.cache/libedit`. Whatever is missing fails the test
with what to install: without libedit nothing would tell that typing on macOS still works.
"""

import ctypes.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CACHE = Path(__file__).resolve().parents[2] / ".cache" / "libedit"
PACKAGES = ("libedit2", "libbsd0", "libmd0")
"""libedit and what it needs itself, as Debian has them."""
INSTALL = "apt-get install gcc libedit2"


def build_libedit(folder: Path) -> dict[str, str]:
    """Make a library that Python takes for GNU's in a new folder; the variables that have it used."""
    if _name_editor({}) == "libedit":
        return {}
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.fail(f"The tests of typing need a C compiler and libedit. Install them: {INSTALL}")
    folder.mkdir()
    libedit = _find_libedit()
    # The one function of GNU's library that libedit lacks; it is called after a signal.
    (folder / "more.c").write_text("void rl_callback_sigcleanup(void) {}\n")
    build = [compiler, "-shared", "-fPIC", "-o", "libreadline.so.8", "more.c", "-Wl,--no-as-needed", *libedit]
    subprocess.run(build, cwd=folder, check=True)
    variables = {"LD_LIBRARY_PATH": os.pathsep.join((str(folder), str(CACHE)))}
    if _name_editor(variables) != "libedit":
        pytest.fail(
            f"{sys.executable} brings its own editor of lines. Use a Python that loads the system's libreadline."
        )
    return variables


def _name_editor(variables: dict[str, str]) -> str:
    """The library behind the module `readline`, as a Python with these variables has it."""
    ask = "import readline; print('libedit' if 'libedit' in readline.__doc__ else 'GNU')"
    found = subprocess.run([sys.executable, "-c", ask], env=variables, capture_output=True, text=True, check=False)
    return found.stdout.strip()


def _find_libedit() -> list[str]:
    """How the linker finds libedit."""
    library = ctypes.util.find_library("edit")
    if library is not None:
        return [f"-l:{library}"]
    if not CACHE.exists():
        _install_libedit()
    return [f"-L{CACHE}", "-l:libedit.so.2", f"-Wl,-rpath-link,{CACHE}"]


def _install_libedit() -> None:
    """Unpack Debian's packages in a folder of our own: nothing of the machine is changed."""
    unpacked = CACHE.with_name(f"libedit-{os.getpid()}")
    unpacked.mkdir(parents=True)
    try:
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=unpacked, check=True, capture_output=True)
        for package in unpacked.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, unpacked], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        shutil.rmtree(unpacked)
        pytest.fail(f"libedit is missing, and Debian's cannot be had ({error}). Install it: {INSTALL}")
    for library in [*unpacked.rglob("*.so.*")]:
        shutil.move(library, unpacked / library.name)
    # Another test may have been faster.
    if CACHE.exists():
        shutil.rmtree(unpacked)
    else:
        unpacked.rename(CACHE)
