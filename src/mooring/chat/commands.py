"""What can be typed behind a slash, in any chat."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from mooring.actions.arguments import parse_arguments
from mooring.actions.offers import check_prompt_arguments, find_prompt, parse_pairs
from mooring.actions.rules import describe_rules
from mooring.backends.manual import choose_tool
from mooring.chat import servers
from mooring.chat.conversation import Conversation
from mooring.core.call import Definition
from mooring.core.near import nearest
from mooring.core.outcome import Outcome
from mooring.core.tool import Argument, Resource
from mooring.display.text import columns, count_noun, fit_columns, safe, safe_text, shorten_description
from mooring.errors import ConfigError, UnknownServer
from mooring.servers.log import read as read_log
from mooring.tools.schema.parameters import list_required


class CommandFace(Protocol):
    """What a command needs of the chat that it was typed in."""

    @property
    def conversation(self) -> Conversation: ...

    @property
    def width(self) -> int:
        """How many cells a line has."""

    def say(self, *lines: str) -> None: ...

    def show_progress(self, text: str) -> None:
        """Show what is under way, until something else is said."""

    def show_outcome(self, outcome: Outcome) -> None: ...

    async def choose(self, found: Sequence[Definition]) -> Definition | str | None: ...

    async def fill(self, tool: Definition, given: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None: ...

    async def fill_form(self, title: str, owner: str, schema: Mapping[str, Any]) -> dict[str, Any]: ...

    def leave(self) -> None: ...


class SlashCommand(Struct, frozen=True):
    """One command: what it does with the words behind its name, and how `/help` shows it."""

    run: Callable[[CommandFace, str], Awaitable[None]]
    usage: str
    help: str


MOST_FOUND = 20
"""How many tools `/tools WORDS` shows, and `/call` offers."""
USAGE = "Usage: /mcp, /mcp enable <server>, /mcp disable <server>"
_VERBS = ("reload", "enable", "disable")

_Rows: TypeAlias = Sequence[tuple[str, ...]]


async def run(chat: CommandFace, line: str) -> None:
    """Do what a line that begins with a slash says. Raises: MooringError."""
    word, _, rest = line.removeprefix("/").partition(" ")
    command = COMMANDS.get(ALIASES.get(word, word))
    if command is None:
        near = [name for name in COMMANDS if word and name.startswith(word)] or nearest(word, COMMANDS, 1)
        guess = f"Did you mean /{near[0]}?" if near else "/help lists the commands."
        raise ConfigError(f"There is no command /{word}. {guess}")
    await command.run(chat, rest.strip())


def list_completions(conversation: Conversation) -> list[str]:
    """Everything that Tab can complete a line to."""
    tools = [".".join(pair) for pair in conversation.registry.pairs.values()]
    found = [f"/{name}" for name in COMMANDS]
    for server in conversation.status:
        found += [f"/{name} {server}" for name in ("mcp", "approve", "reject", "pins", "resources", "prompts", "read")]
        found += [f"/mcp {verb} {server}" for verb in _VERBS]
    found += [f"/prompt {name}" for name in conversation.list_known_prompts()]
    found += [f"/call {tool}" for tool in tools]
    return found + tools


# --- servers -------------------------------------------------------------------------------------------------------


async def _mcp(chat: CommandFace, rest: str) -> None:
    verb, _, name = rest.partition(" ")
    name = name.strip()
    if not verb:
        chat.say(*servers.list_servers(chat.conversation.host))
    elif verb == "reload":
        await _reload(chat, name)
    elif verb in _VERBS and name:
        await _switch(chat, verb, name)
    else:
        await _show_server(chat, _find_server_or_verb(chat, rest))


def _find_server_or_verb(chat: CommandFace, rest: str) -> str:
    """The server of that name. Raises: ConfigError with how `/mcp` is used, or which server may be meant."""
    try:
        return chat.conversation.find_server(rest)
    except UnknownServer as error:
        near_servers = error.near
    word, _, more = rest.partition(" ")
    if word in _VERBS:
        raise ConfigError(USAGE)
    for verb in nearest(word, _VERBS, 1):
        raise ConfigError(f"{USAGE}. Did you mean /mcp {verb}?")
    if more:
        raise ConfigError(USAGE)
    unknown = f"No server is called {word}."
    if near_servers:
        raise ConfigError(f"{unknown} Did you mean /mcp {near_servers[0]}?")
    chat.say(safe(unknown))
    raise ConfigError(USAGE)


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
    chat.show_progress(f"connecting {safe(server)} …")
    await chat.conversation.reload(server)
    await _show_server(chat, server)


async def _switch(chat: CommandFace, verb: str, name: str) -> None:
    server = _find_server(chat, name)
    await chat.conversation.switch(server, verb == "enable")
    chat.say(f"MCP server '{safe(server)}' {verb}d for this session.")
    if verb == "enable":
        # Connected at once, so that its tools are there for the next line.
        chat.show_progress(f"connecting {safe(server)} …")
        count = await chat.conversation.connect(server)
        chat.say(f"{safe(server)}: connected · {count_noun(count, 'tool')}")


def _find_server(chat: CommandFace, name: str) -> str:
    """The server that is meant, even one that may not be started. Raises: ConfigError."""
    try:
        return chat.conversation.find_server(name)
    except UnknownServer as error:
        guess = f"Did you mean {' or '.join(error.near)}? " if error.near else ""
    raise ConfigError(f"MCP server '{name}' not found. {guess}Run /mcp to see available servers.")


# --- what was approved -----------------------------------------------------------------------------------------------


async def _approve(chat: CommandFace, name: str) -> None:
    names = (_find_server(chat, name),) if name else await chat.conversation.list_unapproved()
    if not names:
        chat.say("No server of this project waits for approval.")
    for server in names:
        if await chat.conversation.approve_server(server):
            tools = len(chat.conversation.host.tools_by_server.get(server, ()))
            chat.say(f"Approved: {safe(server)} · {count_noun(tools, 'tool')}")
        else:
            chat.say(await chat.conversation.describe_no(server))


async def _reject(chat: CommandFace, name: str) -> None:
    if not name:
        raise ConfigError("Usage: /reject NAME. /mcp shows the servers.")
    server = _find_server(chat, name)
    await chat.conversation.reject_server(server)
    chat.say(f"Rejected: {safe(server)}. It does not start until its definition changes, or you approve it.")


async def _pins(chat: CommandFace, name: str) -> None:
    # Loaded here: few chats look at pins.
    from mooring.actions.pins import describe_pin, list_pinned

    host, where = chat.conversation.host, chat.conversation.viewpoint.where
    rows = list_pinned(host, where, _find_server(chat, name) if name else None)
    if not rows:
        chat.say("No tools are pinned yet: that happens with a server's first allowed call.")
    for row in rows:
        chat.say(f"{safe(row.server)}: {describe_pin(row)}")
        if row.problem:
            chat.say(f"  {row.problem}")
        if row.held:
            agreed = await chat.conversation.approve_tools(row.server)
            names = safe(", ".join(tool.tool for tool in row.held))
            chat.say(f"{'Approved' if agreed else 'Not approved'}: {names}")


# --- tools and resources -------------------------------------------------------------------------------------------


async def _tools(chat: CommandFace, words: str) -> None:
    registry = chat.conversation.registry
    pairs = registry.pairs
    names: Iterable[str] = pairs
    nothing = "No tools are known yet. /mcp shows the servers."
    if words:
        names = [tool.name for tool in registry.search(words, MOST_FOUND)]
        nothing = f"No tool matches {safe(words)}."
    # The registry works on a snapshot of the host's tools: one of them may be gone by now.
    entries = {entry.name: entry for entry in chat.conversation.host.tools}
    known = [name for name in names if name in entries]
    rows = [(safe(".".join(pairs[name])), shorten_description(entries[name].description)) for name in known]
    _say_rows(chat, rows, nothing)


async def _call(chat: CommandFace, rest: str) -> None:
    name, _, written = rest.partition(" ")
    tool = await (chat.conversation.find_tool(name) if name else _choose_tool(chat))
    if tool is None:
        return
    arguments = await _take_arguments(chat, tool, written.strip(), ask=not name)
    if arguments is not None:
        await chat.conversation.registry.call(tool.name, arguments)


async def _choose_tool(chat: CommandFace) -> Definition | None:
    registry = chat.conversation.registry
    names = list(registry.pairs)
    if not names:
        raise ConfigError("No tools are known yet. /mcp shows the servers.")
    if len(names) > MOST_FOUND:
        chat.say(f"The first {MOST_FOUND} of {len(names)} tools; type a name or words to find others.")
    found = [tool for tool in map(registry.find, names[:MOST_FOUND]) if tool is not None]
    return await choose_tool(chat, registry, found, lambda text: chat.say(safe_text(text)))


async def _take_arguments(chat: CommandFace, tool: Definition, written: str, *, ask: bool) -> Mapping[str, Any] | None:
    """The arguments that were typed, as words or as JSON; a form asks for those that are required and left out."""
    required = set(list_required(tool.schema))
    if not written:
        return await chat.fill(tool) if ask or required else {}
    given = _parse_written(tool, written)
    if required.difference(given):
        return await chat.fill(tool, given)
    return given


def _parse_written(tool: Definition, written: str) -> dict[str, Any]:
    if written.startswith("{"):
        return parse_arguments((), tool.schema, written)
    words = _split_words(written)
    for word in words:
        if "=" not in word:
            raise ConfigError(f"{word!r} is not an argument: write name=value, or all of them as JSON in {{…}}.")
    return parse_arguments(words, tool.schema)


def _split_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        raise ConfigError("A quotation mark is missing its partner.") from None


async def _resources(chat: CommandFace, name: str) -> None:
    server = _find_server(chat, name) if name else None
    rows = []
    for found in await chat.conversation.host.resources(server):
        resource = found.item
        if isinstance(resource, Resource):
            rows.append((safe(found.server), safe(resource.uri), safe(resource.title or resource.name)))
    of_server = f"{safe(server)} offers" if server else "The connected servers offer"
    _say_rows(chat, rows, f"{of_server} no resources.")


async def _read(chat: CommandFace, rest: str) -> None:
    words = rest.split()
    if len(words) != 2:
        raise ConfigError("Usage: /read SERVER URI. /resources lists them.")
    name, uri = words
    chat.show_outcome(await chat.conversation.read_resource(_find_server(chat, name), uri))


# --- prompts -------------------------------------------------------------------------------------------------------


async def _prompts(chat: CommandFace, name: str) -> None:
    server = _find_server(chat, name) if name else None
    rows = []
    for owner, prompt in await chat.conversation.list_prompts(server):
        arguments = ", ".join(_spell_argument(argument) for argument in prompt.arguments or ())
        summary = shorten_description(prompt.description or prompt.title or "")
        rows.append((safe(f"{owner}.{prompt.name}({arguments})"), summary))
    of_server = f"{safe(server)} offers" if server else "The connected servers offer"
    _say_rows(chat, rows, f"{of_server} no prompts.")
    if rows:
        chat.say("`/prompt SERVER.PROMPT [name=value …]` fills one in.")


def _spell_argument(argument: Argument) -> str:
    return argument.name if argument.required else f"{argument.name}?"


async def _prompt(chat: CommandFace, rest: str) -> None:
    words = _split_words(rest)
    if not words:
        raise ConfigError("Usage: /prompt SERVER.PROMPT [name=value …]. /prompts lists them.")
    conversation = chat.conversation
    server, name, words = _split_prompt_name(chat, words)
    known = [found for _, found in await conversation.list_prompts(server)]
    prompt = find_prompt(server, known, name)
    arguments = parse_pairs(words)
    if not words and prompt.arguments:
        arguments = await chat.fill_form(f"{server} / {name}", server, _make_schema(prompt.arguments))
    check_prompt_arguments(server, prompt, arguments)
    chat.show_outcome(await conversation.fill_prompt(server, name, arguments))


def _split_prompt_name(chat: CommandFace, words: list[str]) -> tuple[str, str, list[str]]:
    """The server, the name of its prompt and the words left of `SERVER.PROMPT …` or `SERVER PROMPT …`."""
    first, *others = words
    server, dot, name = first.partition(".")
    is_server = first.casefold() in map(str.casefold, chat.conversation.status)
    if is_server and others:
        return _find_server(chat, first), others[0], others[1:]
    if not dot or not name:
        raise ConfigError("Usage: /prompt SERVER.PROMPT [name=value …]. /prompts lists them.")
    return _find_server(chat, server), name, others


def _make_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The form of a prompt: its arguments are texts."""
    return {
        "type": "object",
        "properties": {each.name: {"type": "string", "description": each.description or ""} for each in arguments},
        "required": [each.name for each in arguments if each.required],
    }


