"""Opens a text in the person's own editor, and gives back what they made of it."""

import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from types import FrameType

from mooring import files
from mooring.errors import ConfigError
from mooring.process.surroundings import start_unguarded, surround

_NOT_FOUND = 127
# A shell's `exec` takes neither variables before a command nor two commands.
_MORE_THAN_A_COMMAND = r"[;&|<>()`]|^\s*\w+="
_SIGNALED = 128
"""Added to a signal's number in the exit code of a shell whose command it ended."""


@contextmanager
def open_editor(env: Mapping[str, str], name: str) -> Iterator[Callable[[str], str]]:
    """What has the person edit a text, in a file of that name, and returns it as they left it.

    The file is in a folder that only the person can look into; both are gone at the end, whatever happens.

    Raises: ConfigError if they name no editor.
    """
    editor = _find_editor(env)
    # An order to end becomes an exception, so that nothing is left behind: editors leave backups and swap files, too,
    # which hold the same secrets.
    with (
        _handle(_name_signals("SIGTERM", "SIGHUP"), _end),
        tempfile.TemporaryDirectory(prefix="mooring-", ignore_cleanup_errors=True) as folder,
    ):
        yield partial(_edit, env, editor, os.path.join(folder, name))


def _edit(env: Mapping[str, str], editor: str, path: str, text: str) -> str:
    """Raises: ConfigError if the editor could not be started, failed, or left no text."""
    files.write(path, text.encode(errors="surrogateescape"))
    code = _run(editor, path, env)
    if code:
        raise ConfigError(f"{_describe_end(editor, code)}, so nothing was changed.")
    data = files.read(path)
    if data is None:
        raise ConfigError(f"The editor {editor} left no file, so nothing was changed.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ConfigError("What the editor wrote is not UTF-8 text, so nothing was changed.") from None


def _find_editor(env: Mapping[str, str]) -> str:
    editor = env.get("VISUAL") or env.get("EDITOR")
    if not editor:
        raise ConfigError("Neither VISUAL nor EDITOR names your editor; for example: export EDITOR=nano")
    return editor


def _describe_end(editor: str, code: int) -> str:
    if code == _NOT_FOUND:
        return f"The editor {editor} (VISUAL or EDITOR) was not found"
    number = -code if code < 0 else code - _SIGNALED
    if number > 0:
        return f"The editor {editor} was ended by signal {number}"
    return f"The editor {editor} failed with exit code {code}"


def _run(editor: str, path: str, env: Mapping[str, str]) -> int:
    """Wait for the editor; its exit code."""
    # Beside its file: some editors run what the folder has that they are started in.
    surroundings = surround(env, os.path.dirname(path))
    # Ctrl+C is meant for the editor.
    with _handle(_name_signals("SIGINT", "SIGQUIT"), _ignore):
        process = start_unguarded(_make_command(editor, path), surroundings)
        try:
            return process.wait()
        except BaseException:
            process.terminate()
            process.wait()
            raise


def _make_command(editor: str, path: str) -> list[str]:
    if sys.platform == "win32":
        return [*editor.split(), path]
    # The variable may hold options, quotes and `~`, as for git: a shell reads it. A single command takes the place of
    # the shell; otherwise the shell outlives Ctrl+C, which it gets, too, and which ends some shells before the editor.
    first = "trap : INT QUIT;" if re.search(_MORE_THAN_A_COMMAND, editor) else "exec"
    return ["/bin/sh", "-c", f'{first} {editor} "$@"', editor, path]


def _end(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def _ignore(_: int, __: FrameType | None) -> None:
    """Not SIG_IGN, which the editor would inherit."""


def _name_signals(*names: str) -> list[signal.Signals]:
    # Windows has only some of them.
    return [signal.Signals[name] for name in names if name in signal.Signals.__members__]


@contextmanager
def _handle(numbers: Sequence[signal.Signals], handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    before = {number: signal.signal(number, handler) for number in numbers}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
