"""Writes reference/commands.md from the command line itself: `make docs`."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from mooring import cli
from mooring.chat.command import SlashCommand
from mooring.chat.commands import COMMANDS
from mooring.chat.mcp.verbs import VERBS, spell_usage
from mooring.cli import base
from mooring.cli.command_line import GLOBALS, ROOT
from mooring.cli.help import describe_option, make_usage
from mooring.verbs.verb import Flag, Option, Verb, VerbGroup, find_options

TARGET = Path(__file__).with_name("reference") / "commands.md"

HEAD = """\
# Commands

<!-- Made by `make docs` from src/mooring/cli; a test checks that it is up to date. -->

`mooring` alone opens the chat on a terminal. In a pipe it prints the list of servers, like `mooring mcp list`.
"""

NOTES = """\
Data goes to stdout, everything else to stderr. Every command that reads something takes `--json`.

**Servers that are not configured.** Where a command takes a server, `--server 'COMMAND'` or `--url URL` can take its
place. `-H 'NAME: VALUE'` adds a header to `--url`. `-e NAME` passes one of your variables on to the server, and
`-e NAME=VALUE` sets one. `--timeout S` covers everything from the start of the server to the result.

**Servers that fail.** A server that fails never stops the others. One line on stderr reports all that failed
(`Warning: MCP startup error: …`); `-v` prints a line for each, `-q` none. A failure changes the exit code only if you
named the server or its definition says `"required": true`.

**Permissions.** A call that you type is allowed unless a [rule](../guides/permissions.md#levels) or `--deny RULE`
denies it.
"""

CHAT = """\
## In the chat

Without a model, describe a task to find tools; with one, say what you want done. `SERVER.TOOL` opens a tool. Tab
completes, and Ctrl+C gives up what is under way. These lines are commands:
"""

VERBS_HEAD = """\
`/mcp NAME` shows one server. `/mcp` also takes most verbs of `mooring mcp`. What they change is in effect at the next
line, in every chat that uses the same files; calls of other servers go on.
"""

EXIT_CODES = {
    base.OK: "success",
    base.UNHEALTHY: "a server is unhealthy, or the tool reported an error",
    base.USAGE: "wrong usage or configuration",
    base.LOGIN: "a login is needed",
    base.DENIED: "denied",
    base.TIMEOUT: "timed out",
    cli.INTERRUPTED: "interrupted",
}


def page() -> str:
    commands = list(_find_commands(ROOT))
    parts = [
        HEAD,
        _table(("command", "what it does"), map(_summarize, commands)),
        NOTES,
        "## Options of every command\n\nThey can come before or after the command.\n",
        _table(("option", "what it does"), map(_describe_option, GLOBALS)),
        "## Exit codes\n",
        _table(("code", "meaning"), ((str(code), meaning) for code, meaning in EXIT_CODES.items())),
        CHAT,
        _table(("line", "what it does"), map(_describe_line, COMMANDS.values())),
        VERBS_HEAD,
        _table(
            ("line", "what it does"),
            ((f"`{_escape(spell_usage(verb))}`", _escape(verb.in_chat)) for verb in VERBS.values()),
        ),
        *map(_describe_command, commands),
    ]
    return "\n".join(parts)


def _find_commands(group: VerbGroup, *path: str) -> Iterator[tuple[tuple[str, ...], Verb]]:
    """Each command with its path, without groups."""
    for row in group.load():
        if isinstance(row, VerbGroup):
            yield from _find_commands(row, *path, row.name)
        else:
            yield (*path, row.name), row


def _summarize(command: tuple[tuple[str, ...], Verb]) -> tuple[str, str]:
    path, verb = command
    name = " ".join(["mooring", *path])
    return f"[`{name}`](#{name.replace(' ', '-')})", _escape(verb.summary)


def _describe_command(command: tuple[tuple[str, ...], Verb]) -> str:
    path, verb = command
    options = [_describe_option(option) for option in find_options(verb, "shell")]
    table = f"\n{_table(('option', 'what it does'), options)}" if options else ""
    examples = "\n".join(["\n```sh", *verb.examples, "```\n"]) if verb.examples else ""
    text = f"## `{' '.join(['mooring', *path])}`\n\n```\n{make_usage(path, verb)}\n```\n\n{verb.help}\n"
    return f"{text}{examples}{table}"


def _describe_option(option: Option | Flag) -> tuple[str, str]:
    names, what = describe_option(option)
    return f"`{_escape(names)}`", _escape(what)


def _describe_line(command: SlashCommand) -> tuple[str, str]:
    return f"`{_escape(command.usage)}`", _escape(command.help)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(page())
