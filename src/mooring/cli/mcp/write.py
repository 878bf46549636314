"""`mooring mcp add`, `add-json`, `edit`, `import` and `export`: write servers into files, and try them."""

import os
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import click

from mooring import files
from mooring.auth.store import StoredSecret
from mooring.cli.base import (
    DENIED,
    OK,
    UNHEALTHY,
    USAGE,
    Globals,
    HintedUsageError,
    is_on_terminal,
    print_json,
    print_lines,
    say,
    tell,
)
from mooring.cli.editor import EditorSession
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.mcp.connect import Trial, try_configured
from mooring.cli.mcp.list import make_problem_data
from mooring.cli.question import CommandAsker, find_asker
from mooring.core.conversation.question import KeepServer, No, ServerDetail, Yes
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.units import MIB
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope
from mooring.display.text import quote_argument, safe, safe_text, short_path
from mooring.errors import ConfigError, FileError, MooringError
from mooring.tools.arguments.plain import loads
from mooring.verbs.config.add import Addition, add, describe_addition, undo
from mooring.verbs.config.copy_servers import Copied, CopyOptions, SkipKind, SkippedServer, describe_copied
from mooring.verbs.config.describe import ServerDescription, describe_entry, describe_swallowed_options
from mooring.verbs.config.edit import (
    Edit,
    EntryText,
    describe_edit,
    edit,
    is_entry_unchanged,
    leave_entry,
    read_entry_text,
    write_entry_text,
)
from mooring.verbs.config.fields import FieldChanges
from mooring.verbs.config.import_servers import STDIN, ImportSource, export_servers, import_servers, list_tools
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
    return _finish_adding(options, addition, new.stored, no_test)


def _finish_adding(options: Globals, addition: Addition, stored: Sequence[StoredSecret], no_test: bool) -> int:
    # Another tool's file is not tried if another definition of that name would be the one that answers.
    if no_test or addition.behind:
        _report_addition(options, addition, kept=True, test=None)
        return OK
    trial = _try(options, addition)
    if _is_undone(options, addition, stored, trial):
        _report_addition(options, addition, kept=False, test=trial.data)
        return OK
    _report_addition(options, addition, kept=True, test=trial.data)
    return trial.code


def _report_addition(options: Globals, addition: Addition, *, kept: bool, test: object) -> None:
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


# --- edit -------------------------------------------------------------------------------------------------------------

_NOTHING_CHANGED = "Nothing changed."
_AGAIN, _GIVE_UP = "edit again", "give up"


def run_edit(options: Globals, name: str, tool: str | None, scope: Any, no_test: bool, **typed: Any) -> int:
    """Change a server's entry, by option or in your editor, and try it."""
    changes = FieldChanges(
        timeout=typed.pop("timeout"), unset=typed.pop("unset"), description=ServerDescription(**typed)
    )
    if not changes.is_empty:
        ask = _find_asker(options)
        done = run_until_interrupted(edit(options.workspace(), name, changes, tool, scope, ask))
        for note in describe_swallowed_options(changes.description):
            tell(note)
    elif is_on_terminal():
        done = _edit_text(options, name, tool, scope)
    else:
        # First of all whether there is such a server: nothing else matters if its name is misspelled.
        options.inventory().find(name)
        example = f"For example: mooring mcp edit {quote_argument(name)} --timeout 60"
        raise HintedUsageError("Without a terminal no editor is opened: say what to change.", example)
    return _finish_editing(options, done, no_test)


def _finish_editing(options: Globals, done: Edit, no_test: bool) -> int:
    if not options.json:
        lines = describe_edit(done, options.workspace().where.home)
        print_lines(options, show_notes(lines, is_done=not done.declined))
    # Another definition of that name, or nobody's approval, would be what is tried.
    is_tried = done.changed and done.approved and not done.behind and not no_test
    trial = try_configured(options, done.name) if is_tried else None
    if options.json:
        print_json({"edited": done, "test": trial and trial.data})
    if done.declined:
        return DENIED
    return trial.code if trial else OK


# --- in an editor -------------------------------------------------------------------------------------------


def _edit_text(options: Globals, name: str, tool: str | None, scope: WriteScope | None) -> Edit:
    """What the person made of the entry."""
    entry = read_entry_text(options.workspace(), name, tool, scope)
    _announce(options, entry)
    try:
        with EditorSession(os.environ, f"{entry.located.name}{entry.suffix}") as editor:
            return _edit_until_sound(options, entry, editor)
    except KeyboardInterrupt:
        tell(f"\n{_NOTHING_CHANGED}")
        raise


