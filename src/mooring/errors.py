"""Every error that leaves a room of Mooring, in one tree.

MooringError
├── ConfigError          something configured, or written on the command line, cannot be used
│   ├── FileError        a file that cannot be read or written
│   └── ParseError       a text that is not what its format says it is
└── UnknownServer        no server goes by that name

Each message is a sentence that names what, where and, if there is one, the way out.
"""

from collections.abc import Sequence


class MooringError(Exception):
    """The root: catch this to catch everything Mooring raises on purpose."""


class ConfigError(MooringError):
    """Something configured cannot be used."""


class FileError(ConfigError):
    """A file that cannot be read or written; `reason` says why without the path."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class ParseError(ConfigError):
    """A text that is not what its format says; never quotes the text, which may hold secrets."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason if line is None else f"line {line}: {reason}")
        self.reason = reason
        self.line = line


class UnknownServer(MooringError):
    """No server goes by that name; `near` holds the names that come closest."""

    def __init__(self, name: str, near: Sequence[str] = ()) -> None:
        guess = f" Did you mean {' or '.join(near)}?" if near else " `mooring mcp list` shows the known ones."
        super().__init__(f"No server is called {name!r}.{guess}")
        self.name = name
        self.near = tuple(near)


class SpawnError(MooringError):
    """A program that could not be started; `cause` is the system's name for why, such as ENOENT."""

    def __init__(self, reason: str, *, command: str, cwd: str, code: int, cause: str) -> None:
        super().__init__(reason)
        self.command = command
        self.cwd = cwd
        self.code = code
        self.cause = cause


class GuardLost(MooringError):
    """The guard, which keeps the processes of servers, ended on its own; every server it kept has ended too."""
