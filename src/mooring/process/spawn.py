"""A program to start: prepared for the guard, and the reason in words if it did not start."""

import errno
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from mooring.core.definitions.command import suggest_args, suggest_install
from mooring.errors import SpawnError
from mooring.process.guard.container import Container, add_cidfile

_REASONS: Final = {
    ("cwd", errno.ENOENT): "The folder {cwd} for {command!r} does not exist: create it or correct `cwd`.",
    ("cwd", errno.ENOTDIR): "{cwd} is not a folder, so {command!r} cannot start there: correct `cwd`.",
    ("cwd", errno.EACCES): "The folder {cwd} for {command!r} cannot be entered: correct `cwd` or its mode.",
    ("search", errno.EACCES): "{path} is on PATH but not executable: `chmod +x` it, or give another full path.",
    ("interpreter", errno.ENOENT): "The first line of {path} names an interpreter that does not exist: install it.",
    ("exec", errno.ENOENT): "{path} does not exist: correct the command.",
    ("exec", errno.EACCES): "{path} is not an executable file: `chmod +x` it or correct the command.",
    ("exec", errno.ENOEXEC): "{path} is not a program and has no `#!` line: put its interpreter before it.",
    ("exec", errno.E2BIG): "{command!r} has more arguments and environment than the system accepts: shorten them.",
}
"""By the stage in which the guard failed (see `guard.start`) and the number of the system's error."""


class Spawn(NamedTuple):
    """A program to start, in bytes as the system wants it."""

    number: int
    argv: list[bytes]
    env: dict[bytes, bytes]
    cwd: bytes
    container: Container | None

    @property
    def message(self) -> tuple[Any, ...]:
        """The request to the guard."""
        return "spawn", *self[:-1], self.container and self.container.parts

    def error(self, stage: str, code: int, path: str) -> SpawnError:
        """Why it did not start: the stage that failed, the system's error number, and the file in question."""
        command = os.fsdecode(self.argv[0])
        cwd = os.fsdecode(self.cwd)
        if code == errno.ENOENT and stage in ("search", "exec") and (split := suggest_args(command)):
            return _spawn_error(f"{command!r} has its arguments in the same text: {split}.", command, cwd, code)
        if (stage, code) == ("search", errno.ENOENT):
            return _spawn_error(f"{command!r} is not on PATH", command, cwd, code, fix=suggest_install())
        reason = _REASONS.get((stage, code), f"{{command!r}} could not be started: {os.strerror(code)}.")
        return _spawn_error(reason.format(command=command, cwd=cwd, path=path), command, cwd, code)


def prepare_spawn(number: int, argv: Sequence[str], env: Mapping[str, str], cwd: str | None) -> Spawn:
    """Check a program and make it ready for the guard.

    Raises:
        SpawnError: no system could start it.
    """
    command = argv[0] if argv else ""
    folder = cwd or "."
    try:
        folder = os.path.abspath(folder)
        argv, container = add_cidfile(list(argv), folder)
    except OSError as error:
        reason = f"{command!r} could not be prepared: {error}."
        raise _spawn_error(reason, command, folder, error.errno or 0) from error
    coding = sys.getfilesystemencoding(), "surrogateescape"  # like os.fsencode, in a fifth of the time
    try:
        words = [word.encode(*coding) for word in argv]
        variables = {name.encode(*coding): value.encode(*coding) for name, value in env.items()}
        folder.encode(*coding)
    except UnicodeEncodeError:
        reason = f"{command!r} cannot start: its command, arguments, folder or environment has an invalid character."
        raise _spawn_error(reason, command, folder, errno.EINVAL) from None
    _check(command, folder, words, variables)
    return Spawn(number, words, variables, os.fsencode(folder), container)


def _check(command: str, cwd: str, words: list[bytes], variables: dict[bytes, bytes]) -> None:
    # Refused here, because posix_spawn raises ValueError for these and the guard would die of it.
    if not command:
        raise _spawn_error("There is no command to start.", command, cwd, errno.EINVAL)
    everything = [*words, os.fsencode(cwd), *variables, *variables.values()]
    if b"\0" in b"".join(everything):
        reason = f"{command!r} cannot be started with a NUL character in its arguments, folder or environment."
        raise _spawn_error(reason, command, cwd, errno.EINVAL)
    for name in variables:
        if not name or b"=" in name:
            reason = f"{command!r} cannot be started: {os.fsdecode(name)!r} is not a valid variable name."
            raise _spawn_error(reason, command, cwd, errno.EINVAL)


def _spawn_error(reason: str, command: str, cwd: str, code: int, fix: str = "") -> SpawnError:
    cause = errno.errorcode.get(code, str(code))
    return SpawnError(reason, fix=fix, command=command, cwd=cwd, code=code, cause=cause)
