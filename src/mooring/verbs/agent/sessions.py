"""The verbs for conversations on disk: open one to go on with, list them, show one, remove them."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

from msgspec import Struct

from mooring.agents.sessions.connection import hold_record
from mooring.agents.sessions.handover import Handover
from mooring.agents.sessions.journal import SessionJournal
from mooring.agents.sessions.store import ResumedSession, SessionStore, SessionSummary
from mooring.core.conversation.backend_name import BackendName
from mooring.core.conversation.verdict import Mode
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.definitions.problem import Problem
from mooring.display.text import count_noun
from mooring.errors import FileError
from mooring.verbs.agent.choose_backend import SessionStart
from mooring.verbs.agent.transcript import SessionTranscript
from mooring.verbs.parse import UsageError
from mooring.verbs.verb import ShownLine, VerbResult

UPKEEP_DELAY = 2.0
"""Seconds after which old sessions are marked or removed, so that this doesn't slow down the start."""


class OpenedSession(Struct, frozen=True):
    """The session of a conversation, and what was said in it before, if it goes on."""

    journal: SessionJournal
    resumed: ResumedSession | None = None
    handover: Handover | None = None
    """What was said before to somebody else, if this is where that goes on."""


class RemovedSessions(Struct, frozen=True, rename="camel"):
    """How many sessions were removed, and how many stay because they are open."""

    removed: int
    still_open: int


@asynccontextmanager
async def open_session(
    where: Paths,
    cwd: str,
    start: SessionStart,
    *,
    model: str | None,
    agent: str | None = None,
    backend: BackendName = "api",
    find_mode: Callable[[], Mode | None] = lambda: None,
    window: int | None = None,
    days: float,
    on_problem: Callable[[Problem], None],
) -> AsyncIterator[OpenedSession]:
    """Open a session to write to. Sessions that nobody used for so many `days` are marked or removed a little later.

    Without a `model`, it is whichever answered last; another agent's program says which when it answers. `window` is
    how many tokens it takes, if that is known. `find_mode` finds the permission mode, which can change.

    A new one costs nothing and cannot fail. What cannot be stored then is told to `on_problem`, and when it can be.

    Raises:
        ConfigError: there is no such session to go on with, or another process has it open.
        FileError: what was said before cannot be read.
    """
    store = SessionStore(where, on_problem=on_problem)
    id = store.find_newest(cwd, backend).id if start.newest else start.resume
    resumed = None if id is None else store.resume(id)
    handover = None if start.handed_over is None else store.read_handover(start.handed_over, window)
    if resumed is None:
        journal = store.begin(cwd, model=model or "", agent=agent, backend=backend, handover=handover)
    else:
        journal = resumed.journal
    if model is not None:
        journal.model = model
    journal.agent = agent
    journal.find_mode = find_mode
    upkeep = asyncio.get_running_loop().call_later(UPKEEP_DELAY, _start_upkeep, store, days)
    try:
        yield OpenedSession(journal, resumed, handover)
    finally:
        upkeep.cancel()
        journal.close()


def _start_upkeep(store: SessionStore, days: float) -> None:
    if days:
        # A thread that nobody waits for: it removes a session as a whole or not at all, whenever it ends. It leaves the
        # connection to the conversation after each one.
        with suppress(RuntimeError):  # the system has no more threads
            threading.Thread(target=_remove_expired, args=(store, days), name="mooring-sessions", daemon=True).start()


def _remove_expired(store: SessionStore, days: float) -> None:
    # The conversation itself says what is wrong with the file.
    with suppress(FileError):
        store.remove_expired(days)


def list_sessions(where: Paths, cwd: str | None, most: int) -> tuple[SessionSummary, ...]:
    """The sessions of a folder, or of all of them, the one that was used last first. Raises: FileError."""
    return SessionStore(where).list(cwd, most=most)


def show_session(where: Paths, id: str) -> SessionTranscript:
    """A session with all that was said; `id` may be the beginning of one. Raises: ConfigError, FileError."""
    store = SessionStore(where)
    with hold_record(where):
        session, messages = store.read(id)
        return SessionTranscript(session, messages, store.read_sub_agents(session.id))


def remove_sessions(workspace: Workspace, id: str | None, is_all: bool) -> VerbResult:
    """Remove a session for good, or every session of every folder that is not open; `id` may be the beginning of one.

    Raises: ConfigError, FileError.
    """
    if (id is None) != is_all:
        raise UsageError("Name the ID of one conversation, or remove all of them with --all.")
    store = SessionStore(workspace.where)
    if id is not None:
        return VerbResult(RemovedSessions(1, 0), [ShownLine(f"Removed {store.remove(id).id}.")])
    result = RemovedSessions(*store.remove_all())
    text = f"Removed {count_noun(result.removed, 'conversation')}."
    if result.still_open:
        text += f" {count_noun(result.still_open, 'conversation')} stayed: open in another process."
    return VerbResult(result, [ShownLine(text)])


def describe_cost(cost: float | None) -> str:
    """A price, if it is known."""
    return "unknown" if cost is None else f"${cost:.2f}"
