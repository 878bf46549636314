"""Prompts of servers as commands of a chat: listed, filled in, shown, and sent if a model answers."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mooring.chat.command import CommandFace, find_server, say_rows, split_words
from mooring.chat.session import ChatSession
from mooring.core.protocol.tool import Argument, Prompt
from mooring.display.text import safe, shorten_description
from mooring.errors import ConfigError
from mooring.verbs.use import offers

USAGE = "Usage: /prompt SERVER.PROMPT [name=value …]. /prompts lists them."
_FOLDED = re.compile(r"[^A-Za-z0-9_-]")
"""What `/mcp__server__prompt` writes as an underscore."""


class PromptName(Struct, frozen=True):
    """A prompt of a server, as it was typed."""

    server: str
    name: str
    is_folded: bool = False
    """Typed as in `/mcp__server__prompt`."""


async def show_prompts(chat: CommandFace, name: str) -> None:
    """List the prompts of a server, or of all. Raises: as `Host.prompts`; ConfigError."""
    server = find_server(chat, name) if name else None
    rows = []
    for owner, prompt in await chat.session.list_prompts(server):
        arguments = ", ".join(each.name if each.required else f"{each.name}?" for each in prompt.arguments or ())
        summary = shorten_description(prompt.description or prompt.title or "")
        rows.append((safe(f"{owner}.{prompt.name}({arguments})"), summary))
    of_server = f"{safe(server)} offers" if server else "The connected servers offer"
    say_rows(chat, rows, f"{of_server} no prompts.")
    if rows:
        chat.say("`/prompt SERVER.PROMPT [name=value …]` fills one in; so does `/SERVER.PROMPT`.")


async def run_prompt(chat: CommandFace, rest: str) -> None:
    """Use the prompt that the words behind `/prompt` name. Raises: as `use_prompt`."""
    words = split_words(rest)
    if not words:
        raise ConfigError(USAGE)
    prompt, pairs = _split_prompt_name(chat, words)
    await use_prompt(chat, prompt, pairs)


async def use_prompt(chat: CommandFace, typed: PromptName, words: Sequence[str]) -> None:
    """Fill in a prompt, ask for what it needs, show it, and send it if a model answers.

    Raises: ConfigError if there is no such prompt, or its arguments don't fit; as `Host.prompt`.
    """
    session, server = chat.session, typed.server
    prompt = await _find_prompt(session, typed)
    arguments = await _read_arguments(chat, server, prompt, words)
    filled = await session.host.prompt(server, prompt.name, arguments)
    # Shown before it is sent: it is said in the person's name, and they have not read it yet.
    chat.show_outcome(await session.describe_prompt(server, prompt.name, filled))
    said = await session.make_prompt_turn(server, prompt.name, filled)
    if said is not None:
        await chat.send(said)


def find_slash_prompt(servers: Iterable[str], word: str) -> PromptName | None:
    """The prompt that `/server.prompt` or `/mcp__server__prompt` names, if there is such a server."""
    # The longest first: a server's name may begin with that of another, and a dot.
    for server in sorted(servers, key=len, reverse=True):
        if name := _cut_prefix(word, f"{server}."):
            return PromptName(server, name)
        if name := _cut_prefix(word, f"mcp__{_fold(server)}__"):
            return PromptName(server, name, is_folded=True)
    return None


def looks_like_prompt(word: str) -> bool:
    """Whether a word that is no command may be a prompt of a server whose name is mistyped."""
    server, dot, name = word.partition(".")
    return bool(server and dot and name) and "/" not in word


def list_prompt_completions(session: ChatSession) -> Iterator[str]:
    """The lines with a prompt that Tab can complete to."""
    for server, prompt in session.list_known_prompts():
        heads = (
            f"/prompt {server}.{prompt.name}",
            f"/{server}.{prompt.name}",
            f"/mcp__{_fold(server)}__{_fold(prompt.name)}",
        )
        arguments = [f" {argument.name}=" for argument in prompt.arguments or ()]
        lines = [f"{head}{rest}" for head in heads for rest in ("", *arguments)]
        # Tab writes them to the terminal as they are.
        yield from filter(str.isprintable, lines)


def _cut_prefix(word: str, prefix: str) -> str:
    """What is behind a prefix, whose case doesn't matter; empty if the word doesn't begin with it."""
    return word[len(prefix) :] if word.casefold().startswith(prefix.casefold()) else ""


def _fold(name: str) -> str:
    return _FOLDED.sub("_", name)


def _split_prompt_name(chat: CommandFace, words: Sequence[str]) -> tuple[PromptName, Sequence[str]]:
    """The prompt, and the words left of `SERVER.PROMPT …` or `SERVER PROMPT …`. Raises: ConfigError."""
    first, *others = words
    servers = chat.session.servers.status
    is_server = first.casefold() in map(str.casefold, servers)
    if is_server and others:
        return PromptName(find_server(chat, first), others[0]), others[1:]
    found = find_slash_prompt(servers, first)
    if found is not None:
        return found, others
    server, dot, name = first.partition(".")
    if not dot or not name:
        raise ConfigError(USAGE)
    return PromptName(find_server(chat, server), name), others


async def _find_prompt(session: ChatSession, typed: PromptName) -> Prompt:
    known = [prompt for _, prompt in await session.list_prompts(typed.server)]
    if typed.is_folded:
        folded = [prompt for prompt in known if _fold(prompt.name) == typed.name]
        if len(folded) == 1:
            return folded[0]
    return offers.find_prompt(typed.server, known, typed.name)


async def _read_arguments(chat: CommandFace, server: str, prompt: Prompt, words: Sequence[str]) -> Mapping[str, str]:
    """The arguments that were typed; a form asks for those that are required and left out, or for all if none was."""
    given = offers.parse_pairs(words)
    offers.check_argument_names(server, prompt, given)
    if offers.list_missing_arguments(prompt, given) or (prompt.arguments and not words):
        title = f"{server} / {prompt.name}"
        given = await chat.fill_form(title, server, _make_schema(prompt.arguments or ()), given)
    offers.check_prompt_arguments(server, prompt, given)
    return given


def _make_schema(arguments: Sequence[Argument]) -> dict[str, Any]:
    """The form of a prompt: its arguments are texts."""
    return {
        "type": "object",
        "properties": {each.name: {"type": "string", "description": each.description or ""} for each in arguments},
        "required": [each.name for each in arguments if each.required],
    }
