"""The conversations of one chat, one after another: each begins, or goes on, with whoever answers in it.

The host and its servers stay. So does what the user allowed for the session; bypassed permissions do not.
"""

import asyncio
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.definition import AgentDefinition
from mooring.backends.api.choice import CLAUDE_MODELS, INHERIT
from mooring.core.conversation.backend_name import BackendName
from mooring.core.conversation.effort import Effort, EffortWish
from mooring.core.conversation.event import ConversationEvent, EmitEvent, TokensUsed
from mooring.core.conversation.verdict import CommandPermissions, Mode
from mooring.core.definitions.paths import Workspace
from mooring.display.text import quote_argument
from mooring.errors import ConfigError, NoModel
from mooring.host.host import Host
from mooring.verbs.agent.choose_backend import SessionStart, explain_no_effort, find_continued, restore_mode
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.responder import ChosenResponder, Responder, choose_responder, open_responder

if TYPE_CHECKING:
    from collections.abc import Callable

    from mooring.agents.model import EffortChoice
    from mooring.agents.sessions.branch import EarlierMessage
    from mooring.agents.sessions.journal import SessionJournal
    from mooring.agents.sessions.replay import LastExchange
    from mooring.agents.sessions.store import SessionSummary


class ContinuedConversation(Struct, frozen=True):
    """A conversation that goes on, as its person left it."""

    session: "SessionSummary"
    last: "LastExchange | None"


def read_continued(workspace: Workspace, options: ConversationOptions) -> ContinuedConversation | None:
    """The conversation that is to go on, and what was said in it last; `None` for a new one. Raises: ConfigError."""
    found = find_continued(options.backend, options.session, workspace)
    if found is None:
        return None
    # Loaded here: most conversations are new.
    from mooring.agents.sessions.replay import find_last_exchange
    from mooring.agents.sessions.store import SessionStore

    _, entries = SessionStore(workspace.where).read(found.id)
    return ContinuedConversation(found, find_last_exchange(entries))


