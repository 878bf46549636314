"""What every command shares: the global options, exit codes and printing."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from mooring.core.definitions.paths import Workspace, here
from mooring.display.tables import cut_columns, wrap_columns
from mooring.display.text import Style, paint, wrap_words
from mooring.errors import ConfigError
from mooring.verbs.parse import UsageError
from mooring.verbs.verb import LineStyle, Shown, ShownTable

if TYPE_CHECKING:
    from mooring.core.conversation.verdict import CommandPermissions, Rule
    from mooring.inventory.load import Inventory
    from mooring.process.programs import Guard

# Exit codes, which other programs rely on. UNHEALTHY is also the code of a tool that says it failed, USAGE also that of
# a wrong configuration.
OK, UNHEALTHY, USAGE, LOGIN, DENIED, TIMEOUT = 0, 1, 2, 3, 4, 5


NO_SERVERS = "No MCP servers are configured here; `mooring mcp list` shows how to add one."


class Globals(msgspec.Struct):
    """The global options, wherever they were on the command line."""

    cwd: str | None = None
    no_project: bool = False
    demo: bool = False
    configs: tuple[str, ...] = ()
    json: bool = False
    quiet: bool = False
    verbose: bool = False
    late: tuple[str, ...] = ()
    """The options behind a command's first word, as they were typed: a tool's own parameter may have been meant."""
    begun: Any = None
    """The guard that was started ahead for the servers of this command."""
    pause_progress: Callable[[], AbstractContextManager[None]] = nullcontext
    """Takes the line that shows progress away while a person is asked something."""
    clear_progress: Callable[[], None] = lambda: None
    """Clears the line that shows progress, so that a warning does not end up behind it."""

    @property
    def project(self) -> bool:
        """Whether the project's files count."""
        return not self.no_project

    def inventory(self, *, remember: bool = True) -> "Inventory":
        """Read the configuration; without `remember`, nothing is written."""
        # Loaded here: it takes a twentieth of the time of a command that reads no files.
        from mooring.inventory.load import load

        return load(self.workspace(), remember=remember)

    def workspace(self) -> Workspace:
        """What to look at: the machine, the folder and the files. Raises: ConfigError."""
        return Workspace(here(os.environ), self._find_folder(), self.project, self.demo, self.configs)

    def _find_folder(self) -> str:
        try:
            folder = os.path.abspath(self.cwd or os.curdir)
        except FileNotFoundError:  # the shell's own folder was deleted
            raise ConfigError("The current folder no longer exists; name another with --cwd.") from None
        if not os.path.isdir(folder):
            raise ConfigError(f"{self.cwd} is not a folder; --cwd takes the folder to look from.")
        return folder


def make_guard(options: Globals) -> "Guard | None":
    """The guard that was started before anything else was loaded, if there is one."""
    from mooring.process.programs import Guard  # most commands start nothing

    return None if options.begun is None else Guard(options.begun)


def pop_permissions(given: dict[str, Any]) -> "CommandPermissions":
    """Take the options for permissions out of all that were given. Raises: ConfigError."""
    from mooring.core.conversation.verdict import CommandPermissions  # few commands have these options

    deny, allow, mode, skip = (given.pop(key) for key in ("deny", "allow", "mode", "skip"))
    if skip:
        if mode not in (None, "bypass"):
            raise UsageError("--dangerously-skip-permissions is --permission-mode bypass; give one of them.")
        mode = "bypass"
    return CommandPermissions(_parse_rules(deny, allow), mode)


def _parse_rules(deny: Sequence[str], allow: Sequence[str]) -> "tuple[Rule, ...]":
    if not deny and not allow:
        return ()
    # Loaded here: most calls give no rules, and the parser is not needed for anything else.
    from mooring.permissions.rule import parse_rule

    # Within a level the first match wins, so what is denied comes first.
    denied = [parse_rule(text, "deny") for text in deny]
    allowed = [parse_rule(text, "allow") for text in allow]
    return (*denied, *allowed)


def is_on_terminal() -> bool:
    """Whether there is a person to talk to."""
    return are_terminals(sys.stdin, sys.stdout)


def are_terminals(*streams: TextIO | None) -> bool:
    """Whether each of the streams is open and leads to a terminal."""
    return all(stream is not None and stream.isatty() for stream in streams)


def echo(text: str | bytes = "", *, err: bool = False, end: str = "\n") -> None:
    """Print a text, or bytes as they are, at once."""
    stream = sys.stderr if err else sys.stdout
    if isinstance(text, bytes) and hasattr(stream, "buffer"):
        stream.flush()
        stream.buffer.write(text + end.encode())
    else:
        stream.write(f"{text.decode() if isinstance(text, bytes) else text}{end}")
    stream.flush()


_LOOKS: Mapping[LineStyle, Style] = {
    "title": "bold",
    "good": "green",
    "waiting": "cyan",
    "doubtful": "yellow",
    "bad": "red",
    "dim": "dim",
}


def _style(text: str, style: LineStyle, *, err: bool = False) -> str:
    """The text as a style looks, if there is a terminal that shows colors."""
    return paint(text, _LOOKS[style]) if style in _LOOKS and _shows_colors(err=err) else text


def _shows_colors(*, err: bool) -> bool:
    stream = sys.stderr if err else sys.stdout
    if not stream.isatty() or os.environ.get("NO_COLOR"):
        return False
    if sys.platform == "win32":
        # Its old console shows the codes themselves.
        return "WT_SESSION" in os.environ
    return os.environ.get("TERM") != "dumb"


def print_json(value: Any) -> None:
    """Print data on stdout as pure ASCII, so that no text in it can break a terminal or an encoding."""
    import json  # msgspec cannot escape what is not ASCII

    echo(json.dumps(msgspec.to_builtins(value), indent=2))


def find_width(*, err: bool = False) -> int | None:
    """The width of the terminal; `None` if it is unknown or the output goes elsewhere: nothing is wrapped or cut."""
    stream = sys.stderr if err else sys.stdout
    return os.get_terminal_size(stream.fileno()).columns or None if stream.isatty() else None


def say(text: str = "", style: LineStyle = "plain", *, err: bool = False) -> None:
    """Print a text for a person; on a terminal, lines that are too long are broken between words."""
    cells = find_width(err=err)
    for line in text.split("\n"):
        for part in wrap_words(line, cells):
            echo(_style(part, style, err=err), err=err)


def tell(text: str, style: LineStyle = "plain") -> None:
    """Print a line on stderr; if even that cannot be written, the exit code still says how it ended."""
    with suppress(OSError):
        say(text, style, err=True)


def print_lines(options: Globals, lines: Iterable[Shown]) -> None:
    """Print what a verb came to: its result on stdout, and what a person should know about it on stderr."""
    for line in lines:
        if isinstance(line, ShownTable):
            _print_table(line)
        elif line.is_note or (line.is_hint and not options.quiet):
            tell(line.text, line.style)
        elif line.more:
            say(_style(line.text, line.style) + line.more)
        elif not line.is_hint:
            say(line.text, line.style)


def _print_table(table: ShownTable) -> None:
    if not table.is_cut:
        print_columns(table.rows)
        return
    for line in cut_columns(table.rows, find_width()):
        echo(line)


def print_columns(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in aligned columns, and nothing if there are none."""
    for lines in wrap_columns(rows, find_width()):
        for line in lines:
            echo(line)
