"""The verbs behind `/mcp`, from the rows of `mooring mcp`: what a line means, what runs each, how it is spelled."""

import asyncio
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

from mooring.chat.command import CommandFace, find_server, say_usages
from mooring.core.text.suggestions import nearest
from mooring.display.tables import wrap_columns
from mooring.errors import UnknownServer
from mooring.verbs.mcp_rows import ROWS
from mooring.verbs.verb import (
    Flag,
    Option,
    Shown,
    ShownTable,
    Verb,
    VerbArgument,
    VerbResult,
    find_arguments,
    find_options,
    list_names,
    load_action,
    load_function,
    spell_value,
)

ACTIONS: Mapping[str, str] = {
    "list": "actions:list_all",
    "get": "actions:get",
    "add": "add:add",
    "remove": "actions:remove",
    "enable": "actions:enable",
    "disable": "actions:disable",
    "test": "actions:test",
    "reload": "actions:reload",
    "import": "add:import_servers",
    "login": "actions:login",
    "logout": "actions:logout",
    "approve": "actions:approve",
    "reject": "actions:reject",
    "pins": "actions:pins",
    "doctor": "actions:doctor",
    "help": "verbs:show_help",
}
"""The module in this folder and the function, where a chat does it in its own way; loaded when the verb is typed."""
_MOST_SHOWN = 2
"""How many options a usage line shows; of a verb with more, it shows none."""

_HELP = Verb("help", "Every verb.", in_chat="this list")
VERBS: Mapping[str, Verb] = {row.name: row for row in (*ROWS, _HELP) if row.in_chat}
ALIASES = {alias: row.name for row in VERBS.values() for alias in row.aliases}
IN_SHELL = tuple(row.name for row in ROWS if not row.in_chat)
"""Verbs of `mooring mcp` that a chat does not have."""


async def run_verb(chat: CommandFace, verb: Verb, text: str) -> None:
    """Do what a verb does with the words behind it. Raises: MooringError."""
    if verb.name not in ACTIONS:
        # It does the same in every face, for a server.
        work = load_action(verb)
        result: VerbResult = await asyncio.to_thread(work, chat.session.workspace, find_server(chat, text))
        chat.say(*list_texts(result.lines, chat.width))
        return
    action = load_function("mooring.chat.mcp", ACTIONS[verb.name])
    # A verb without options takes all of the line for the name of a server; one that takes a command, as a command.
    takes_command = any(argument.raw for argument in find_arguments(verb))
    if find_options(verb, "chat") and not takes_command:
        await action(chat, **_parse(verb, text))
    else:
        await action(chat, text)


def list_texts(lines: Iterable[Shown], cells: int | None) -> Iterator[str]:
    """What a verb came to as the lines of a chat, where nothing has a color of its own."""
    for line in lines:
        if isinstance(line, ShownTable):
            yield from chain.from_iterable(wrap_columns(line.rows, cells))
        else:
            yield spell_for_chat(f"{line.text}{line.more}")


def _parse(verb: Verb, text: str) -> dict[str, Any]:
    from mooring.verbs.parse import UsageError, WrongValue, parse_words  # few chats type an option

    try:
        return parse_words(verb, _split(text))
    except WrongValue:
        raise
    except UsageError as error:
        raise error if error.hint else UsageError(str(error), "/mcp help lists the options.") from None


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:  # a name with an apostrophe, as its file has it
        return text.split()


def needs_words(verb: Verb) -> bool:
    """Whether a verb says nothing without the name of a server."""
    return any(argument.required or argument.unless for argument in find_arguments(verb))


def spell_usage(verb: Verb) -> str:
    """How a verb is typed."""
    options = find_options(verb, "chat")
    shown = options if len(options) <= _MOST_SHOWN else []
    words = [*map(_spell_argument, find_arguments(verb)), *map(_spell_option, shown)]
    return " ".join(["/mcp", verb.name, *words])


def _spell_argument(argument: VerbArgument) -> str:
    text = spell_value(argument)
    return text if argument.required or argument.unless else f"[{text}]"


def _spell_option(option: Option | Flag) -> str:
    name = list_names(option)[0]
    return f"[{name}]" if isinstance(option, Flag) else f"[{name} {spell_value(option)}]"


def spell_for_chat(text: str) -> str:
    """The same text, with each command of `mooring mcp` that is a verb here as it is typed here; so with what lists
    agents and tools, and with `-m`."""
    # Not behind `env -u HTTPS_PROXY`: the chat keeps the environment that it was started with.
    behind = r"(?<!_PROXY )(?<!_proxy )"
    text = re.sub(rf"{behind}\bmooring mcp (?=(?:{'|'.join(VERBS)})(?![\w-])(?! --json))", "/mcp ", text)
    text = re.sub(r"`mooring (agents|tools)`", r"/\1", text)
    return re.sub(r"(?<![\w-])-m (?=[\w-]+:\w)", "/model ", text)


def list_completions(servers: Iterable[str]) -> Iterator[str]:
    """Every verb, alone and with each server that it may be about."""
    names = list(servers)
    for word, verb in VERBS.items():
        yield f"/mcp {word}"
        if any(argument.complete.endswith("server") for argument in find_arguments(verb)):
            yield from (f"/mcp {word} {name}" for name in names)


USAGE = "Usage: /mcp, /mcp enable <server>, /mcp disable <server>"
_SEE_HELP = "/mcp help lists every verb."
_DECISIONS = ("approve", "reject")
_NARROWEST_HELP = 80
"""Cells that the verbs need beside their descriptions."""


async def run(chat: CommandFace, rest: str) -> None:
    """Do what the words behind `/mcp` say. Raises: MooringError."""
    word, _, more = rest.partition(" ")
    words = more.strip()
    verb = VERBS.get(ALIASES.get(word, word))
    if not word:
        await run_verb(chat, VERBS["list"], "")
    elif verb is not None and (words or not needs_words(verb)):
        await run_verb(chat, verb, words)
    else:
        await _show_server_or_usage(chat, rest)


async def _show_server_or_usage(chat: CommandFace, rest: str) -> None:
    try:
        server = chat.session.servers.find_server(rest)
    except UnknownServer as error:
        chat.warn(USAGE, _guess(rest, error))
        return
    await load_function("mooring.chat.mcp", "actions:show_server")(chat, server)


def _guess(rest: str, error: UnknownServer) -> str:
    """What may have been meant by words that are neither a verb nor a server."""
    word, _, more = rest.partition(" ")
    verb = VERBS.get(ALIASES.get(word, word))
    if verb is not None:
        return f"{spell_usage(verb)}: {verb.in_chat}"
    if word in IN_SHELL:
        return f"In a shell: mooring mcp {word}"
    # A wild guess must not lead anybody to a decision: `improve` is no `approve`.
    guessed = [name for name in VERBS if name not in _DECISIONS or name[0] == word[0]]
    for near in nearest(word, guessed, 1):
        return f"Did you mean /mcp {near}?"
    if more:
        return _SEE_HELP
    guess = f"Did you mean /mcp {error.near[0]}?" if error.near else _SEE_HELP
    return f"No server is called {word}. {guess}"


async def show_help(chat: CommandFace, _: str) -> None:
    """Every verb, a line for each."""
    rows = [(f"  {spell_usage(verb)}", verb.in_chat) for verb in VERBS.values()]
    rows.insert(1, ("  /mcp NAME", "its status, tools and last output"))
    say_usages(chat, rows, _NARROWEST_HELP)
