"""`mooring mcp edit NAME`: changes a server's entry, field by field or in the person's editor, and tries it."""

import os
import time
from typing import Any

from mooring import files
from mooring.cli.base import DENIED, OK, Globals, HintedUsageError, is_on_terminal, print_json, print_lines, tell
from mooring.cli.editor import EditorSession
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.mcp.connect import try_configured
from mooring.cli.question import find_asker
from mooring.core.conversation.question import Ask, ServerDetail, Yes
from mooring.core.definitions.paths import Paths
from mooring.discovery.targets import WriteScope
from mooring.display.text import quote_argument, safe, short_path
from mooring.errors import ConfigError, FileError, MooringError
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
from mooring.verbs.verb import show_notes

_NOTHING_CHANGED = "Nothing changed."
_AGAIN, _GIVE_UP = "edit again", "give up"


def run(options: Globals, name: str, tool: str | None, scope: Any, no_test: bool, **typed: Any) -> int:
    """Change a server's entry, by option or in your editor, and try it."""
    changes = FieldChanges(
        timeout=typed.pop("timeout"), unset=typed.pop("unset"), description=ServerDescription(**typed)
    )
    if not changes.is_empty:
        ask: Ask | None = find_asker(options) if is_on_terminal() else None
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
    return _finish(options, done, no_test)


def _finish(options: Globals, done: Edit, no_test: bool) -> int:
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
                raise _save(request.where, entry, text, error) from None
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


def _save(where: Paths, entry: EntryText, text: str, error: MooringError) -> ConfigError:
    """Keep what the person wrote, and say where."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    path = f"{where.state}/edits/{entry.located.name}-{stamp}-{os.getpid()}{entry.suffix}"
    files.write(path, text.encode(errors="surrogateescape"))
    return ConfigError(f"{error} What you wrote is in {path}.")
