"""`mooring mcp add`, `add-json`, `edit`, `import` and `export`: write servers into files, and try them."""

import os
import sys
import time
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from msgspec import to_builtins

from mooring import files
from mooring.auth.store import StoredSecret
from mooring.cli.base import (
    DENIED,
    OK,
    UNHEALTHY,
    USAGE,
    Globals,
    echo,
    is_on_terminal,
    print_json,
    print_lines,
    say,
    tell,
)
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.mcp.connect import Trial, try_configured
from mooring.cli.question import CommandAsker, find_asker
from mooring.core.conversation.question import KeepServer, No, ServerDetail, Yes
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.units import MIB
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope
from mooring.display.text import quote_argument, safe, safe_text, short_path
from mooring.errors import ConfigError, FileError, MooringError, ParseError
from mooring.process.editor import open_editor
from mooring.syntax.parse import decode_text
from mooring.tools.arguments.plain import loads
from mooring.verbs.config.add import Addition, add, describe_addition, undo
from mooring.verbs.config.clearance import SkipKind
from mooring.verbs.config.copy_servers import Copied, CopyOptions, describe_copied
from mooring.verbs.config.describe import ServerDescription, describe_swallowed_options
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
from mooring.verbs.config.import_servers import export_servers, import_pasted, import_servers, list_tools
from mooring.verbs.config.list import make_problem_data
from mooring.verbs.config.pasted import STDIN, PastedServers, read_pasted
from mooring.verbs.config.references import suggest_references
from mooring.verbs.config.remove import Removal, describe_removal, offer_to_forget, remove
from mooring.verbs.config.secrets import describe_stored
from mooring.verbs.config.wizard import NewServer, find_new_server, find_pasted_server, offer_references
from mooring.verbs.parse import UsageError
from mooring.verbs.verb import show_notes

T = TypeVar("T")

_STDIN = "The standard input"
_NOTHING_ADDED = "Nothing was added."


def run_add(options: Globals, **typed: Any) -> int:
    described = ServerDescription(**typed)
    ask = _find_asker(options)
    if ask is None and described.is_bare and not described.name:
        raise UsageError("Say which server to add.", "For example: mooring mcp add docs https://example.com/mcp")
    if described.name == STDIN and described.is_bare:
        finding = find_pasted_server(ask, options.workspace(), _read_stdin(), _STDIN, described)
    else:
        finding = find_new_server(ask, options.workspace(), described)
    new = _run_dialog(finding)
    for note in describe_swallowed_options(described):
        tell(note)
    if isinstance(new, PastedServers):
        return _add_pasted(options, new, described, ask)
    return _add(options, new, described.no_test)


def _add_pasted(options: Globals, pasted: PastedServers, described: ServerDescription, ask: CommandAsker | None) -> int:
    """Copy several servers into the file, and try each."""
    chosen = CopyOptions(pasted.scope or described.scope)
    copied = run_until_interrupted(import_pasted(options.workspace(), pasted, (), chosen, ask, described.tool))
    if not options.json:
        _report_copied(options, copied, chosen)
    tried = () if described.no_test else copied.written
    trials = {name: _try_one_of(options, name, tried) for name in tried}
    if options.json:
        print_json({**_make_data(copied, chosen), "tests": {name: trial.data for name, trial in trials.items()}})
    code = DENIED if copied.declined else _choose_code(copied, None)
    return max(code, *(trial.code for trial in trials.values()), OK)


def _try_one_of(options: Globals, name: str, tried: Sequence[str]) -> Trial:
    """Try one of several servers, under its name."""
    if len(tried) > 1 and not options.json:
        say(safe(name), "title")
    return try_configured(options, name)


def _run_dialog(dialog: Coroutine[Any, Any, T]) -> T:
    try:
        return run_until_interrupted(dialog)
    except KeyboardInterrupt:
        tell(f"\n{_NOTHING_ADDED}")
        raise


def _find_asker(options: Globals) -> CommandAsker | None:
    return find_asker(options) if is_on_terminal() else None


def run_add_json(options: Globals, name: str, text: str, scope: Any, tool: str, no_test: bool) -> int:
    try:
        raw = loads(text)
    except ValueError:
        raise ConfigError("Invalid server config: it is not valid JSON.") from None
    if not isinstance(raw, dict):
        raise ConfigError("Invalid server config: it should be a JSON object.")
    if "mcpServers" in raw:
        raise ConfigError("Invalid server config: it is a whole file. To add its servers: mooring mcp import --from -")
    new = NewServer(name, raw, scope, tool)
    return _add(options, _run_dialog(offer_references(_find_asker(options), options.workspace(), new)), no_test)


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
    is_tried = not no_test and addition.behind is None
    trial = _try(options, addition) if is_tried else None
    is_undone = trial is not None and _is_undone(options, addition, stored, trial)
    if options.json:
        print_json({"added": addition, "kept": not is_undone, "test": trial and trial.data})
    if trial is None or is_undone:
        return OK
    return trial.code


def _try(options: Globals, addition: Addition) -> Trial:
    try:
        return try_configured(options, addition.name)
    except KeyboardInterrupt:
        # Only the trial was interrupted: whoever waits for a slow download still wants the server.
        tell(f"\n{_describe_kept(options, addition)}")
        raise


def _describe_kept(options: Globals, addition: Addition) -> str:
    path = short_path(addition.path, options.workspace().where.home)
    source = "" if addition.tool == OWN.tool else f" --from {addition.tool}"
    removal = f"mooring mcp remove {quote_argument(addition.name)}{source}"
    return f"{safe(addition.name)} stays in {path}. To remove it: {removal}"


