"""Undo the last turn of an agent's conversation: its files become what they were, and the model forgets it.

Nothing that somebody else changed since is overwritten; what stays as it is, is named. The files come first: if this
process ends in between, undoing again finds them done and goes on with the conversation.
"""

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import Struct

from mooring.agents.local.project_files import MAX_FILE
from mooring.agents.local.writing import show_change
from mooring.agents.sessions.journal import SessionJournal
from mooring.agents.sessions.kept_files import KeptFile
from mooring.agents.sessions.last_turn import LastTurn, MadeCall
from mooring.core.conversation.question import RestoredFile, UndoTurn
from mooring.core.definitions.paths import Workspace, is_below
from mooring.core.text.digest import compute_digest
from mooring.errors import ConfigError, FileError
from mooring.files.no_follow import read_exact, remove_empty_folders, remove_exact, write_exact
from mooring.verbs.agent.responder import Responder
from mooring.verbs.agent.turn import Agent

MOST_NAMED = 10
"""How many commands and calls are named that cannot be undone."""
LONGEST_COMMAND = 200
"""How many characters of a command are shown."""
_CHANGING_TOOLS: Mapping[str, str] = {"Write": "file_path", "Edit": "file_path", "NotebookEdit": "notebook_path"}
"""The tools whose changes are kept, and the argument that names the file."""
_NEVER_RAN = (" was not called", "It did not run.")
"""How what a model gets for a call says that nothing was done."""


class FileStep(Struct, frozen=True):
    """A file that becomes what it was, if it is still as it was found."""

    kept: KeptFile
    current: bytes


class TurnUndo(Struct, frozen=True):
    """All that undoing a turn would do."""

    turn: LastTurn
    steps: tuple[FileStep, ...]
    notes: tuple[str, ...]
    """What stays as it is, and why."""

    @property
    def question(self) -> UndoTurn:
        files = [RestoredFile(step.kept.path, _show(step)) for step in self.steps]
        return UndoTurn(self.turn.said, tuple(files), self.notes)


class UndoneTurn(Struct, frozen=True):
    """What was done."""

    restored: tuple[str, ...]
    removed: tuple[str, ...]
    failed: tuple[str, ...]
    """Why a file stayed as it is after all."""


async def plan_undo(responder: Responder, workspace: Workspace) -> TurnUndo:
    """What undoing the last turn would do. Raises: ConfigError if there is nothing to undo; FileError."""
    agent = _find_agent(responder)
    journal = _find_journal(agent)
    turn = await journal.find_last_turn()
    if turn is None:
        raise ConfigError("There is no turn to undo.")
    return await asyncio.to_thread(_plan, turn, agent.conversation.pairs, workspace)


async def undo(responder: Responder, plan: TurnUndo) -> UndoneTurn:
    """Undo the last turn as planned. Raises: ConfigError if a turn is under way."""
    agent = _find_agent(responder)
    journal = _find_journal(agent)
    done = await asyncio.to_thread(_undo_files, plan.steps)
    journal.go_back(plan.turn)
    agent.backend.thread.go_back(plan.turn.before)
    await journal.settle()
    return done


def _find_agent(responder: Responder) -> Agent:
    """The agent whose turns can be undone. Raises: ConfigError if none answers here."""
    if responder.program is not None:
        reason = "changes files and remembers the conversation itself"
        raise ConfigError(f"/undo works where Mooring's own agent answers: {responder.model} {reason}.")
    if responder.agent is None:
        raise ConfigError("/undo takes back turns of a model, and none answers here.")
    return responder.agent


def _find_journal(agent: Agent) -> SessionJournal:
    if agent.is_working:
        raise ConfigError("A turn is under way. Wait for its end, or stop it.")
    journal = agent.backend.thread.journal
    if not isinstance(journal, SessionJournal):
        raise ConfigError("This conversation isn't stored, so that nothing can be undone.")
    return journal


# --- what would be done -----------------------------------------------------------------------------------------------


