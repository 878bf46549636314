"""What can be typed behind a slash, in any chat."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

from msgspec import Struct

from mooring.actions.arguments import parse_arguments
from mooring.chat import servers
from mooring.chat.conversation import Conversation
from mooring.core.near import nearest
from mooring.core.outcome import Outcome
from mooring.core.tool import Resource
from mooring.display.text import columns, safe, shorten_description
from mooring.errors import ConfigError, UnknownServer
from mooring.servers.log import read as read_log


class CommandFace(Protocol):
    """What a command needs of the chat that it was typed in."""

    @property
    def conversation(self) -> Conversation: ...

    def say(self, *lines: str) -> None: ...

    def show_outcome(self, outcome: Outcome) -> None: ...

    def leave(self) -> None: ...


class SlashCommand(Struct, frozen=True):
    """One command: what it does with the words behind its name, and how `/help` shows it."""

    run: Callable[[CommandFace, str], Awaitable[None]]
    usage: str
    help: str


MOST_FOUND = 20
"""How many tools `/tools WORDS` shows."""

_Rows: TypeAlias = Sequence[tuple[str, ...]]


async def run(chat: CommandFace, line: str) -> None:
    """Do what a line that begins with a slash says. Raises: MooringError."""
    word, _, rest = line.removeprefix("/").partition(" ")
    command = COMMANDS.get(ALIASES.get(word, word))
    if command is None:
        near = nearest(word, COMMANDS, 1)
        guess = f"Did you mean /{near[0]}?" if near else "/help shows what there is."
        raise ConfigError(f"There is no command /{word}. {guess}")
    await command.run(chat, rest.strip())


def list_completions(conversation: Conversation) -> list[str]:
    """Everything that Tab can complete a line to."""
    tools = [".".join(pair) for pair in conversation.registry.pairs.values()]
    found = [f"/{name}" for name in COMMANDS]
    for server in conversation.status:
        found.append(f"/mcp {server}")
        found += [f"/mcp {verb} {server}" for verb in ("reload", "enable", "disable")]
    found += [f"/call {tool}" for tool in tools]
    return found + tools


# --- servers -------------------------------------------------------------------------------------------------------


async def _mcp(chat: CommandFace, rest: str) -> None:
    verb, _, name = rest.partition(" ")
    match verb:
        case "":
            chat.say(*servers.list_servers(chat.conversation.host))
        case "reload":
            await _reload(chat, name.strip())
        case "enable" | "disable":
            await _switch(chat, verb, name.strip())
        case _:
            await _show_server(chat, _find_server(chat, rest))


async def _show_server(chat: CommandFace, server: str) -> None:
    log = await asyncio.to_thread(read_log, chat.conversation.viewpoint.where, server, servers.LOG)
    chat.say(*servers.describe_server(chat.conversation.host, server, log))


async def _reload(chat: CommandFace, name: str) -> None:
    host = chat.conversation.host
    if not name:
        await host.reload()
        chat.say("The configuration was read again.", *servers.list_servers(host))
        return
    server = host.server(_find_server(chat, name)).name
    await chat.conversation.reload(server)
    await _show_server(chat, server)


async def _switch(chat: CommandFace, verb: str, name: str) -> None:
    if not name:
        raise ConfigError(f"Name the server: /mcp {verb} NAME")
    server = _find_server(chat, name)
    await chat.conversation.switch(server, verb == "enable")
    chat.say(f"MCP server '{safe(server)}' {verb}d for this session.")


def _find_server(chat: CommandFace, name: str) -> str:
    """The server that is meant, even one that may not be started. Raises: ConfigError."""
    try:
        return chat.conversation.find_server(name)
    except UnknownServer as error:
        guess = f"Did you mean {' or '.join(error.near)}? " if error.near else ""
    raise ConfigError(f"MCP server '{name}' not found. {guess}Run /mcp to see available servers.")


# --- tools and resources -------------------------------------------------------------------------------------------


async def _tools(chat: CommandFace, words: str) -> None:
    registry = chat.conversation.registry
    pairs = registry.pairs
    names: Iterable[str] = pairs
    nothing = "No tool is known yet."
    if words:
        names = [tool.name for tool in registry.search(words, MOST_FOUND)]
        nothing = "No tool fits."
    # The registry works on a snapshot of the host's tools: one of them may be gone by now.
    entries = {entry.name: entry for entry in chat.conversation.host.tools}
    known = [name for name in names if name in entries]
    rows = [(safe(".".join(pairs[name])), shorten_description(entries[name].description)) for name in known]
    _say_rows(chat, rows, nothing)


async def _call(chat: CommandFace, rest: str) -> None:
    name, *words = _split_words(rest)
    tool = await chat.conversation.find_tool(name)
    await chat.conversation.registry.call(tool.name, parse_arguments(words, tool.schema))


def _split_words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError:
        raise ConfigError("There is a quote that does not close.") from None
    if not words:
        raise ConfigError("Name the tool: /call SERVER.TOOL name=value …")
    return words


async def _resources(chat: CommandFace, name: str) -> None:
    server = _find_server(chat, name) if name else None
    rows = []
    for found in await chat.conversation.host.resources(server):
        resource = found.item
        if isinstance(resource, Resource):
            rows.append((safe(found.server), safe(resource.uri), safe(resource.title or resource.name)))
    _say_rows(chat, rows, "No server offers a resource.")


async def _read(chat: CommandFace, rest: str) -> None:
    words = rest.split()
    if len(words) != 2:
        raise ConfigError("Name the server and the address: /read SERVER URI")
    name, uri = words
    chat.show_outcome(await chat.conversation.read_resource(_find_server(chat, name), uri))


def _say_rows(chat: CommandFace, rows: _Rows, nothing: str) -> None:
    """Say the rows as columns, or that there are none."""
    if not rows:
        chat.say(nothing)
    for line in columns(rows):
        chat.say(f"  {line}")


# --- the chat itself -----------------------------------------------------------------------------------------------


async def _help(chat: CommandFace, _: str) -> None:
    chat.say("Type what you want done, pick one of the tools that fit, fill in what it needs.")
    chat.say("server.tool goes straight to a tool. Ctrl+C ends a call, twice at the prompt leaves.")
    chat.say(*columns([(f"  {command.usage}", command.help) for command in COMMANDS.values()]))


async def _quit(chat: CommandFace, _: str) -> None:
    chat.leave()


COMMANDS: Mapping[str, SlashCommand] = {
    "mcp": SlashCommand(
        _mcp, "/mcp [NAME]", "the servers and how they stand; reload [NAME], enable NAME, disable NAME"
    ),
    "tools": SlashCommand(_tools, "/tools [WORDS]", "all tools, or those that fit"),
    "call": SlashCommand(_call, "/call SERVER.TOOL k=v …", "call one at once"),
    "resources": SlashCommand(_resources, "/resources [SERVER]", "what can be read"),
    "read": SlashCommand(_read, "/read SERVER URI", "read it"),
    "help": SlashCommand(_help, "/help", "this"),
    "quit": SlashCommand(_quit, "/quit", "leave; so does Ctrl+D"),
}
ALIASES = {"exit": "quit", "q": "quit", "?": "help", "h": "help", "resource": "read", "servers": "mcp"}