def _is_undone(options: Globals, addition: Addition, stored: Sequence[StoredSecret], trial: Trial) -> bool:
    """Ask whether to keep what was added; without a terminal, it is kept."""
    ask = _find_asker(options)
    if ask is None:
        if trial.code != OK:
            tell(_describe_kept(options, addition))
        return False
    path = short_path(addition.path, options.workspace().where.home)
    answer = run_until_interrupted(ask(KeepServer(addition.name, path, failed=trial.code != OK)))
    # Ctrl+C answers nothing, and so changes nothing.
    if not isinstance(answer, No) or answer.how == "cancel":
        return False
    run_until_interrupted(undo(options.workspace(), addition, stored))
    tell(f"Removed {quote_argument(addition.name)} from {safe(path)}.")
    return True


# --- edit -------------------------------------------------------------------------------------------------------------

_NOTHING_CHANGED = "Nothing changed."
_AGAIN, _GIVE_UP = "edit again", "give up"


def run_edit(options: Globals, name: str, tool: str | None, scope: Any, no_test: bool, **typed: Any) -> int:
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
        raise UsageError("Without a terminal no editor is opened: say what to change.", example)
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
    path = short_path(entry.located.path, options.workspace().where.home)
    tell(f"Opening {safe(entry.located.name)} of {path} …")
    try:
        with open_editor(os.environ, f"{entry.located.name}{entry.suffix}") as edit:
            return _edit_until_sound(options, entry, edit)
    except KeyboardInterrupt:
        tell(f"\n{_NOTHING_CHANGED}")
        raise


def _edit_until_sound(options: Globals, entry: EntryText, edit: Callable[[str], str]) -> Edit:
    request, text = options.workspace(), entry.text
    while True:
        text = edit(text)
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


# --- remove -----------------------------------------------------------------------------------------------------------


def run_remove(options: Globals, name: str, tool: str | None, scope: Any) -> None:
    workspace = options.workspace()
    removal = remove(workspace, name, tool, scope)
    if options.json:
        print_json({"removed": removal})
        return
    print_lines(options, show_notes(describe_removal(removal, workspace.where.home)))
    run_until_interrupted(_offer_to_forget(options, removal))


async def _offer_to_forget(options: Globals, removal: Removal) -> None:
    async for sentence in offer_to_forget(_find_asker(options), options.workspace(), removal):
        tell(sentence)


# --- import and export ------------------------------------------------------------------------------------------------

_CODES: dict[SkipKind, int] = {"unapproved": DENIED, "refused": USAGE, "broken": UNHEALTHY}
"""The exit code if a named server was skipped for this reason; the first of these wins, the other reasons are none."""


def run_import(options: Globals, names: tuple[str, ...], source: str, **words: Any) -> int:
    if source == STDIN:
        return _import_stdin(options, names, words)
    # Whoever names a file means all that is in it; a tool has many servers, and some of them are a project's.
    is_file_named = bool(source) and source not in list_tools() and not names
    return _run_copy(
        options,
        None if is_file_named else names,
        words,
        lambda copy, ask, request: import_servers(request, source, names, copy, ask),
    )


def _import_stdin(options: Globals, names: tuple[str, ...], words: Any) -> int:
    pasted = read_pasted(_read_stdin(), _STDIN, options.workspace())
    pasted.check_named(_STDIN)
    return _run_copy(
        options,
        names or None,
        {**words, "scope": words["scope"] or pasted.scope},
        lambda copy, ask, request: import_pasted(request, pasted, names, copy, ask, OWN.tool),
    )


def run_export(options: Globals, names: tuple[str, ...], tool: str, **words: Any) -> int:
    return _run_copy(options, names, words, lambda copy, ask, request: export_servers(request, tool, names, copy, ask))


def _read_stdin() -> str:
    data = sys.stdin.buffer.read(MIB + 1)
    if len(data) > MIB:
        raise ConfigError(f"{_STDIN} is longer than 1 MiB.")
    try:
        return decode_text(data)
    except ParseError as error:
        raise ConfigError(f"{_STDIN} {error.reason}.") from None


def _run_copy(
    options: Globals, named: tuple[str, ...] | None, words: Any, copy: Callable[..., Coroutine[Any, Any, Copied]]
) -> int:
    """Copy, report it, and return the exit code of the servers that were `named`, `None` for all of them."""
    ask = _find_asker(options)
    # Nobody has seen the change, and nobody said that it need not be seen.
    is_unseen = ask is None and not words["yes"] and not words["dry_run"]
    dry_run = words["dry_run"] or is_unseen
    chosen = CopyOptions(words["scope"] or "user", words["may_replace"], dry_run, confirm=not words["yes"])
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
    wanted = None if named is None else {name.casefold() for name in named}
    kinds = {each.kind for each in copied.skipped if wanted is None or each.name.casefold() in wanted}
    for kind, code in _CODES.items():
        if kind in kinds:
            return code
    return UNHEALTHY if copied.unread else OK


def _make_data(copied: Copied, chosen: CopyOptions) -> dict[str, Any]:
    left_out = {"declined"} if chosen.dry_run else {"declined", "planned", "diff"}
    data = {key: value for key, value in to_builtins(copied).items() if key not in left_out}
    return {"version": 1, **data, "unread": [make_problem_data(problem) for problem in copied.unread]}


def _report_copied(options: Globals, copied: Copied, chosen: CopyOptions) -> None:
    if chosen.dry_run and copied.diff:
        echo(safe_text(copied.diff))
    lines = describe_copied(copied, options.workspace().where.home)
    print_lines(options, show_notes(lines, is_done=bool(copied.written)))