def _say_rows(chat: CommandFace, rows: _Rows, nothing: str) -> None:
    """Say the rows as columns, or that there are none."""
    if not rows:
        chat.say(nothing)
    for line in fit_columns(rows, chat.width - 2):
        chat.say(f"  {line}")


# --- the chat itself -----------------------------------------------------------------------------------------------


async def _permissions(chat: CommandFace, _: str) -> None:
    conversation = chat.conversation
    chat.say(*describe_rules(conversation.host.call_policy(conversation.registry), conversation.viewpoint.where))


_NARROWEST_HELP = 70
"""Cells that the commands need beside their descriptions; where there are fewer, these go below."""


async def _help(chat: CommandFace, _: str) -> None:
    chat.say("Describe a task, pick one of the tools that fit, and fill in what it needs.")
    chat.say("SERVER.TOOL opens a tool. Tab completes. Ctrl+C stops a call; twice at the prompt, it leaves.")
    chat.say("")
    rows = [(f"  {command.usage}", command.help) for command in COMMANDS.values()]
    is_narrow = chat.width < _NARROWEST_HELP
    chat.say(*[f"{usage}\n      {help}" for usage, help in rows] if is_narrow else columns(rows))


async def _quit(chat: CommandFace, _: str) -> None:
    chat.leave()


