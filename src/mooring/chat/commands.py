"""What can be typed behind a slash, in any chat."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NoReturn

from mooring.agents.commands.find import find_used_command
from mooring.backends.manual import choose_tool
from mooring.chat import model_texts, prompts
from mooring.chat.agent_commands import (
    choose_agent,
    find_agent_command,
    give_task,
    list_agent_completions,
    say_agents,
    show_agents,
)
from mooring.chat.command import CommandFace, SlashCommand, find_server, say_rows, say_usages, split_words
from mooring.chat.conversation_commands import CONVERSATION_COMMANDS, list_conversation_completions
from mooring.chat.effort import choose_effort, list_effort_completions
from mooring.chat.looks import choose_theme, list_theme_completions, show_keys
from mooring.chat.mcp import verbs
from mooring.chat.rewind import rewind
from mooring.chat.session import ChatSession
from mooring.chat.shell import drop_outputs
from mooring.chat.show import show_call
from mooring.chat.undo import undo_turn
from mooring.chat.welcome import DEMO
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
        _refuse_unexpected(command, rest.strip())
        await command.run(chat, rest.strip())
    elif (used := await find_used_command(chat.session.files.words.commands, line)) is not None:
        await model_texts.use_file_command(chat, used)
    elif (agent := find_agent_command(chat, word)) is not None:
        await give_task(chat, agent, rest.strip())
    elif (skill := await model_texts.find_server_skill(chat, line)) is not None:
        await model_texts.use_server_skill(chat, skill, line)
    elif (prompt := prompts.find_slash_prompt(chat.session.servers.status, word)) is not None:
        await prompts.use_prompt(chat, prompt, split_words(rest))
    else:
        _refuse_unknown(chat, word)


def _refuse_unexpected(command: SlashCommand, words: str) -> None:
    """Words that mean nothing, such as the 2 of `/undo 2`, are no part of what is done then."""
    if words and " " not in command.usage and command.usage not in _HARMLESS:
        raise ConfigError(f"Unexpected argument {words!r}. Usage: {command.usage}")


def _refuse_unknown(chat: CommandFace, word: str) -> NoReturn:
    if not prompts.looks_like_prompt(word):
        known = [*COMMANDS, *chat.session.files.commands.by_name, *chat.session.files.agents.by_name]
        begun = [name for name in known if word and name.casefold().startswith(word.casefold())]
        near = begun or nearest(word.casefold(), known, 1)
        guess = f"Did you mean /{near[0]}?" if near else "/help lists the commands."
        raise ConfigError(f"There is no command /{word}. {guess}")
    server = word.partition(".")[0]
    find_server(chat, server)  # raises, with the server that may have been meant
    raise ConfigError(f"There is no prompt /{word}. /prompts lists them.")


def list_completions(session: ChatSession) -> list[str]:
    """Everything that Tab can complete a line to."""
    tools = [".".join(pair) for pair in session.conversation.pairs.values()]
    found = [f"/{name}" for name in COMMANDS]
    for server in session.servers.status:
        found += [f"/{name} {server}" for name in ("mcp", "approve", "reject", "pins", "resources", "prompts", "read")]
    found += verbs.list_completions(session.servers.status)
    found += [f"/show {call.number}" for call in session.calls]
    found += [f"/{name}" for name, _ in session.files.commands.commands]
    found += list_agent_completions(session)
    found += list_conversation_completions(session)
    found += list_effort_completions(session)
    found += list_theme_completions()
    found += model_texts.list_skill_completions(session)
    found += prompts.list_prompt_completions(session)
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
        nothing += _name_connecting(chat.session.servers.status)
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
    given = _parse_written(tool, written.strip()) if written.strip() else None
    is_filled_in = not name or not set(list_required(tool.schema)) <= set(given or {})
    arguments = await chat.fill(tool, given) if is_filled_in else given or {}
    if arguments is not None:
        # Whoever filled in the form has seen what is called, and with what; a pasted line may come from anywhere.
        await chat.session.conversation.call(tool.name, arguments, approved=is_filled_in)


async def _choose_tool(chat: CommandFace) -> ToolDefinition | None:
    conversation = chat.session.conversation
    names = list(conversation.pairs)
    if not names:
        raise ConfigError("No tools are known yet. /mcp shows the servers.")
    if len(names) > MOST_FOUND:
        chat.say(f"The first {MOST_FOUND} of {len(names)} tools; type a name or words to find others.")
    found = [tool for tool in map(conversation.find, names[:MOST_FOUND]) if tool is not None]
    return await choose_tool(chat, conversation, found, lambda text: chat.say(safe_text(text)))


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


_NARROWEST_HELP = 70
"""Cells that the commands need beside their descriptions."""


async def _help(chat: CommandFace, _: str) -> None:
    chat.say(*_describe_answering(chat.session))
    chat.say("A \\ at the end of a line goes on with another, as Ctrl+J does; a paste is one message.")
    chat.say("/keys lists the keys. !COMMAND runs in your shell.")
    chat.say("")
    has_model = chat.session.responder.agent is not None
    shown = [command for command in COMMANDS.values() if has_model or not command.needs_model]
    rows = [(f"  {command.usage}", command.help) for command in shown]
    say_usages(chat, rows, _NARROWEST_HELP)
    await model_texts.say_file_commands(chat)
    await model_texts.say_server_skills(chat)
    say_agents(chat)


def _describe_answering(session: ChatSession) -> Iterator[str]:
    """How to work with whoever answers: nobody, a model, or another agent's program."""
    responder = session.responder
    if responder.model is None:
        yield "Describe a task, pick one of the tools that fit, and fill in what it needs."
        yield "SERVER.TOOL opens a tool. Tab completes. Ctrl+C stops a call; twice at the prompt, it leaves."
        return
    own = "its own tools and those of your servers" if responder.program is not None else "the tools of your servers"
    yield f"Say what you want done: {safe(responder.model)} answers, with {own}."
    yield "@FILE and @SERVER:URI attach something. SERVER.TOOL alone calls that tool, and nothing is sent."
    yield "Tab completes. Ctrl+C stops the answer; twice at the prompt, it leaves."


