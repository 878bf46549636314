"""What can be typed behind a slash, in any chat."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeAlias

from mooring.actions.arguments import arguments
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

    def say(self, *shown: str) -> None: ...

    def show_outcome(self, outcome: Outcome) -> None: ...

    def leave(self) -> None: ...


SlashCommand: TypeAlias = Callable[[CommandFace, str], Awaitable[None]]

_MCP = ("reload", "enable", "disable")


async def run(chat: CommandFace, line: str) -> None:
    """Do what a line that begins with a slash says. Raises: MooringError."""
    word, _, rest = line.removeprefix("/").partition(" ")
    found = COMMANDS.get(ALIASES.get(word, word))
    if found is None:
        near = nearest(word, COMMANDS, 1)
        guess = f"Did you mean /{near[0]}?" if near else "/help shows what there is."
        raise ConfigError(f"There is no command /{word}. {guess}")
    await found[0](chat, rest.strip())


async def _help(chat: CommandFace, _: str) -> None:
    chat.say("Type what you want done, pick one of the tools that fit, fill in what it needs.")
    chat.say("server.tool goes straight to a tool. Ctrl+C ends a call, twice at the prompt leaves.")
    for line in columns([(f"  {usage}", help) for _, usage, help in COMMANDS.values()]):
        chat.say(line)


async def _mcp(chat: CommandFace, rest: str) -> None:
    verb, _, name = rest.partition(" ")
    if not rest:
        chat.say(*servers.list_servers(chat.conversation.host))
    elif verb == "reload":
        await _reload(chat, name.strip())
    elif verb in ("enable", "disable"):
        await _switch(chat, verb, name.strip())
    else:
        known = _server(chat, rest)
        log = await asyncio.to_thread(read_log, chat.conversation.viewpoint.where, known, servers.LOG)
        chat.say(*servers.describe_server(chat.conversation.host, known, log))


async def _reload(chat: CommandFace, name: str) -> None:
    if not name:
        await chat.conversation.host.reload()
        chat.say("The configuration was read again.", *servers.list_servers(chat.conversation.host))
        return
    known = chat.conversation.host.server(_server(chat, name)).name
    await chat.conversation.reload(known)
    await _mcp(chat, known)


async def _switch(chat: CommandFace, verb: str, name: str) -> None:
    if not name:
        raise ConfigError(f"Name the server: /mcp {verb} NAME")
    known = _server(chat, name)
    await chat.conversation.switch(known, verb == "enable")
    chat.say(f"MCP server '{safe(known)}' {verb}d for this session.")


async def _tools(chat: CommandFace, rest: str) -> None:
    found = chat.conversation.registry.search(rest, 20) if rest else ()
    pairs = chat.conversation.registry.pairs
    names = [tool.name for tool in found] if rest else list(pairs)
    entries = {entry.name: entry for entry in chat.conversation.host.tools}
    rows = [
        (safe(".".join(pairs[name])), shorten_description(entries[name].description))
        for name in names
        if name in entries
    ]
    chat.say(
        *(f"  {line}" for line in columns(rows)) if rows else ["No tool is known yet." if not rest else "No tool fits."]
    )


async def _call(chat: CommandFace, rest: str) -> None:
    name, *words = _words(rest)
    tool = await chat.conversation.find_tool(name)
    await chat.conversation.registry.call(tool.name, arguments(words, tool.schema))


async def _resources(chat: CommandFace, rest: str) -> None:
    found = await chat.conversation.host.resources(_server(chat, rest) if rest else None)
    rows = [
        (safe(one.server), safe(one.item.uri), safe(one.item.title or one.item.name))
        for one in found
        if isinstance(one.item, Resource)
    ]
    chat.say(*(f"  {line}" for line in columns(rows)) if rows else ["No server offers a resource."])


async def _read(chat: CommandFace, rest: str) -> None:
    words = rest.split()
    if len(words) != 2:
        raise ConfigError("Name the server and the address: /read SERVER URI")
    server, uri = _server(chat, words[0]), words[1]
    chat.show_outcome(await chat.conversation.read_resource(server, uri))


async def _quit(chat: CommandFace, _: str) -> None:
    chat.leave()


COMMANDS: Mapping[str, tuple[SlashCommand, str, str]] = {
    "mcp": (_mcp, "/mcp [NAME]", "the servers and how they stand; reload [NAME], enable NAME, disable NAME"),
    "tools": (_tools, "/tools [WORDS]", "all tools, or those that fit"),
    "call": (_call, "/call SERVER.TOOL k=v …", "call one at once"),
    "resources": (_resources, "/resources [SERVER]", "what can be read"),
    "read": (_read, "/read SERVER URI", "read it"),
    "help": (_help, "/help", "this"),
    "quit": (_quit, "/quit", "leave; so does Ctrl+D"),
}
ALIASES = {"exit": "quit", "q": "quit", "?": "help", "h": "help", "resource": "read", "servers": "mcp"}


def list_completions(conversation: Conversation) -> list[str]:
    """What Tab completes to."""
    tools = [".".join(pair) for pair in conversation.registry.pairs.values()]
    names = list(conversation.status)
    return [
        *(f"/{name}" for name in COMMANDS),
        *(f"/mcp {name}" for name in names),
        *(f"/mcp {verb} {name}" for verb in _MCP for name in names),
        *(f"/call {tool}" for tool in tools),
        *tools,
    ]


def _server(chat: CommandFace, name: str) -> str:
    """The server that is meant, also one that may not be started. Raises: ConfigError."""
    try:
        return chat.conversation.find_server(name)
    except UnknownServer as error:
        guess = f"Did you mean {' or '.join(error.near)}? " if error.near else ""
    raise ConfigError(f"MCP server '{name}' not found. {guess}Run /mcp to see available servers.")


def _words(rest: str) -> list[str]:
    try:
        words = shlex.split(rest)
    except ValueError:
        raise ConfigError("There is a quote that does not close.") from None
    if not words:
        raise ConfigError("Name the tool: /call SERVER.TOOL name=value …")
    return words
