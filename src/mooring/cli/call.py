"""`mooring call`."""

import asyncio
import sys
from collections.abc import Mapping
from typing import Any

import click
from msgspec.structs import replace

from mooring import files
from mooring.actions import direct
from mooring.actions.arguments import LIMIT, filled
from mooring.cli.adhoc import guard, is_adhoc, label, server_options, setup, target, trouble
from mooring.cli.base import UNHEALTHY, Command, Globals, complete_tool, current, print_json
from mooring.cli.permission import permission_options, said
from mooring.cli.ticker import Ticker
from mooring.core.result import Result
from mooring.core.tool import Tool
from mooring.display.results import as_bytes, as_data, as_text
from mooring.display.text import safe_text
from mooring.errors import ConfigError
from mooring.permissions.judge import Judge


@click.command("call", cls=Command)
@click.argument("tool", metavar="SERVER.TOOL", shell_complete=complete_tool)
@click.argument("words", nargs=-1, metavar="[NAME=VALUE]...")
@click.option("--args", "given", metavar="JSON", help="All arguments as one JSON object; - reads it from stdin.")
@click.option("-o", "--output", metavar="FILE", help="Write the result's text, or its picture or sound, to a file.")
@permission_options
@server_options
@click.pass_context
def command(
    ctx: click.Context,
    /,
    tool: str,
    words: tuple[str, ...],
    given: str | None,
    output: str | None,
    **server: Any,
) -> None:
    """Call a tool. NAME=@FILE takes a value from a file; exits 1 if the tool says that it failed.

    \b
    mooring call github.search_issues query=words
    mooring call --server 'npx -y @modelcontextprotocol/server-everything' echo message=hello
    mooring call --url https://example.com/mcp search query=words
    """
    options = current(ctx)
    permissions = said(server)
    if "-" in (*words[-1:], given):
        words, given = words[:-1] if words[-1:] == ("-",) else words, _stdin()
    results: list[Result] = []

    def fill(owner: str, found: Tool) -> Mapping[str, Any]:
        return filled(owner, found, words, given)

    def show(result: Result) -> None:
        ticker.clear()
        results.append(result)
        _show(options, result, output)

    with Ticker(options, label(server, tool)) as ticker:
        if is_adhoc(server):
            gate = Judge(options.request(), permissions, trouble(options))
            asyncio.run(direct.call(target(options, server), guard(options), tool, fill, gate, ticker, show))
        else:
            from mooring.actions.call import call  # loads the host, which a server named by its command needs not

            opening = replace(setup(options, server), said=permissions)
            asyncio.run(call(opening, tool, fill, ticker, show))
    ctx.exit(UNHEALTHY if any(result.is_error for result in results) else 0)


def _show(options: Globals, result: Result, output: str | None) -> None:
    if output is not None:
        _save(result, output)
    elif options.json:
        print_json(as_data(result))
    else:
        text = as_text(result)
        # To a program, byte for byte; to a terminal, nothing that could steer it.
        click.echo(safe_text(text) if sys.stdout.isatty() else text.encode())
        sys.stdout.flush()


def _save(result: Result, path: str) -> None:
    data = as_bytes(result)
    if data is None:
        raise ConfigError("The result has nothing to write to a file; --json shows it whole.")
    files.write(path, data, 0o644)


def _stdin() -> str:
    if sys.stdin is None:
        raise ConfigError("There is nothing to read: stdin is closed.")
    data = sys.stdin.buffer.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ConfigError(f"The arguments on stdin are larger than {LIMIT // files.MIB} MiB.")
    try:
        return data.decode()
    except UnicodeDecodeError:
        reason = "The arguments on stdin are not UTF-8 text."
    raise ConfigError(reason)
