"""Writes reference/commands.md from the command line itself: `make docs`."""

import inspect
from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from mooring import cli
from mooring.chat.command import SlashCommand
from mooring.chat.commands import COMMANDS
from mooring.chat.mcp.verbs import VERBS, spell_usage
from mooring.cli import base
from mooring.cli.app import app
from mooring.cli.build import VerbsGroup

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

Describe a task to find tools, or type `SERVER.TOOL`. Tab completes, and Ctrl+C gives up what is under way. These lines
are commands:
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
    context = click.Context(app, info_name="mooring")
    commands = list(_find_commands(context))
    parts = [
        HEAD,
        _table(("command", "what it does"), map(_summarize, commands)),
        NOTES,
        "## Options of every command\n\nThey can come before or after the command.\n",
        _table(("option", "what it does"), _describe_shared_options(context)),
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


def _find_commands(context: click.Context) -> Iterator[click.Context]:
    """The context of each command, without groups and without commands that are hidden."""
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        below = click.Context(command, info_name=name, parent=context)
        if isinstance(command, click.Group):
            yield from _find_commands(below)
        else:
            yield below


def _summarize(context: click.Context) -> tuple[str, str]:
    assert context.parent is not None
    group = context.parent.command
    assert isinstance(group, VerbsGroup)
    path = context.command_path
    summary = group.rows[context.info_name or ""].summary
    return f"[`{path}`](#{path.replace(' ', '-')})", _escape(summary)


def _describe_shared_options(context: click.Context) -> Iterator[tuple[str, str]]:
    # The root takes nothing but these and the usual two, and hides these from click's own list.
    for option in context.command.get_params(context):
        if isinstance(option, click.Option) and option.hidden:
            option.hidden = False
            yield from _describe_option(option, context)


def _describe_command(context: click.Context) -> str:
    command = context.command
    path = context.command_path
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    options = [row for option in command.params for row in _describe_option(option, context)]
    table = f"\n{_table(('option', 'what it does'), options)}" if options else ""
    return f"## `{path}`\n\n```\n{usage}\n```\n\n{_format_help(command.help or '')}{table}"


def _describe_option(option: click.Parameter, context: click.Context) -> Iterator[tuple[str, str]]:
    record = option.get_help_record(context) if isinstance(option, click.Option) else None
    if record is not None:
        names, summary = record
        yield f"`{_escape(names)}`", _escape(summary)


def _describe_line(command: SlashCommand) -> tuple[str, str]:
    return f"`{_escape(command.usage)}`", _escape(command.help)


def _format_help(text: str) -> str:
    """A help text as Markdown: paragraphs, and what click is told not to wrap as a block of code."""
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n".join(map(_format_paragraph, paragraphs))


def _format_paragraph(text: str) -> str:
    _, is_code, code = text.partition("\b\n")
    if is_code:
        return f"```sh\n{code}\n```\n"
    return f"{text}\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _escape(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    TARGET.write_text(page())