class ChatConversations:
    """The conversation that the chat is in, and how it gets into another one. Use `open`, and `close` at the end."""

    responder: Responder
    """Who answers now, and with which tools."""
    continued: ContinuedConversation | None = None
    """What was said before, if this conversation goes on."""
    last_use: TokensUsed | None = None
    """What the last reply of this conversation took."""

    def __init__(
        self,
        host: Host,
        options: ConversationOptions,
        permissions: CommandPermissions,
        show_event: EmitEvent,
        notice: "Callable[[str], None]",
    ) -> None:
        """`options` are those of the first conversation, with everything that the face adds."""
        self._host = host
        # Also for what is looked up once the host is closed.
        self._workspace = host.workspace
        self._options = options
        self._permissions = permissions
        self._show_event = show_event
        self._notice = notice
        self._chosen: ChosenResponder
        self._models: dict[BackendName, str | None] = {}
        """The model that answered last with each backend."""
        self._kept: list[_KeptResponder] = []

    async def open(self, continued: ContinuedConversation | None) -> None:
        """Open the first conversation. Raises: ConfigError."""
        options = self._options
        if continued is not None:
            # From now on it is this one, whichever is the last of its folder by then.
            options = replace(options, session=SessionStart(continued.session.id))
        await self._enter(options, continued)
        # It was chosen for this conversation. Another model need not have the choice.
        if options.effort is not None:
            self._options = replace(self._options, effort=EffortWish(options.effort.level))

    async def close(self) -> None:
        """Close the conversation, and wait for those before it. Raises: what their ends raise."""
        for kept in self._kept:
            kept.begin_close()
        for kept in self._kept:
            await kept.wait()

    async def begin(self) -> None:
        """Begin a new conversation with whoever answers in this one. Raises: ConfigError; FileError."""
        await self._enter(replace(self._name_answerer(), session=SessionStart()), None)
        self._end_bypass()

    async def resume(self, id: str) -> None:
        """Go on with a stored conversation, and whoever answered in it; `id` may be the beginning of one.

        Raises: ConfigError if there is none, or it is open; FileError.
        """
        options = replace(self._options, backend=None, model=None, agent=None, session=SessionStart(id))
        continued = await asyncio.to_thread(read_continued, self._workspace, options)
        assert continued is not None  # it is named
        if continued.session.id == self.responder.session:
            raise ConfigError("You are in that conversation.")
        await self._enter(replace(options, session=SessionStart(continued.session.id)), continued)
        asked = replace(self._permissions, mode=None) if self._permissions.mode == "bypass" else self._permissions
        self._switch_mode(restore_mode(continued.session, asked).mode)

    async def list_earlier_messages(self) -> "tuple[EarlierMessage, ...]":
        """What the person said in this conversation, the last first.

        Raises: ConfigError if it can't go back, as with another agent's program; FileError.
        """
        return await self._find_journal().list_earlier_messages()

    async def go_back(self, message: "EarlierMessage") -> str:
        """Go on from before a message with whoever answers now, in a new conversation that holds what was said until
        then. The id of the one that is left, which stays as it is.

        Raises: as `list_earlier_messages`; ConfigError if whoever answers can't be opened again.
        """
        journal = self._find_journal()
        branch = await journal.branch(message)
        options = replace(self._name_answerer(), session=SessionStart(branch))
        continued = None if branch is None else await asyncio.to_thread(read_continued, self._workspace, options)
        await self._enter(options, continued)
        return journal.id

    def _find_journal(self) -> "SessionJournal":
        """What keeps this conversation, if it can go back in it. Raises: ConfigError."""
        if self.responder.program is not None:
            raise ConfigError(f"{self.responder.program.name} keeps this conversation itself, and can't go back in it.")
        from mooring.agents.sessions.journal import SessionJournal  # loaded by now, if a model answers

        if not isinstance(self.responder.journal, SessionJournal):
            raise ConfigError("No model answers here, so there is nothing to go back to.")
        return self.responder.journal

    async def hand_over(self, backend: BackendName, model: str | None) -> str | None:
        """Begin a new conversation with somebody else, who is given the transcript of this one as text.

        Without a `model`, it is the one that answered last with that backend in this chat, else the backend's own. The
        id of the conversation that is handed over; `None` if nothing was said yet.

        Raises: ConfigError if that backend or model can't be used; FileError.
        """
        return await self._hand_over(
            replace(self._name_answerer(), backend=backend, model=model or self._models.get(backend))
        )

    async def hand_over_to_agent(self, agent: AgentDefinition | None) -> str | None:
        """The same with an agent, which has the model of its file, else the one that answers; `None` for none.

        Raises: ConfigError if no model can answer; FileError.
        """
        backend: BackendName = "api" if self.backend == "manual" else self.backend
        model = self._models.get(backend)
        if agent is not None:
            model = _choose_agent_model(agent, model, is_api=backend == "api")
        name = None if agent is None else agent.name
        return await self._hand_over(replace(self._name_answerer(), backend=backend, model=model, agent=name))

    async def _hand_over(self, options: ConversationOptions) -> str | None:
        stored = await self.find_stored()
        # What was handed to somebody who was told nothing since is for the next.
        continues = self._chosen.options.session.handed_over
        if stored is not None and stored.turns > 0:
            continues = stored.id
        await self._enter(replace(options, session=SessionStart(handed_over=continues)), None)
        self._end_bypass()
        return continues

    async def find_stored(self) -> "SessionSummary | None":
        """This conversation as it is stored; `None` if nothing of it is."""
        id = self.responder.session
        if id is None:
            return None
        from mooring.agents.sessions.store import SessionStore  # loaded by now, if anything was stored

        try:
            return await asyncio.to_thread(SessionStore(self._workspace.where).find, id)
        except ConfigError:
            return None  # nothing was said, or it could not be written; then that was said

    @property
    def effort(self) -> Effort | None:
        """How much the model thinks before it answers; `None` for as much as it does by itself.

        Raises: ConfigError if it has no such choice, or no model behind an API answers.
        """
        model = self._find_effort_choice()
        if not model.has_effort:
            raise NoModel(f"{self.responder.model} has no effort to choose.")
        return model.effort.level

    def change_effort(self, effort: Effort | None) -> str:
        """Have the model think this much from its next reply on, and those that answer after it, as far as they can.

        The name of the model. Raises: as `effort`.
        """
        self._find_effort_choice().change_effort(effort)
        self._options = replace(self._options, effort=EffortWish(effort))
        return str(self.responder.model)

    def _find_effort_choice(self) -> "EffortChoice":
        agent = self.responder.agent
        if agent is None:
            raise ConfigError(explain_no_effort(self.backend))
        from mooring.agents.model import EffortChoice  # loaded by now, since a model answers

        model = agent.backend.thread.model
        if not isinstance(model, EffortChoice):
            raise NoModel(f"{model.name} has no effort to choose.")
        return model

    @property
    def backend(self) -> BackendName:
        """Who answers: a model behind an API, the person, or another agent's program."""
        return self._chosen.backend

    def _name_answerer(self) -> ConversationOptions:
        """The options of another conversation with whoever answers in this one."""
        chosen = self._chosen
        agent = chosen.options.agent if chosen.definition is None else chosen.definition.name
        return replace(self._options, backend=chosen.backend, model=_name_model(chosen), agent=agent)

    async def _enter(self, options: ConversationOptions, continued: ContinuedConversation | None) -> None:
        """Leave this conversation for another one. If that cannot be opened, the chat stays where it is."""
        self._host.keep_answers()
        chosen = await choose_responder(self._host, options)
        for lack in () if chosen.defined is None else chosen.defined.describe_missing(self._host):
            self._notice(lack)
        kept = _KeptResponder(self._host, chosen)
        responder = await kept.open()
        responder.stream.add_listener(self._note_use)
        responder.stream.add_listener(self._show_event)
        self.responder, self._chosen, self.continued, self.last_use = responder, chosen, continued, None
        self._models[chosen.backend] = _name_model(chosen)
        before, self._kept = self._kept, [*self._kept, kept]
        for each in before:
            each.begin_close()
            await each.wait()
        self._kept = [kept]

    def _end_bypass(self) -> None:
        """Ask about calls again: bypassed permissions are for one conversation."""
        if self._host.call_policy().mode == "bypass":
            self._switch_mode(None)

    def _switch_mode(self, mode: Mode | None) -> None:
        before = self._host.call_policy().mode
        self._host.change_mode(mode)
        now = self._host.call_policy().mode
        if before == "bypass" and now != before:
            self._notice(f"Permissions are no longer bypassed: the mode is {now}.")

    def _note_use(self, event: ConversationEvent) -> None:
        if isinstance(event, TokensUsed) and event.parent is None:
            self.last_use = event


