"""The shell that OpenCode is told to use: it runs the commands that were permitted, each once, and no others.

OpenCode wants no permission for a command line in which it finds no command: `> file`, `cd . > file`. So what it is
given for a shell looks first whether this command was permitted in this folder. Each conversation has one of its own,
in a folder that no agent's tools for files can write to.
"""

import os
import shutil
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from shlex import quote
from typing import Final

from mooring.backends.opencode import permitted
from mooring.backends.opencode.own_config import read_own_shell
from mooring.backends.opencode.permitted import REFUSAL, describe_run
from mooring.errors import FileError
from mooring.files import create, make_private_folder, which
from mooring.process.surroundings import drop_relative_folders

_UNFIT: Final = frozenset({"fish", "nu"})
"""Shells that OpenCode doesn't use for commands."""
_OLDEST: Final = 30 * 86_400
"""Seconds after which what a conversation left behind that was killed is removed."""


class PermittedShell:
    """The shell of one running OpenCode. `make_shell` makes one."""

    def __init__(self, folder: str, path: str, cwd: str) -> None:
        self.path = path
        """What OpenCode is to use."""
        self._folder = folder
        self._cwd = cwd
        self._permitted: dict[str, str] = {}
        """The calls of this turn that may run something, each with its file."""

    def permit(self, call_id: str, command: str, folder: str) -> None:
        """Let one call run its command once, in a folder that is relative to OpenCode's.

        Raises: FileError if that can't be written down.
        """
        if call_id in self._permitted:
            return  # asked about more than once, and run once
        place = os.path.realpath(os.path.join(self._cwd, folder))
        path = f"{self._folder}/{os.urandom(8).hex()}"
        create(path, [describe_run(os.fsencode(place), os.fsencode(command))])
        self._permitted[call_id] = path

    def withdraw(self, call_id: str) -> None:
        """Have a call run nothing any more: it was refused, or it ended."""
        path = self._permitted.get(call_id)
        if path is not None:
            with suppress(FileNotFoundError):
                os.unlink(path)

    def is_refused(self, call_id: str, output: str) -> bool:
        """Whether a command was not run, by what came of it."""
        return call_id not in self._permitted and output.strip() == REFUSAL

    def end_turn(self) -> None:
        """Forget what was permitted."""
        for call_id in self._permitted:
            self.withdraw(call_id)
        self._permitted.clear()

    def close(self) -> None:
        shutil.rmtree(os.path.dirname(self._folder), ignore_errors=True)


def make_shell(cache: str, env: Mapping[str, str], cwd: str) -> PermittedShell | None:
    """A shell for one OpenCode; `None` where none can be made: then OpenCode uses its own."""
    real = find_real_shell(env)
    base = f"{cache}/shells"
    own = f"{base}/{os.urandom(8).hex()}"
    # OpenCode tells the model which shell it has, by the name of the file.
    path = f"{own}/{os.path.basename(real)}"
    folder = f"{own}/permitted"
    try:
        _remove_old(base)
        make_private_folder(folder)
        create(path, [_write_script(folder, real).encode()])
        os.chmod(path, 0o700)
    except (FileError, OSError):
        return None
    if not os.access(path, os.X_OK):
        # A file system from which nothing may be run.
        shutil.rmtree(own, ignore_errors=True)
        return None
    return PermittedShell(folder, path, cwd)


def find_real_shell(env: Mapping[str, str]) -> str:
    """The shell that OpenCode would use by itself, but never a program of the folder that it works in."""
    wanted = read_own_shell(env) or env.get("SHELL", "")
    search = drop_relative_folders(env.get("PATH", ""))
    is_fit = os.path.basename(wanted).lower() not in _UNFIT
    found = which(wanted, search, "/") if wanted and is_fit else None
    return found or which("bash", search, "/") or "/bin/sh"


def _write_script(folder: str, real: str) -> str:
    words = (sys.executable, "-I", "-S", permitted.__file__, folder, real)
    return f'#!/bin/sh\nexec {" ".join(map(quote, words))} "${{LC_CTYPE+=$LC_CTYPE}}" "$@"\n'


def _remove_old(base: str) -> None:
    with suppress(OSError):
        for entry in os.scandir(base):
            permissions = os.path.join(entry.path, "permitted")
            if time.time() - os.stat(permissions).st_mtime > _OLDEST:
                shutil.rmtree(entry.path, ignore_errors=True)
