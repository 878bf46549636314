"""What can be typed behind a slash, in any chat."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, NoReturn

from mooring.backends.manual import choose_tool
from mooring.chat.agents import show_agents
from mooring.chat.command import CommandFace, SlashCommand, find_server, say_rows, say_usages, split_words
from mooring.chat.mcp import verbs
from mooring.chat.model_texts import (
    find_file_command,
    find_server_skill,
    list_file_completions,
    list_skill_completions,
    say_file_commands,
    say_server_skills,
    use_file_command,
    use_server_skill,
)
from mooring.chat.prompts import (
    find_slash_prompt,
    list_prompt_completions,
    looks_like_prompt,
    run_prompt,
    show_prompts,
    use_prompt,
)
from mooring.chat.session import ChatSession
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.status import Connecting, Status
from mooring.core.protocol.tool import Resource
from mooring.core.text.suggestions import nearest
from mooring.display.text import safe, safe_text, shorten_description
from mooring.errors import ConfigError
from mooring.tools.schema.parameters import list_required
from mooring.verbs.config.rules import describe_rules
from mooring.verbs.use.arguments import parse_arguments

MOST_FOUND = 20
"""How many tools `/tools WORDS` shows, and `/call` offers."""
_MOST_NAMED = 5
"""How many of the servers that are still connecting `/tools` names."""


async def run(chat: CommandFace, line: str) -> None:
    """Do what a line that begins with a slash says. Raises: MooringError."""
    word, _, rest = line.removeprefix("/").partition(" ")
    command = COMMANDS.get(ALIASES.get(word, word))
    if command is not None:
        await command.run(chat, rest.strip())
    elif (used := await find_file_command(chat, line)) is not None:
        await use_file_command(chat, used)
    elif (skill := await find_server_skill(chat, line)) is not None:
        await use_server_skill(chat, skill, line)
    elif (prompt := find_slash_prompt(chat.session.status, word)) is not None:
        await use_prompt(chat, prompt, split_words(rest))
    else:
        _refuse_unknown(chat, word)


def _refuse_unknown(chat: CommandFace, word: str) -> NoReturn:
    if not looks_like_prompt(word):
        known = [*COMMANDS, *chat.session.commands.by_name]
        near = [name for name in known if word and name.startswith(word)] or nearest(word, known, 1)
        guess = f"Did you mean /{near[0]}?" if near else "/help lists the commands."
        raise ConfigError(f"There is no command /{word}. {guess}")
    server = word.partition(".")[0]
    find_server(chat, server)  # raises, with the server that may have been meant
    raise ConfigError(f"There is no prompt /{word}. /prompts lists them.")


def list_completions(session: ChatSession) -> list[str]:
    """Everything that Tab can complete a line to."""
    tools = [".".join(pair) for pair in session.conversation.pairs.values()]
    found = [f"/{name}" for name in COMMANDS]
    for server in session.status:
        found += [f"/{name} {server}" for name in ("mcp", "approve", "reject", "pins", "resources", "prompts", "read")]
    found += verbs.list_completions(session.status)
    found += list_file_completions(session)
    found += list_skill_completions(session)
    found += list_prompt_completions(session)
    found += [f"/call {tool}" for tool in tools]
    return found + tools


# --- tools and resources -------------------------------------------------------------------------------------------


async def _tools(chat: CommandFace, words: str) -> None:
    conversation = chat.session.conversation
    pairs = conversation.pairs
    names: Iterable[str] = pairs
    nothing = "No tools are known yet. /mcp shows the servers."
    if words:
        names = [tool.name for tool in conversation.search(words, MOST_FOUND)]
        nothing = f"No tool matches {safe(words)}."
    # The conversation works on a snapshot of the host's tools: one of them may be gone by now.
    entries = {entry.name: entry for entry in chat.session.host.tools}
    known = [name for name in names if name in entries]
    rows = [(safe(".".join(pairs[name])), shorten_description(entries[name].description)) for name in known]
    if not rows:
        nothing += _name_connecting(chat.session.status)
    say_rows(chat, rows, nothing)


def _name_connecting(status: Mapping[str, Status]) -> str:
    """A sentence with the servers that may have tools in a moment; empty if there are none."""
    names = [name for name in status if isinstance(status[name], Connecting)]
    if not names:
        return ""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f" Still connecting: {safe(', '.join(names[:_MOST_NAMED]))}{more}."


async def _call(chat: CommandFace, rest: str) -> None:
    name, _, written = rest.partition(" ")
    tool = await (chat.session.find_tool(name) if name else _choose_tool(chat))
    if tool is None:
        return
    arguments = await _read_arguments(chat, tool, written.strip(), ask=not name)
    if arguments is not None:
        await chat.session.conversation.call(tool.name, arguments)


async def _choose_tool(chat: CommandFace) -> ToolDefinition | None:
    conversation = chat.session.conversation
    names = list(conversation.pairs)
    if not names:
        raise ConfigError("No tools are known yet. /mcp shows the servers.")
    if len(names) > MOST_FOUND:
        chat.say(f"The first {MOST_FOUND} of {len(names)} tools; type a name or words to find others.")
    found = [tool for tool in map(conversation.find, names[:MOST_FOUND]) if tool is not None]
    return await choose_tool(chat, conversation, found, lambda text: chat.say(safe_text(text)))


async def _read_arguments(
    chat: CommandFace, tool: ToolDefinition, written: str, *, ask: bool
) -> Mapping[str, Any] | None:
    """The arguments that were typed, as words or as JSON; a form asks for those that are required and left out."""
    required = set(list_required(tool.schema))
    if not written:
        return await chat.fill(tool) if ask or required else {}
    given = _parse_written(tool, written)
    if required.difference(given):
        return await chat.fill(tool, given)
    return given


def _parse_written(tool: ToolDefinition, written: str) -> dict[str, Any]:
    if written.startswith("{"):
        return parse_arguments((), tool.schema, written)
    words = split_words(written)
    for word in words:
        if "=" not in word:
            raise ConfigError(f"{word!r} is not an argument: write name=value, or all of them as JSON in {{…}}.")
    return parse_arguments(words, tool.schema)


async def _resources(chat: CommandFace, name: str) -> None:
    server = find_server(chat, name) if name else None
    rows = []
    for found in await chat.session.host.resources(server):
        resource = found.item
        if isinstance(resource, Resource):
            rows.append((safe(found.server), safe(resource.uri), safe(resource.title or resource.name)))
    of_server = f"{safe(server)} offers" if server else "The connected servers offer"
    say_rows(chat, rows, f"{of_server} no resources.")


async def _read(chat: CommandFace, rest: str) -> None:
    words = rest.split()
    if len(words) != 2:
        raise ConfigError("Usage: /read SERVER URI. /resources lists them.")
    name, uri = words
    chat.show_outcome(await chat.session.read_resource(find_server(chat, name), uri))


# --- the chat itself -----------------------------------------------------------------------------------------------


async def _permissions(chat: CommandFace, _: str) -> None:
    session = chat.session
    chat.say(*describe_rules(session.host.call_policy(session.conversation), session.workspace.where))


async def _run_mcp_verb(name: str, chat: CommandFace, rest: str) -> None:
    await verbs.run_verb(chat, verbs.VERBS[name], rest)


_approve, _reject, _pins = (partial(_run_mcp_verb, name) for name in ("approve", "reject", "pins"))


_NARROWEST_HELP = 70
"""Cells that the commands need beside their descriptions."""


async def _help(chat: CommandFace, _: str) -> None:
    chat.say("Describe a task, pick one of the tools that fit, and fill in what it needs.")
    chat.say("SERVER.TOOL opens a tool. Tab completes. Ctrl+C stops a call; twice at the prompt, it leaves.")
    chat.say("")
    rows = [(f"  {command.usage}", command.help) for command in COMMANDS.values()]
    say_usages(chat, rows, _NARROWEST_HELP)
    await say_file_commands(chat)
    await say_server_skills(chat)


async def _quit(chat: CommandFace, _: str) -> None:
    chat.leave()


COMMANDS: Mapping[str, SlashCommand] = {
    "mcp": SlashCommand(verbs.run, "/mcp [enable|disable <server>]", "View and toggle MCP servers; see /mcp help"),
    "approve": SlashCommand(
        partial(_run_mcp_verb, "approve"), "/approve [NAME]", "what the project would start; you decide whether it may"
    ),
    "reject": SlashCommand(
        partial(_run_mcp_verb, "reject"), "/reject NAME", "refuse a server of the project until it changes"
    ),
    "pins": SlashCommand(
        partial(_run_mcp_verb, "pins"),
        "/pins [NAME]",
        "tools as you approved them; you decide about those that changed",
    ),
    "tools": SlashCommand(_tools, "/tools [WORDS]", "all tools, or those that match"),
    "call": SlashCommand(_call, "/call [SERVER.TOOL [k=v …]]", "call a tool; what is left out is asked for"),
    "resources": SlashCommand(_resources, "/resources [SERVER]", "what can be read"),
    "read": SlashCommand(_read, "/read SERVER URI", "read a resource"),
    "prompts": SlashCommand(show_prompts, "/prompts [SERVER]", "the prompts that servers offer"),
    "prompt": SlashCommand(
        run_prompt, "/prompt SERVER.PROMPT [k=v …]", "fill in a prompt, and send it if a model answers"
    ),
    "agents": SlashCommand(show_agents, "/agents", "agents that can be used here"),
    "permissions": SlashCommand(_permissions, "/permissions", "which calls are allowed, denied or asked about"),
    "help": SlashCommand(_help, "/help", "this list"),
    "quit": SlashCommand(_quit, "/quit", "leave; so does Ctrl+D"),
}
ALIASES = {"exit": "quit", "q": "quit", "?": "help", "h": "help", "resource": "read", "servers": "mcp"}