async def _use_demo(chat: CommandFace, _: str) -> None:
    """`/demo`: the bundled server, until this chat ends. Raises: ConfigError."""
    session = chat.session
    if DEMO in session.servers.status:
        raise ConfigError(f"A server named {DEMO} is here already. /mcp shows it.")
    await session.servers.add_demo()
    chat.say("The demo server is here until this chat ends. Try: add two numbers")


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
    "prompts": SlashCommand(prompts.show_prompts, "/prompts [SERVER]", "the prompts that servers offer"),
    "prompt": SlashCommand(
        prompts.run_prompt, "/prompt SERVER.PROMPT [k=v …]", "fill in a prompt, and send it if a model answers"
    ),
    "show": SlashCommand(show_call, "/show [NUMBER]", "the calls so far, or all of one of them"),
    "agents": SlashCommand(show_agents, "/agents", "agents that can be used here"),
    "agent": SlashCommand(choose_agent, "/agent [NAME]", "have an agent answer from now on, in a new conversation"),
    "permissions": SlashCommand(_permissions, "/permissions", "which calls are allowed, denied or asked about"),
    **dict(CONVERSATION_COMMANDS),
    "effort": SlashCommand(
        choose_effort, "/effort [NAME]", "how much the model thinks before it answers; change it", needs_model=True
    ),
    "undo": SlashCommand(undo_turn, "/undo", "take back the last turn: the files that it changed, and what was said"),
    "rewind": SlashCommand(rewind, "/rewind [N]", "change an earlier message and go on from there; the last is 1"),
    "theme": SlashCommand(choose_theme, "/theme [NAME [keep]]", "how the screen looks; with keep, in later chats too"),
    "keys": SlashCommand(show_keys, "/keys", "what each key does, and how to change it"),
    "demo": SlashCommand(_use_demo, "/demo", "use the demo server that comes with Mooring, until this chat ends"),
    "drop": SlashCommand(drop_outputs, "/drop", "leave out what your own commands printed; !COMMAND runs one"),
    "help": SlashCommand(_help, "/help", "this list"),
    "quit": SlashCommand(_quit, "/quit", "leave; so does Ctrl+D"),
}
_HARMLESS = ("/help", "/quit")
"""What is meant is clear, whatever stands behind it."""
ALIASES = {"exit": "quit", "q": "quit", "?": "help", "h": "help", "resource": "read", "servers": "mcp"}
