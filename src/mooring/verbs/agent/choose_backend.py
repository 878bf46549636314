"""Who answers in a conversation: what is asked for, before the session that goes on, before the settings."""

from typing import TYPE_CHECKING, Final, get_args

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.backend_name import BACKENDS, BackendName, is_program
from mooring.core.conversation.effort import EffortWish
from mooring.core.conversation.verdict import CommandPermissions, Mode
from mooring.core.definitions.paths import Workspace
from mooring.core.protocol.limits import TurnLimits
from mooring.errors import ConfigError
from mooring.settings import Settings

if TYPE_CHECKING:
    from mooring.agents.sessions.store import SessionSummary

_NEVER_RESTORED: Final = "bypass"
"""The mode that a person has to ask for each time."""


class SessionStart(Struct, frozen=True):
    """Which session a conversation is kept in: a new one, the last of its folder, or one that is named."""

    resume: str | None = None
    """The id of a session, or the beginning of one."""
    newest: bool = False
    """Continue the session of this folder that was used last."""
    handed_over: str | None = None
    """The id of a session with somebody else: a new one is begun, with the transcript of that."""


class BackendChoice(Struct, frozen=True):
    """Who answers, and in which session: one that is to be continued, or handed over, is named by its id."""

    backend: BackendName
    session: SessionStart
    continued: "SessionSummary | None" = None
    """The session that goes on, as it was left."""

    @property
    def remembers_model(self) -> "SessionSummary | None":
        """The session whose model answers again: not one with somebody else, who has other models."""
        return None if self.session.handed_over is not None else self.continued


def choose_backend(
    asked: BackendName | None, model: str | None, start: SessionStart, workspace: Workspace, settings: Settings
) -> BackendChoice:
    """Who is meant. `asked` is what `-b` says, `model` what `-m` says.

    A session goes on with whoever answered in it; with somebody else who is asked for, a new one is begun with its
    transcript. Otherwise the setting `backend` decides; without it a model answers if somebody chose one, else the
    person.

    Raises: ConfigError if the session isn't there, or is with somebody unknown; FileError.
    """
    continued = find_continued(asked, start, workspace)
    if continued is not None and asked is not None and continued.backend != asked:
        return BackendChoice(asked, SessionStart(handed_over=continued.id), continued)
    if continued is not None:
        return BackendChoice(_read_backend(continued), SessionStart(continued.id), continued)
    named: BackendName | None = asked or settings["backend"]
    if named is not None:
        return BackendChoice(named, start)
    # A key alone chooses no model: somebody has to have named one.
    has_model = model or workspace.where.env.get("MOORING_MODEL") or settings["model"]
    return BackendChoice("api" if has_model else "manual", start)


def names_answerer(asked: BackendName | None, model: str | None, workspace: Workspace, settings: Settings) -> bool:
    """Whether somebody said who answers in a new conversation: an option, the environment or a setting."""
    chosen = model or workspace.where.env.get("MOORING_MODEL") or settings["model"]
    return asked is not None or settings["backend"] is not None or bool(chosen)


# --- a conversation that goes on --------------------------------------------------------------------------------------


def find_continued(asked: BackendName | None, start: SessionStart, workspace: Workspace) -> "SessionSummary | None":
    """The session that is to go on, as it was left; `None` for a new one.

    The last of a folder is the last with whoever is `asked` for, if there is one.

    Raises: as `choose_backend`.
    """
    if start.resume is None and not start.newest:
        return None
    from mooring.agents.sessions.store import SessionStore  # most conversations are new, and need no database yet

    store = SessionStore(workspace.where)
    if not start.newest:
        return store.find(start.resume or "")
    with_asked = store.list(workspace.cwd, backend=asked, most=1)
    return with_asked[0] if with_asked else store.find_newest(workspace.cwd)


def describe_handover(continued: "SessionSummary | None", asked: BackendName | None) -> str:
    """What is said if a session goes on with somebody else; empty if it doesn't."""
    if continued is None or asked is None or continued.backend == asked:
        return ""
    return f"Continues {continued.id}, which was with {continued.answerer}, as a new conversation."


def _read_backend(session: "SessionSummary") -> BackendName:
    for known in BACKENDS:
        if session.backend == known:
            return known
    raise ConfigError(f"The session {session.id} is with {session.backend!r}, which this version doesn't know.")


def restore_mode(continued: "SessionSummary | None", permissions: CommandPermissions) -> CommandPermissions:
    """What a command adds to the permissions, with the mode of the session that goes on unless it names one itself."""
    if continued is None or permissions.mode is not None:
        return permissions
    mode = next((known for known in get_args(Mode) if known == continued.mode), None)
    return permissions if mode == _NEVER_RESTORED else replace(permissions, mode=mode)


def describe_lost_mode(continued: "SessionSummary | None", asked: Mode | None, now: Mode) -> str:
    """What is said if the mode of the session that goes on isn't restored; empty if it is. `asked` is by an option."""
    if continued is None or asked is not None or continued.mode != _NEVER_RESTORED or now == _NEVER_RESTORED:
        return ""
    return f"Permissions were bypassed in this conversation. It goes on in {now} mode; --permission-mode changes that."


TELL_COSTS = ("opencode",)
"""The programs that say what each reply cost. Claude Code does so at the end of a turn, Copilot never."""


def check_model_options(backend: BackendName, limits: TurnLimits, effort: EffortWish | None = None) -> None:
    """Refuse an option that whoever answers cannot follow. Raises: ConfigError."""
    if effort is not None and effort.is_required and backend != "api":
        raise ConfigError(explain_no_effort(backend), "Leave out --effort.")
    if is_program(backend) and backend not in TELL_COSTS and limits.max_cost is not None:
        hint = "Leave out --max-cost; --token-budget holds."
        raise ConfigError(f"{backend} doesn't say what a reply costs, so its cost cannot be limited.", hint)


def explain_no_effort(backend: BackendName) -> str:
    """Why nobody can choose how much is thought, unless a model behind an API answers."""
    if is_program(backend):
        return f"{backend} decides by itself how much it thinks."
    return "No model answers, so there is no effort to choose."