def _announce(options: Globals, entry: EntryText) -> None:
    """Say which file it is about, while the editor opens."""
    path = short_path(entry.located.path, options.workspace().where.home)
    tell(f"Opening {safe(entry.located.name)} of {path} …")


def _edit_until_sound(options: Globals, entry: EntryText, editor: EditorSession) -> Edit:
    request, text = options.workspace(), entry.text
    while True:
        text = editor.edit(text)
        # As git has it: whoever leaves nothing behind wants nothing to happen.
        if not text.strip() or text == entry.text:
            return leave_entry(request, entry)
        try:
            return write_entry_text(request, entry, text)
        except ConfigError as error:
            if isinstance(error, FileError) or not is_entry_unchanged(entry):
                raise _save_text(request.where, entry, text, error) from None
            if not _wants_again(options, entry, error):
                return leave_entry(request, entry)


def _wants_again(options: Globals, entry: EntryText, error: MooringError) -> bool:
    ask = find_asker(options)
    if ask is None:
        raise error
    choices = (_AGAIN, _GIVE_UP)
    question = ServerDetail(entry.located.name, "Edit again or give up", (str(error),), _AGAIN, choices)
    answer = run_until_interrupted(ask(question))
    if not isinstance(answer, Yes):
        return False
    return not _GIVE_UP.startswith(str(answer.content).lower() or _GIVE_UP)


def _save_text(where: Paths, entry: EntryText, text: str, error: MooringError) -> ConfigError:
    """Keep what the person wrote, and say where."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = f"{where.state}/edits/{entry.located.name}-{stamp}-{os.getpid()}{entry.suffix}"
    files.write(path, text.encode(errors="surrogateescape"))
    return ConfigError(f"{error} What you wrote is in {path}.")


# --- import and export ------------------------------------------------------------------------------------------------

_CODES: dict[SkipKind, int] = {"unapproved": DENIED, "refused": USAGE, "broken": UNHEALTHY}
"""The exit code if a named server was skipped for this reason; the first of these wins, the other reasons are none."""


def run_import(options: Globals, names: tuple[str, ...], source: str, **words: Any) -> int:
    """Copy servers of other tools, or of a file, into Mooring's own."""
    text = _read_stdin() if source == STDIN else b""
    chosen = ImportSource(source, text)
    # Whoever names a file means all that is in it; a tool has many servers, and some of them are a project's.
    is_file_named = bool(source) and source not in list_tools() and not names
    return _run_copy(
        options,
        None if is_file_named else names,
        words,
        lambda copy, ask, request: import_servers(request, chosen, names, copy, ask),
    )


def run_export(options: Globals, names: tuple[str, ...], tool: str, **words: Any) -> int:
    """Copy servers into another tool's file."""
    return _run_copy(options, names, words, lambda copy, ask, request: export_servers(request, tool, names, copy, ask))


def _read_stdin() -> bytes:
    text = sys.stdin.buffer.read(MIB + 1)
    if len(text) > MIB:
        raise ConfigError("The standard input is longer than 1 MiB.")
    return text


def _run_copy(
    options: Globals, named: tuple[str, ...] | None, words: Any, copy: Callable[..., Coroutine[Any, Any, Copied]]
) -> int:
    """Copy, report it, and return the exit code of the servers that were `named`, `None` for all of them."""
    ask = _find_asker(options)
    # Nobody has seen the change, and nobody said that it need not be seen.
    is_unseen = ask is None and not words["yes"] and not words["dry_run"]
    dry_run = words["dry_run"] or is_unseen
    chosen = CopyOptions(words["scope"], words["may_replace"], dry_run, confirm=not words["yes"])
    copied = run_until_interrupted(copy(chosen, ask, options.workspace()))
    if options.json:
        print_json(_make_data(copied, chosen))
    else:
        _report_copied(options, copied, chosen)
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


def _report_copied(options: Globals, copied: Copied, chosen: CopyOptions) -> None:
    if chosen.dry_run and copied.diff:
        click.echo(safe_text(copied.diff))
    lines = describe_copied(copied, options.workspace().where.home)
    print_lines(options, show_notes(lines, is_done=bool(copied.written)))