def _plan(turn: LastTurn, pairs: Mapping[str, tuple[str, str]], workspace: Workspace) -> TurnUndo:
    steps: list[FileStep] = []
    notes: list[str] = []
    for kept in turn.files:
        found = _find_step(kept)
        if isinstance(found, FileStep):
            steps.append(found)
        elif found:
            notes.append(f"Stays as it is: {kept.path}, which {found}")
    known = {kept.path for kept in turn.files}
    for path in _list_changed(turn.calls, workspace):
        if path not in known:
            notes.append(f"Stays as it is: {path}, since what it was is no longer kept")
    notes += _name_acts(list(_list_acts(turn.calls, pairs)))
    return TurnUndo(turn, tuple(steps), tuple(notes))


def _find_step(kept: KeptFile) -> FileStep | str:
    """What to do with a file; why nothing is done, which is empty if it is what it was."""
    try:
        current = read_exact(kept.path, MAX_FILE)
    except FileError as error:
        return error.reason
    digest = compute_digest(current)
    if digest == compute_digest(kept.content):
        return ""
    if current is None:
        return "is gone"
    if kept.is_mixed or digest not in (kept.previous, kept.expected):
        return "was changed since"
    return FileStep(kept, current)


def _show(step: FileStep) -> str:
    return show_change(step.kept.path, step.current, step.kept.content)


def _list_changed(calls: Sequence[MadeCall], workspace: Workspace) -> Iterator[str]:
    """The files that tools of ours changed, as far as the calls say."""
    paths: dict[str, None] = {}
    for made in calls:
        argument = _CHANGING_TOOLS.get(made.call.name)
        written = "" if argument is None or made.is_error else _read_text(made.call.arguments, argument)
        if written.startswith("~/"):
            written = workspace.where.home + written[1:]
        # One that never ended was kept first, if it came that far.
        if written and made.result:
            paths[os.path.realpath(os.path.join(workspace.cwd, written))] = None
    yield from paths


def _list_acts(calls: Sequence[MadeCall], pairs: Mapping[str, tuple[str, str]]) -> Iterator[str]:
    """What was done that cannot be undone: commands, and calls of servers."""
    for made in calls:
        if made.is_error and any(words in made.result for words in _NEVER_RAN):
            continue
        if made.call.name == "Bash":
            yield f"the command {_cut(_read_text(made.call.arguments, 'command'))}"
        elif made.call.name in pairs:
            yield " / ".join(pairs[made.call.name])


def _name_acts(acts: Sequence[str]) -> Iterator[str]:
    named = list(dict.fromkeys(acts))
    for act in named[:MOST_NAMED]:
        yield f"Not undone: {act}"
    if len(named) > MOST_NAMED:
        yield f"Not undone: {len(named) - MOST_NAMED} more commands and calls"


def _cut(command: str) -> str:
    """A command in one line: the person saw all of it when they allowed it."""
    line, _, more = command.strip().partition("\n")
    return f"{line[:LONGEST_COMMAND]} …" if more or len(line) > LONGEST_COMMAND else line


def _read_text(arguments: str, name: str) -> str:
    """An argument of a call as the model wrote it, which may be malformed."""
    try:
        value = msgspec.json.decode(arguments, type=dict[str, msgspec.Raw])[name]
        return msgspec.json.decode(value, type=str)
    except (msgspec.MsgspecError, KeyError):
        return ""


# --- files ------------------------------------------------------------------------------------------------------------


def _undo_files(steps: Sequence[FileStep]) -> UndoneTurn:
    restored: list[str] = []
    removed: list[str] = []
    failed: list[str] = []
    for step in steps:
        path, content = step.kept.path, step.kept.content
        try:
            if content is None:
                _remove(step)
                removed.append(path)
            else:
                write_exact(path, content, step.current, MAX_FILE, step.kept.mode)
                restored.append(path)
        except FileError as error:
            failed.append(f"{path} {error.reason}")
    return UndoneTurn(tuple(restored), tuple(removed), tuple(failed))


def _remove(step: FileStep) -> None:
    kept = step.kept
    remove_exact(kept.path, step.current, MAX_FILE)
    if kept.folder and is_below(kept.path, kept.folder):
        remove_empty_folders(os.path.dirname(kept.path), kept.folder)
