"""What is asked of the guard: a program to start, held to what the system takes; and why it did not start, in words."""

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from mooring.errors import SpawnError
from mooring.process.guard.container import Container, contained


class Spawn(NamedTuple):
    """A program to start, as the system wants it: in bytes."""

    number: int
    argv: list[bytes]
    env: dict[bytes, bytes]
    cwd: bytes
    container: Container | None

    @property
    def message(self) -> tuple[Any, ...]:
        """The same in the words of the guard."""
        return "spawn", *self[:-1], self.container and self.container.parts

    def failed(self, stage: str, code: int, path: str) -> SpawnError:
        """Why it could not be started, from where that went wrong, the number of the error and the file in question."""
        command, cwd = os.fsdecode(self.argv[0]), os.fsdecode(self.cwd)
        search = os.fsdecode(self.env.get(b"PATH", os.fsencode(os.defpath)))
        reason = _REASONS.get((stage, code), f"{{command!r}} could not be started: {os.strerror(code)}.")
        return _refused(reason.format(command=command, cwd=cwd, path=path, PATH=search), command, cwd, code)


def request(number: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Spawn:
    """Ask for this program.

    Raises:
        SpawnError: no system could start it.
    """
    command, folder = argv[0] if argv else "", cwd or "."
    try:
        folder = os.path.abspath(folder)
        argv, container = contained(list(argv))
    except OSError as error:
        raise _refused(f"{command!r} could not be prepared: {error}.", command, folder, error.errno or 0) from error
    coding = sys.getfilesystemencoding(), "surrogateescape"  # as os.fsencode, in a fifth of the time
    try:
        words = [word.encode(*coding) for word in argv]
        variables = {name.encode(*coding): value.encode(*coding) for name, value in env.items()}
        folder.encode(*coding)
    except UnicodeEncodeError:
        reason = f"{command!r} cannot be started: its command, arguments, folder or environment hold half a character."
        raise _refused(reason, command, folder, errno.EINVAL) from None
    _check(command, folder, words, variables)
    return Spawn(number, words, variables, os.fsencode(folder), container)


def _check(command: str, cwd: str, words: list[bytes], variables: dict[bytes, bytes]) -> None:
    if not command:
        raise _refused("There is no command to start: name one.", command, cwd, errno.EINVAL)
    if b"\0" in b"".join([*words, os.fsencode(cwd), *variables, *variables.values()]):
        reason = f"{command!r} cannot be started with a NUL character in its arguments, folder or environment."
        raise _refused(reason, command, cwd, errno.EINVAL)
    for name in variables:
        if not name or b"=" in name:
            reason = f"{command!r} cannot be started: {os.fsdecode(name)!r} cannot be the name of a variable."
            raise _refused(reason, command, cwd, errno.EINVAL)


_REASONS: Final = {
    ("cwd", errno.ENOENT): "The folder {cwd} for {command!r} does not exist: create it or correct `cwd`.",
    ("cwd", errno.ENOTDIR): "{cwd} is not a folder, so {command!r} cannot start there: correct `cwd`.",
    ("cwd", errno.EACCES): "The folder {cwd} for {command!r} may not be entered: correct `cwd` or its mode.",
    ("search", errno.ENOENT): "{command!r} is in no folder of PATH ({PATH}): install it or give its full path.",
    ("search", errno.EACCES): "{path} is on PATH but not executable: `chmod +x` it, or give another full path.",
    ("interpreter", errno.ENOENT): "{path} asks in its first line for an interpreter that does not exist: install it.",
    ("exec", errno.ENOENT): "{path} does not exist: correct the command.",
    ("exec", errno.EACCES): "{path} is not an executable file: `chmod +x` it or correct the command.",
    ("exec", errno.ENOEXEC): "{path} is no program and has no `#!` line: put its interpreter before it.",
    ("exec", errno.E2BIG): "{command!r} has more arguments and environment than the system takes: shorten them.",
}


def _refused(reason: str, command: str, cwd: str, code: int) -> SpawnError:
    return SpawnError(reason, command=command, cwd=cwd, code=code, cause=errno.errorcode.get(code, str(code)))