def _name_model(chosen: ChosenResponder) -> str | None:
    """The model as `-m` names it; `None` if nobody chose one."""
    return chosen.program_model if chosen.model is None else chosen.model.name


def _choose_agent_model(agent: AgentDefinition, current: str | None, *, is_api: bool) -> str | None:
    """The model of an agent that is to answer; `None` for what the program or the settings say."""
    wanted = agent.model
    if wanted is None or wanted == INHERIT:
        return current
    if not is_api:
        return None  # the program knows itself
    if wanted not in CLAUDE_MODELS:
        return wanted
    # A kind of Claude; with another provider's model it means that model.
    is_claude = current is not None and current.startswith("anthropic:")
    return f"anthropic:{CLAUDE_MODELS[wanted]}" if is_claude else current


class _KeptResponder:
    """A responder, opened and closed in a task of its own: that of a command ends before the conversation does."""

    def __init__(self, host: Host, chosen: ChosenResponder) -> None:
        self._host = host
        self._chosen = chosen
        self._is_left = asyncio.Event()
        self._opened: asyncio.Future[Responder] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep(), name="mooring responder")

    async def open(self) -> Responder:
        """Wait until it is open. Raises: as `open_responder`."""
        either: set[asyncio.Future[Any]] = {self._task, self._opened}
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            self._task.cancel()
            await asyncio.wait({self._task})
            raise
        if not self._opened.done():
            self._task.result()  # raises
        return self._opened.result()

    def begin_close(self) -> None:
        self._is_left.set()

    async def wait(self) -> None:
        """Wait until it is closed; canceling this ends the waiting alone. Raises: what its end raises."""
        await asyncio.wait({self._task})
        self._task.result()

    async def _keep(self) -> None:
        async with open_responder(self._host, self._chosen) as responder:
            self._opened.set_result(responder)
            await self._is_left.wait()


def spell_resuming(workspace: Workspace, id: str) -> str:
    """How a conversation is continued later, as a sentence with the command."""
    options = "".join(f" {word}" for word in _spell_options(workspace))
    return f"To continue this conversation: mooring chat --resume {id}{options}"


def _spell_options(workspace: Workspace) -> Iterator[str]:
    """The options by which a later chat has the same servers as this one."""
    if workspace.demo:
        yield "--demo"
    if not workspace.project:
        yield "--no-project"
    for path in workspace.configs:
        yield f"--config {quote_argument(path)}"
