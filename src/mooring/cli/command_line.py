"""Reads a line of the shell by the rows of verbs: which command it names, what that is given, and what is wrong."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from mooring.cli.base import Globals
from mooring.core.text.suggestions import find_slip, nearest
from mooring.verbs.parse import (
    TypedOption,
    UsageError,
    WrongValue,
    check_required,
    end_options,
    name_words,
    read_values,
    split_options,
)
from mooring.verbs.rows import ROWS
from mooring.verbs.verb import Flag, Option, Row, Verb, VerbGroup, find_arguments, find_options

HELP = Flag("-h --help", "Show this message and exit.")
VERSION = Flag("--version", "Show the version and exit.")
GLOBALS: tuple[Option | Flag, ...] = (
    Option("--cwd", "Look from this folder instead of the current one.", metavar="DIR", complete="folder"),
    Flag("--no-project", "Leave the project's files out."),
    Option(
        "--config", "Also read this file, before all others.", key="configs", metavar="FILE", many=True, complete="file"
    ),
    Flag("--demo", "Use the bundled demo server alone."),
    Flag("--json", "Print data instead of text."),
    Flag("-q --quiet", "Print less."),
    Flag("-v --verbose", "Print more."),
)
"""Options of every command; they can come before it as well."""
ROOT = VerbGroup(
    "mooring",
    "",
    "Every MCP server you have configured, in any coding tool, from one place.\n\n"
    "Without a command, mooring opens the chat on a terminal, and shows the list of servers anywhere else.",
    ROWS,
)
WORDS_FOR_OPTIONS = {"help": "--help", "version": "--version"}
"""Words that people type as if they were commands."""
_DECISIONS = ("approve", "reject")
"""A wild guess must not lead anybody to one of these: `remove` comes close to `approve`."""


class ReadLine(Struct):
    """What a line says."""

    path: tuple[str, ...]
    """The names of the command and the groups around it, without `mooring`."""
    row: Row
    options: Globals
    values: Mapping[str, Any] = {}
    """What the verb takes, by key."""
    wants: Flag | None = None
    """The help or the version is asked for, and nothing else is done."""


class LineReader:
    """Follows a line word by word; `options` and `path` are right as far as it got, also if the rest is wrong."""

    def __init__(self, options: Globals) -> None:
        self.options = options
        self.path: tuple[str, ...] = ()
        self.row: Row = ROOT
        self._groups: list[VerbGroup] = [ROOT]

    def read(self, args: Sequence[str]) -> ReadLine:
        """Raises: UsageError."""
        try:
            return self._read_group(ROOT, list(args))
        except WrongValue:
            raise
        except UsageError as error:
            raise error if error.hint else UsageError(str(error), self.hint) from None

    @property
    def hint(self) -> str:
        """Where to read about the command, as far as it is known."""
        return f"See: {' '.join(['mooring', *self.path])} --help"

    def _read_group(self, group: VerbGroup, args: list[str]) -> ReadLine:
        if group.shows:
            args = add_show(group, args)
        own = (VERSION, HELP) if group is ROOT else (HELP,)
        typed, words = split_options(args, [*own, *GLOBALS], until_word=True)
        wanted = self.store_globals(typed)
        if wanted or not words:
            return self._end(wanted=next(iter(wanted), None))
        if group is ROOT and words[0] in WORDS_FOR_OPTIONS:
            # `mooring help mcp add` for `mooring mcp add --help`
            return self._read_group(ROOT, [*words[1:], WORDS_FOR_OPTIONS[words[0]]])
        self.row = _find_row(self._groups, words[0])
        self.path = (*self.path, self.row.name)
        if isinstance(self.row, VerbGroup):
            self._groups.append(self.row)
            return self._read_group(self.row, words[1:])
        return self._read_verb(self.row, words[1:])

    def _read_verb(self, verb: Verb, args: list[str]) -> ReadLine:
        own = find_options(verb, "shell")
        options = [*own, HELP, *GLOBALS]
        arguments = find_arguments(verb)
        if any(argument.raw for argument in arguments):
            args = end_options(args, options)
        named = any(argument.named for argument in arguments)
        typed, words = split_options(args, options, names_arguments=named)
        wanted = self.store_globals(typed)
        if wanted:
            return self._end(wanted=wanted[0])
        self.options.late = tuple(each.name for each in typed if each.is_late)
        values = read_values(own, [each for each in typed if each.option in own])
        values |= name_words(arguments, words)
        check_required(own, values)
        return self._end(values=values)

    def _end(self, *, values: Mapping[str, Any] | None = None, wanted: Flag | None = None) -> ReadLine:
        return ReadLine(self.path, self.row, self.options, values or {}, wanted)

    def store_globals(self, typed: Sequence[TypedOption]) -> list[Flag]:
        """Remember the global options; which of help and version are asked for."""
        shared = [each for each in typed if each.option in GLOBALS]
        given = {each.option for each in shared}
        for key, value in read_values(given, shared).items():
            # What is given after a command adds to what was given before it.
            setattr(self.options, key, (*self.options.configs, *value) if key == "configs" else value)
        options = [each.option for each in typed]
        return [flag for flag in (HELP, VERSION) if flag in options]


def add_show(group: VerbGroup, args: list[str]) -> list[str]:
    """The words with the verb `show`, which can be left out: `mooring sessions ID`."""
    needs_help = bool(args) and set(args) <= {"-h", "--help"}
    has_verb = any(find_row(group, word) for word in args)
    return args if needs_help or has_verb else ["show", *args]


def find_row(group: VerbGroup, name: str) -> Row | None:
    """The row of that name or alias."""
    for row in group.load():
        if name == row.name or (isinstance(row, Verb) and name in row.aliases):
            return row
    return None


def _find_row(groups: Sequence[VerbGroup], typed: str) -> Row:
    """The row in the last of the groups. Raises: UsageError that names what was probably meant."""
    *outer, group = groups
    found = find_row(group, typed)
    if found is not None:
        return found
    path = " ".join(each.name for each in groups)
    near = [f"{path} {name}" for name in _list_similar(group, typed)]
    # `mooring logs` for `mooring mcp logs`.
    if outer and any(row.name == typed for row in outer[-1].load()):
        near = [f"{' '.join(each.name for each in outer)} {typed}"]
    every = ", ".join(row.name for row in group.load())
    guess = f"Did you mean {' or '.join(near)}?" if near else f"The commands are: {every}."
    raise UsageError(f"There is no command {typed!r}.", guess)


def _list_similar(group: VerbGroup, typed: str) -> list[str]:
    """The commands that may have been meant, also those of a group in this one: `mcp list` for `lits`."""
    commands: dict[str, str] = {}
    for inner in group.load():
        if not isinstance(inner, VerbGroup):
            continue
        meant = find_row(inner, typed)
        if meant is not None:
            return [f"{inner.name} {meant.name}"]
        # The first group wins: most people who type `list` mean the servers.
        commands = {row.name: f"{inner.name} {row.name}" for row in inner.load()} | commands
    commands |= {row.name: row.name for row in group.load()}
    slip = find_slip(typed, commands)
    candidates = [slip] if slip else nearest(typed, commands)
    return [commands[word] for word in candidates if word not in _DECISIONS or word[0] == typed[0]]
