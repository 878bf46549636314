"""What a verb is: a row that says its name, its words and what it does; every face is made from these rows."""

from collections.abc import Iterable, Iterator, Sequence
from importlib import import_module
from typing import Any, Literal, TypeAlias

from msgspec import Struct

ValueKind: TypeAlias = Literal["text", "integer", "number", "seconds", "dollars"]
Faces: TypeAlias = Literal["shell", "chat", "both"]


class VerbArgument(Struct, frozen=True):
    """A word, or several, without a name of its own."""

    key: str
    metavar: str | None = None
    """How help shows it; by default its key in capitals."""
    required: bool = True
    many: bool = False
    default: str | None = None
    unless: str = ""
    """The options that stand in for it: in a face that lacks them, it is required."""
    choices: tuple[str, ...] = ()
    complete: str = ""
    """What a shell offers for it."""
    raw: bool = False
    """Whether options end where it begins: the rest is a command with options of its own."""
    named: bool = False
    """Whether it also takes `--name value` for `name=value`, where the verb has no such option."""


class Flag(Struct, frozen=True):
    """An option without a value."""

    spelling: str
    """Its names, with blanks between them."""
    help: str
    key: str = ""
    off: str = ""
    """The name that says the opposite; with neither of them, the value is `None`."""
    faces: Faces = "shell"


class Option(Struct, frozen=True):
    """An option with a value."""

    spelling: str
    """Its names, with blanks between them."""
    help: str
    key: str = ""
    metavar: str | None = None
    many: bool = False
    required: bool = False
    default: str | int | None = None
    choices: tuple[str, ...] = ()
    kind: ValueKind = "text"
    least: int | None = None
    """The smallest number; seconds are more than zero unless it is given."""
    complete: str = ""
    faces: Faces = "shell"


Parameter: TypeAlias = VerbArgument | Option | Flag


class Verb(Struct, frozen=True):
    """One verb; its action is loaded when it is called."""

    name: str
    summary: str
    """In one line, for lists of verbs."""
    help: str = ""
    """In full; paragraphs are a blank line apart."""
    examples: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    aliases: tuple[str, ...] = ()
    in_chat: str = ""
    """What it does in a chat, for the list there; empty if a chat doesn't have it."""
    action: str = ""
    """The module below `mooring.verbs` and the function that takes a workspace and the parameters, and returns a
    `VerbResult`. Empty if each face has an action of its own, because the verb asks, waits or shows progress."""


class VerbGroup(Struct, frozen=True):
    """A word with verbs behind it."""

    name: str
    summary: str
    help: str
    verbs: "tuple[Row, ...] | str"
    """The rows, or the module that has them as `ROWS`: they are loaded when somebody uses the group."""
    shows: str = ""
    """What is shown if the verb `show` is left out, for a shell that completes it; empty if a verb is needed."""

    def load(self) -> "tuple[Row, ...]":
        if not isinstance(self.verbs, str):
            return self.verbs
        rows: tuple[Row, ...] = import_module(self.verbs).ROWS
        return rows


Row: TypeAlias = Verb | VerbGroup
LineStyle: TypeAlias = Literal["plain", "title", "good", "waiting", "doubtful", "bad", "dim"]


class ShownLine(Struct, frozen=True):
    """A line for a person, safe to show."""

    text: str
    style: LineStyle = "plain"
    more: str = ""
    """What follows on the same line, in no style."""
    is_note: bool = False
    """About the result, and no part of it: a shell prints it on stderr."""
    is_hint: bool = False
    """A note that those who want less do without."""


class ShownTable(Struct, frozen=True):
    """Rows in aligned columns, safe to show."""

    rows: Sequence[Sequence[str]]
    is_cut: bool = False
    """Whether each row takes one line of a terminal, however long it is: there are many of them."""


Shown: TypeAlias = ShownLine | ShownTable


class VerbResult(Struct, frozen=True):
    """What an action came to: data for a program, lines for a person, and whether all is well."""

    data: Any
    lines: Iterable[Shown]
    is_healthy: bool = True
    notes: Sequence[str] = ()
    """What a person should know even if a program reads the data."""


def load_action(verb: Verb) -> Any:
    """The function that does what a verb says."""
    return load_function("mooring.verbs", verb.action)


def load_function(package: str, place: str) -> Any:
    """The function that a row or a table of actions names, as the module in a package and the function."""
    module, _, function = place.partition(":")
    return getattr(import_module(f"{package}.{module}"), function)


def show_notes(texts: Iterable[str], *, is_done: bool = True) -> Iterator[ShownLine]:
    """What was done, and then what a person should know about it; if nothing was done, that is no result, either."""
    for index, text in enumerate(texts):
        yield ShownLine(text, is_note=index > 0 or not is_done)


def list_names(option: Option | Flag) -> list[str]:
    """How an option can be spelled."""
    return option.spelling.split()


def spell_value(parameter: VerbArgument | Option) -> str:
    """What help calls a value, without the brackets of one that can be left out."""
    if parameter.metavar is not None:
        return parameter.metavar
    key = parameter.key if isinstance(parameter, VerbArgument) else find_key(parameter)
    return key.upper()


def find_key(option: Option | Flag) -> str:
    """The name of an option's value."""
    return option.key or list_names(option)[-1].lstrip("-").replace("-", "_")


def find_options(verb: Verb, face: Faces) -> list[Option | Flag]:
    """The options that a verb has in a face."""
    options = [each for each in verb.parameters if not isinstance(each, VerbArgument)]
    return [option for option in options if option.faces in (face, "both")]


def find_arguments(verb: Verb) -> Sequence[VerbArgument]:
    """The words of a verb that are no options."""
    return [each for each in verb.parameters if isinstance(each, VerbArgument)]


SCOPES = ("user", "project", "local")
TIMEOUT = Option("--timeout", "Seconds, from start to result.", metavar="S", kind="seconds")
ADDRESS = (
    Option("--server", "The command that starts the server.", metavar="COMMAND"),
    Option("--url", "The address of the server.", metavar="URL"),
    Option("-e --env", "Give or pass on a variable.", metavar="NAME[=VALUE]", many=True),
    Option("-H --header", "For --url: sent every time.", metavar="'NAME: VALUE'", many=True),
    Option("--transport", "For --url.", default="auto", choices=("auto", "http", "sse")),
)
CONNECTION = (*ADDRESS, TIMEOUT)