COMMANDS: Mapping[str, SlashCommand] = {
    "mcp": SlashCommand(_mcp, "/mcp [NAME]", "servers and their status; also reload [NAME], enable NAME, disable NAME"),
    "approve": SlashCommand(_approve, "/approve [NAME]", "what the project would start; you decide whether it may"),
    "reject": SlashCommand(_reject, "/reject NAME", "refuse a server of the project until it changes"),
    "pins": SlashCommand(_pins, "/pins [NAME]", "tools as you approved them; you decide about those that changed"),
    "tools": SlashCommand(_tools, "/tools [WORDS]", "all tools, or those that match"),
    "call": SlashCommand(_call, "/call [SERVER.TOOL [k=v …]]", "call a tool; what is left out is asked for"),
    "resources": SlashCommand(_resources, "/resources [SERVER]", "what can be read"),
    "read": SlashCommand(_read, "/read SERVER URI", "read a resource"),
    "prompts": SlashCommand(_prompts, "/prompts [SERVER]", "the prompts that servers offer"),
    "prompt": SlashCommand(_prompt, "/prompt SERVER.PROMPT [k=v …]", "fill in a prompt and show it"),
    "permissions": SlashCommand(_permissions, "/permissions", "which calls are allowed, denied or asked about"),
    "help": SlashCommand(_help, "/help", "this list"),
    "quit": SlashCommand(_quit, "/quit", "leave; so does Ctrl+D"),
}
ALIASES = {"exit": "quit", "q": "quit", "?": "help", "h": "help", "resource": "read", "servers": "mcp"}
