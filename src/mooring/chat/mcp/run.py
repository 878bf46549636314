"""What a line that begins with `/mcp` means: a verb, a server, or a slip of the fingers."""

from mooring.chat.command import CommandFace, say_usages
from mooring.chat.mcp.show import list_all, show_server
from mooring.chat.mcp.verbs import ALIASES, IN_SHELL, VERBS, needs_words, run_verb, spell_usage
from mooring.core.text.suggestions import nearest
from mooring.errors import UnknownServer

USAGE = "Usage: /mcp, /mcp enable <server>, /mcp disable <server>"
_HELP = "/mcp help lists every verb."
_DECISIONS = ("approve", "reject")
_NARROWEST_HELP = 80
"""Cells that the verbs need beside their descriptions."""


async def run(chat: CommandFace, rest: str) -> None:
    """Do what the words behind `/mcp` say. Raises: MooringError."""
    word, _, more = rest.partition(" ")
    words = more.strip()
    verb = VERBS.get(ALIASES.get(word, word))
    if not word:
        await list_all(chat, "")
    elif verb is not None and (words or not needs_words(verb)):
        await run_verb(chat, verb, words)
    else:
        await _show_server_or_usage(chat, rest)


async def _show_server_or_usage(chat: CommandFace, rest: str) -> None:
    try:
        server = chat.session.find_server(rest)
    except UnknownServer as error:
        chat.warn(USAGE, _guess(rest, error))
        return
    await show_server(chat, server)


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
        return _HELP
    guess = f"Did you mean /mcp {error.near[0]}?" if error.near else _HELP
    return f"No server is called {word}. {guess}"


async def show_help(chat: CommandFace, _: str) -> None:
    """Every verb, a line for each."""
    rows = [(f"  {spell_usage(verb)}", verb.in_chat) for verb in VERBS.values()]
    rows.insert(1, ("  /mcp NAME", "its status, tools and last output"))
    say_usages(chat, rows, _NARROWEST_HELP)
