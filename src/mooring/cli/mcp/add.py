"""`mooring mcp add` and `mooring mcp add-json`: write a server into a file, try it, and keep it or undo."""

from collections.abc import Coroutine, Sequence
from typing import Any

import click

from mooring.auth.records import StoredSecret
from mooring.cli.base import (
    OK,
    Command,
    Globals,
    HintedUsageError,
    get_globals,
    is_on_terminal,
    print_json,
    say,
)
from mooring.cli.failure import tell
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.mcp.describing import WORDS, AnyCommand, CommandWithWords, describing_options
from mooring.cli.mcp.test import Trial, try_configured
from mooring.cli.question import CommandAsker, find_asker
from mooring.core.conversation.question import KeepServer, No
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.display.text import quote_argument, safe, short_path
from mooring.errors import ConfigError
from mooring.tools.arguments.written import loads
from mooring.verbs.config.add import Addition, add, describe_addition, undo
from mooring.verbs.config.describe import SCOPES, ServerDescription, describe_entry, describe_swallowed_options
from mooring.verbs.config.references import suggest_references
from mooring.verbs.config.secrets import describe_stored, remove_secret
from mooring.verbs.config.wizard import NewServer, ask_for_server, offer_references

_EXAMPLE = "mooring mcp add docs https://example.com/mcp"
_NOTHING_ADDED = "Nothing was added."


def _target_options(command: AnyCommand) -> AnyCommand:
    for option in (
        click.option("--no-test", is_flag=True, help="Only write it; do not try to connect."),
        click.option("--to", "tool", metavar="TOOL", default="mooring", help="Write it into this tool's own file."),
        click.option(
            "-s",
            "--scope",
            type=click.Choice(SCOPES),
            default="user",
            help="For you everywhere (the default), or for everybody in this project.",
        ),
    ):
        command = option(command)
    return command


@click.command("add", cls=CommandWithWords)
@click.argument("name", default="")
@WORDS
@_target_options
@describing_options
@click.pass_context
def add_command(ctx: click.Context, /, **typed: Any) -> None:
    """Add a server, connect to it, and keep it or undo.

    \b
    mooring mcp add github -e GITHUB_TOKEN='${GITHUB_TOKEN}' -- npx -y @modelcontextprotocol/server-github
    mooring mcp add docs https://example.com/mcp --token '${DOCS_TOKEN}'
    mooring mcp add docs https://example.com/mcp --to claude-code -s project

    A value may be '${VARIABLE}': the file then holds the reference, not the secret. Without a command and a URL, you
    are asked for everything.
    """
    described = ServerDescription(**typed)
    new = _find_server(ctx, described)
    for note in describe_swallowed_options(described):
        tell(note)
    _add(ctx, new, described.no_test)


def _find_server(ctx: click.Context, described: ServerDescription) -> NewServer | None:
    """The server that was typed, or that a person at a terminal describes now; `None` if they leave it."""
    options = get_globals(ctx)
    ask = _find_asker(options) if described.is_bare else None
    if ask is not None:
        return _run_dialog(ask_for_server(ask, options.request(), described))
    if described.is_bare and not described.name:
        raise HintedUsageError("Say which server to add.", f"For example: {_EXAMPLE}", ctx)
    typed = NewServer(described.name, describe_entry(described), described.scope, described.tool)
    return _offer_references(options, typed)


def _offer_references(options: Globals, new: NewServer) -> NewServer | None:
    """Ask a person at a terminal what becomes of the secrets in an entry; otherwise, they stay as they are."""
    ask = _find_asker(options)
    if ask is None:
        return new
    return _run_dialog(offer_references(ask, options.request(), new))


def _run_dialog(dialog: Coroutine[Any, Any, NewServer | None]) -> NewServer | None:
    try:
        return run_until_interrupted(dialog)
    except KeyboardInterrupt:
        tell(f"\n{_NOTHING_ADDED}")
        raise


def _find_asker(options: Globals) -> CommandAsker | None:
    return find_asker(options) if is_on_terminal() else None


@click.command("add-json", cls=Command)
@click.argument("name")
@click.argument("text", metavar="JSON")
@_target_options
@click.pass_context
def add_json_command(ctx: click.Context, /, name: str, text: str, scope: Any, tool: str, no_test: bool) -> None:
    """Add a server that is described as in a configuration file.

    \b
    mooring mcp add-json docs '{"type": "http", "url": "https://example.com/mcp"}'
    """
    try:
        raw = loads(text)
    except ValueError:
        raise ConfigError("Invalid server config: it is not valid JSON.") from None
    if not isinstance(raw, dict):
        raise ConfigError("Invalid server config: it should be a JSON object.")
    if "mcpServers" in raw:
        raise ConfigError("Invalid server config: it is a whole file. To add its servers: mooring mcp import --from -")
    _add(ctx, _offer_references(get_globals(ctx), NewServer(name, raw, scope, tool)), no_test)


# --- what follows -------------------------------------------------------------------------------------------


def _add(ctx: click.Context, new: NewServer | None, no_test: bool) -> None:
    if new is None:
        tell(_NOTHING_ADDED)
        return
    options = get_globals(ctx)
    addition = add(options.request(), new.name, new.raw, new.scope, new.tool)
    if not options.json:
        for stored in new.stored:
            say(describe_stored(stored, options.request().where))
        _report(options, addition)
    # Who could be asked has decided.
    if new.tool == OWN.tool and _find_asker(options) is None:
        for advice in suggest_references(new.name, new.raw):
            tell(safe(advice))
    _finish(ctx, addition, new.stored, no_test)


def _finish(ctx: click.Context, addition: Addition, stored: Sequence[StoredSecret], no_test: bool) -> None:
    options = get_globals(ctx)
    # Another tool's file is not tried if another definition of that name would be the one that answers.
    trial = None if no_test or addition.behind else _try(options, addition)
    kept = trial is None or not _is_undone(options, addition, stored, trial)
    if options.json:
        print_json({"added": addition, "kept": kept, "test": trial and trial.data})
    ctx.exit(trial.code if trial and kept else OK)


def _try(options: Globals, addition: Addition) -> Trial:
    try:
        return try_configured(options, addition.name)
    except KeyboardInterrupt:
        path = short_path(addition.path, options.request().where.home)
        # Only the trial was interrupted: whoever waits for a slow download still wants the server.
        tell(f"\n{safe(addition.name)} stays in {path}. To remove it: {_spell_removal(addition)}")
        raise


def _spell_removal(addition: Addition) -> str:
    command = f"mooring mcp remove {quote_argument(addition.name)}"
    return command if addition.tool == OWN.tool else f"{command} --from {addition.tool}"


def _report(options: Globals, addition: Addition) -> None:
    done, *notes = describe_addition(addition, options.request().where.home)
    say(done)
    for note in notes:
        tell(note)


def _is_undone(options: Globals, addition: Addition, stored: Sequence[StoredSecret], trial: Trial) -> bool:
    """Ask whether to keep what was added; without a terminal, it is kept."""
    ask = _find_asker(options)
    if ask is None:
        return False
    path = short_path(addition.path, options.request().where.home)
    answer = run_until_interrupted(ask(KeepServer(addition.name, path, failed=trial.code != OK)))
    # Ctrl+C answers nothing, and so changes nothing.
    if not isinstance(answer, No) or answer.how == "cancel":
        return False
    undo(options.request(), addition)
    for secret in stored:
        run_until_interrupted(remove_secret(options.request().where, secret.name))
    tell(f"Removed {quote_argument(addition.name)} from {safe(path)}.")
    return True
