"""`mooring mcp add` and `mooring mcp add-json`: write a server into a file, try it, and keep it or undo."""

from collections.abc import Coroutine, Sequence
from typing import Any

from mooring.auth.store import StoredSecret
from mooring.cli.base import OK, Globals, HintedUsageError, is_on_terminal, print_json, print_lines, say, tell
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.mcp.connect import Trial, try_configured
from mooring.cli.question import CommandAsker, find_asker
from mooring.core.conversation.question import KeepServer, No
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.display.text import quote_argument, safe, short_path
from mooring.errors import ConfigError
from mooring.tools.arguments.plain import loads
from mooring.verbs.config.add import Addition, add, describe_addition, undo
from mooring.verbs.config.describe import ServerDescription, describe_entry, describe_swallowed_options
from mooring.verbs.config.references import suggest_references
from mooring.verbs.config.secrets import describe_stored, remove_secret
from mooring.verbs.config.wizard import NewServer, ask_for_server, offer_references
from mooring.verbs.verb import show_notes

_EXAMPLE = "mooring mcp add docs https://example.com/mcp"
_NOTHING_ADDED = "Nothing was added."


def run_add(options: Globals, **typed: Any) -> int:
    """Add a server to your configuration, or to another tool's, and try it."""
    described = ServerDescription(**typed)
    new = _find_server(options, described)
    for note in describe_swallowed_options(described):
        tell(note)
    return _add(options, new, described.no_test)


def _find_server(options: Globals, described: ServerDescription) -> NewServer | None:
    """The server that was typed, or that a person at a terminal describes now; `None` if they leave it."""
    ask = _find_asker(options) if described.is_bare else None
    if ask is not None:
        return _run_dialog(ask_for_server(ask, options.workspace(), described))
    if described.is_bare and not described.name:
        raise HintedUsageError("Say which server to add.", f"For example: {_EXAMPLE}")
    typed = NewServer(described.name, describe_entry(described), described.scope, described.tool)
    return _offer_references(options, typed)


def _offer_references(options: Globals, new: NewServer) -> NewServer | None:
    """Ask a person at a terminal what becomes of the secrets in an entry; otherwise, they stay as they are."""
    ask = _find_asker(options)
    if ask is None:
        return new
    return _run_dialog(offer_references(ask, options.workspace(), new))


def _run_dialog(dialog: Coroutine[Any, Any, NewServer | None]) -> NewServer | None:
    try:
        return run_until_interrupted(dialog)
    except KeyboardInterrupt:
        tell(f"\n{_NOTHING_ADDED}")
        raise


def _find_asker(options: Globals) -> CommandAsker | None:
    return find_asker(options) if is_on_terminal() else None


def run_add_json(options: Globals, name: str, text: str, scope: Any, tool: str, no_test: bool) -> int:
    """Add a server that is described in JSON."""
    try:
        raw = loads(text)
    except ValueError:
        raise ConfigError("Invalid server config: it is not valid JSON.") from None
    if not isinstance(raw, dict):
        raise ConfigError("Invalid server config: it should be a JSON object.")
    if "mcpServers" in raw:
        raise ConfigError("Invalid server config: it is a whole file. To add its servers: mooring mcp import --from -")
    return _add(options, _offer_references(options, NewServer(name, raw, scope, tool)), no_test)


# --- what follows -------------------------------------------------------------------------------------------


def _add(options: Globals, new: NewServer | None, no_test: bool) -> int:
    if new is None:
        tell(_NOTHING_ADDED)
        return OK
    addition = add(options.workspace(), new.name, new.raw, new.scope, new.tool)
    if not options.json:
        where = options.workspace().where
        for stored in new.stored:
            say(describe_stored(stored, where))
        print_lines(options, show_notes(describe_addition(addition, where.home)))
    # Who could be asked has decided.
    if new.tool == OWN.tool and _find_asker(options) is None:
        for advice in suggest_references(new.name, new.raw):
            tell(safe(advice))
    return _finish(options, addition, new.stored, no_test)


def _finish(options: Globals, addition: Addition, stored: Sequence[StoredSecret], no_test: bool) -> int:
    # Another tool's file is not tried if another definition of that name would be the one that answers.
    if no_test or addition.behind:
        _report(options, addition, kept=True, test=None)
        return OK
    trial = _try(options, addition)
    if _is_undone(options, addition, stored, trial):
        _report(options, addition, kept=False, test=trial.data)
        return OK
    _report(options, addition, kept=True, test=trial.data)
    return trial.code


def _report(options: Globals, addition: Addition, *, kept: bool, test: object) -> None:
    if options.json:
        print_json({"added": addition, "kept": kept, "test": test})


def _try(options: Globals, addition: Addition) -> Trial:
    try:
        return try_configured(options, addition.name)
    except KeyboardInterrupt:
        path = short_path(addition.path, options.workspace().where.home)
        # Only the trial was interrupted: whoever waits for a slow download still wants the server.
        tell(f"\n{safe(addition.name)} stays in {path}. To remove it: {_spell_removal(addition)}")
        raise


def _spell_removal(addition: Addition) -> str:
    command = f"mooring mcp remove {quote_argument(addition.name)}"
    return command if addition.tool == OWN.tool else f"{command} --from {addition.tool}"


def _is_undone(options: Globals, addition: Addition, stored: Sequence[StoredSecret], trial: Trial) -> bool:
    """Ask whether to keep what was added; without a terminal, it is kept."""
    ask = _find_asker(options)
    if ask is None:
        return False
    path = short_path(addition.path, options.workspace().where.home)
    answer = run_until_interrupted(ask(KeepServer(addition.name, path, failed=trial.code != OK)))
    # Ctrl+C answers nothing, and so changes nothing.
    if not isinstance(answer, No) or answer.how == "cancel":
        return False
    undo(options.workspace(), addition)
    for secret in stored:
        run_until_interrupted(remove_secret(options.workspace().where, secret.name))
    tell(f"Removed {quote_argument(addition.name)} from {safe(path)}.")
    return True
