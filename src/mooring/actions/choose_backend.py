"""Who answers in a conversation: what is asked for, before the session that goes on, before the settings."""

from msgspec import Struct

from mooring.actions.session_start import SessionStart
from mooring.core.backend_name import BACKENDS, BackendName, is_program
from mooring.core.limits import TurnLimits
from mooring.core.where import Viewpoint
from mooring.errors import ConfigError
from mooring.settings import Settings


class BackendChoice(Struct, frozen=True):
    """Who answers, and in which session: one that is to be continued is named by its id."""

    backend: BackendName
    session: SessionStart


def choose_backend(
    asked: BackendName | None, model: str | None, start: SessionStart, viewpoint: Viewpoint, settings: Settings
) -> BackendChoice:
    """Who is meant. `asked` is what `-b` says, `model` what `-m` says.

    A session goes on with whoever answered in it. Otherwise the setting `backend` decides; without it a model answers
    if somebody chose one, else the person.

    Raises: ConfigError if the session is somebody else's, or isn't there; FileError.
    """
    if start.resume is not None or start.newest:
        return _continue(asked, start, viewpoint)
    named: BackendName | None = asked or settings["backend"]
    if named is not None:
        return BackendChoice(named, start)
    # A key alone chooses no model: somebody has to have named one.
    has_model = model or viewpoint.where.env.get("MOORING_MODEL") or settings["model"]
    return BackendChoice("api" if has_model else "manual", start)


def _continue(asked: BackendName | None, start: SessionStart, viewpoint: Viewpoint) -> BackendChoice:
    from mooring.agents.sessions.store import SessionStore  # most conversations are new, and need no database yet

    store = SessionStore(viewpoint.where)
    session = store.find_newest(viewpoint.cwd, asked) if start.newest else store.find(start.resume or "")
    if session.backend not in BACKENDS:
        raise ConfigError(f"The session {session.id} is with {session.backend!r}, which this version doesn't know.")
    if asked is not None and asked != session.backend:
        hint = f"Leave out `-b {asked}`, or begin another conversation."
        raise ConfigError(f"The session {session.id} is with {session.backend}.", hint)
    return BackendChoice(session.backend, SessionStart(session.id))


def check_model_options(backend: BackendName, limits: TurnLimits) -> None:
    """Refuse an option that whoever answers cannot follow. Raises: ConfigError."""
    if is_program(backend) and limits.max_turns is not None:
        raise ConfigError(f"{backend} decides by itself how often it asks its model.", "Leave out --max-turns.")
