"""The environment and the folder of everything that is started in a person's name: one function makes them.

A shell's PATH may have folders such as `node_modules/.bin` or `.` in it, and PYTHONPATH may have `src`. What is found
there is whatever the folder has that the person works in: a clone's own `op`, `git` or `node`. So a program gets such
lists without their relative folders, unless its own definition sets the variable, which an approval shows.
"""

import os
from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from subprocess import Popen

FOLDER_LISTS = (
    "PATH", "PYTHONPATH", "NODE_PATH", "RUBYLIB", "PERL5LIB", "PERLLIB", "CLASSPATH", "GEM_PATH", "FPATH",
    "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "DYLD_FRAMEWORK_PATH",
)  # fmt: skip
"""Variables that list where programs and their code are found. An empty folder in one means the working folder."""


class ProgramSurroundings(Struct, frozen=True):
    """The environment and the folder of one program.

    Only `surround` makes one, and a test checks that: the guard starts nothing without one, and neither does
    `start_unguarded`, so no code can start a program in an environment that was not checked.
    """

    env: Mapping[str, str]
    cwd: str

    def __repr__(self) -> str:
        return f"<ProgramSurroundings in {self.cwd}>"  # the environment may hold secrets


def surround(env: Mapping[str, str], cwd: str, chosen: Container[str] = ()) -> ProgramSurroundings:
    """The surroundings of a program, from its whole environment.

    `chosen` are the variables that its definition sets, or that the person who typed the command means as they are.
    """
    checked = dict(env)
    for name in FOLDER_LISTS:
        if name in checked and name not in chosen:
            checked[name] = drop_relative_folders(checked[name])
            if not checked[name]:
                del checked[name]
    return ProgramSurroundings(checked, cwd)


def drop_relative_folders(folders: str) -> str:
    """A list of folders without those that depend on where a program runs."""
    return os.pathsep.join(filter(os.path.isabs, folders.split(os.pathsep)))


def start_unguarded(
    argv: Sequence[str],
    surroundings: ProgramSurroundings,
    *,
    detached: bool = False,
    is_fed: bool = False,
    is_read: bool = False,
) -> "Popen[bytes]":
    """Start a program that may outlive us: an editor, which has our terminal, or if `detached`, a browser without one.

    If `is_fed`, it reads what the caller writes; if `is_read`, the caller reads what it prints.

    Raises: OSError, ValueError.
    """
    import subprocess  # nothing that starts a server needs it

    pipe = subprocess.DEVNULL if detached else None
    return subprocess.Popen(
        argv,
        stdin=subprocess.PIPE if is_fed else pipe,
        stdout=subprocess.PIPE if is_read else pipe,
        stderr=pipe,
        start_new_session=detached,
        env=surroundings.env,
        cwd=surroundings.cwd,
    )


def feed_unguarded(argv: Sequence[str], surroundings: ProgramSurroundings, data: bytes, patience: float) -> bool:
    """Have a program read this, such as one that keeps the clipboard and may outlive us; whether it took it in time."""
    import subprocess

    try:
        program = start_unguarded(argv, surroundings, detached=True, is_fed=True)
    except (OSError, ValueError):
        return False
    try:
        program.communicate(data, patience)
    except (subprocess.TimeoutExpired, OSError):
        program.kill()
        program.wait()
        return False
    return program.returncode == 0


def read_unguarded(argv: Sequence[str], surroundings: ProgramSurroundings, patience: float) -> bytes | None:
    """What a program prints, such as one that has the clipboard; `None` if it fails, or takes longer than that."""
    import subprocess

    try:
        program = start_unguarded(argv, surroundings, detached=True, is_read=True)
    except (OSError, ValueError):
        return None
    with program:
        try:
            printed, _ = program.communicate(timeout=patience)
        except (subprocess.TimeoutExpired, OSError):
            program.kill()
            return None
    return printed if program.returncode == 0 else None
