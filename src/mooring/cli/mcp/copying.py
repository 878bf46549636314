"""`mooring mcp import` and `mooring mcp export`: copy servers between tools, after a look at the change."""

import sys
from collections.abc import Callable, Coroutine
from typing import Any

import click

from mooring.cli.base import DENIED, OK, UNHEALTHY, USAGE, Globals, is_on_terminal, print_json, print_lines, tell
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.mcp.list import make_problem_data
from mooring.cli.question import find_asker
from mooring.core.conversation.question import Ask
from mooring.core.protocol.units import MIB
from mooring.display.text import safe_text
from mooring.errors import ConfigError
from mooring.verbs.config.copy_servers import Copied, CopyOptions, SkipKind, SkippedServer, describe_copied
from mooring.verbs.config.export_servers import export_servers
from mooring.verbs.config.import_servers import STDIN, ImportSource, import_servers, list_tools
from mooring.verbs.verb import show_notes

_CODES: dict[SkipKind, int] = {"unapproved": DENIED, "refused": USAGE, "broken": UNHEALTHY}
"""The exit code if a named server was skipped for this reason; the first of these wins, the other reasons are none."""


def run_import(options: Globals, names: tuple[str, ...], source: str, **words: Any) -> int:
    """Copy servers of other tools, or of a file, into Mooring's own."""
    text = _read_stdin() if source == STDIN else b""
    chosen = ImportSource(source, text)
    # Whoever names a file means all that is in it; a tool has many servers, and some of them are a project's.
    is_file_named = bool(source) and source not in list_tools() and not names
    return _run(
        options,
        None if is_file_named else names,
        words,
        lambda copy, ask, request: import_servers(request, chosen, names, copy, ask),
    )


def run_export(options: Globals, names: tuple[str, ...], tool: str, **words: Any) -> int:
    """Copy servers into another tool's file."""
    return _run(options, names, words, lambda copy, ask, request: export_servers(request, tool, names, copy, ask))


def _read_stdin() -> bytes:
    text = sys.stdin.buffer.read(MIB + 1)
    if len(text) > MIB:
        raise ConfigError("The standard input is longer than 1 MiB.")
    return text


def _run(
    options: Globals, named: tuple[str, ...] | None, words: Any, copy: Callable[..., Coroutine[Any, Any, Copied]]
) -> int:
    """Copy, report it, and return the exit code of the servers that were `named`, `None` for all of them."""
    ask: Ask | None = find_asker(options) if is_on_terminal() else None
    # Nobody has seen the change, and nobody said that it need not be seen.
    is_unseen = ask is None and not words["yes"] and not words["dry_run"]
    dry_run = words["dry_run"] or is_unseen
    chosen = CopyOptions(words["scope"], words["may_replace"], dry_run, confirm=not words["yes"])
    copied = run_until_interrupted(copy(chosen, ask, options.workspace()))
    if options.json:
        print_json(_make_data(copied, chosen))
    else:
        _report(options, copied, chosen)
    if is_unseen and copied.planned:
        tell("Nobody could be asked about the change. Add -y to write it.")
        return USAGE
    return DENIED if copied.declined else _choose_code(copied, named)


def _choose_code(copied: Copied, named: tuple[str, ...] | None) -> int:
    """The exit code for the servers that were named; what else was skipped is reported, and is no failure."""
    kinds = {each.kind for each in _list_skipped(copied, named)}
    for kind, code in _CODES.items():
        if kind in kinds:
            return code
    return UNHEALTHY if copied.unread else OK


def _list_skipped(copied: Copied, named: tuple[str, ...] | None) -> list[SkippedServer]:
    """Those that were skipped of the servers that were named; all of them if none were."""
    if named is None:
        return list(copied.skipped)
    wanted = {name.casefold() for name in named}
    return [each for each in copied.skipped if each.name.casefold() in wanted]


def _make_data(copied: Copied, chosen: CopyOptions) -> dict[str, Any]:
    data = {
        "version": 1,
        "tool": copied.tool,
        "scope": copied.scope,
        "path": copied.path,
        "leadsTo": copied.leads_to,
        "written": copied.written,
        "skipped": copied.skipped,
        "notExpressed": copied.not_expressed,
        "plainSecrets": copied.plain_secrets,
        "fromProject": copied.from_project,
        "approved": copied.approved,
        "stored": copied.stored,
        "unread": [make_problem_data(problem) for problem in copied.unread],
    }
    return {**data, "planned": copied.planned, "diff": copied.diff} if chosen.dry_run else data


def _report(options: Globals, copied: Copied, chosen: CopyOptions) -> None:
    if chosen.dry_run and copied.diff:
        click.echo(safe_text(copied.diff))
    lines = describe_copied(copied, options.workspace().where.home)
    print_lines(options, show_notes(lines, is_done=bool(copied.written)))
