"""A chat without a face: what is said in it, and the tools and resources that it finds.

The plain chat shows it in lines; every other face would show the same conversation.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec.structs import replace

from mooring.agents.definition import AgentDefinition
from mooring.backends.manual import Person
from mooring.chat.conversations import ChatConversations, ContinuedConversation, read_continued
from mooring.chat.defined_files import DefinedFiles
from mooring.chat.first_answerer import find_answerers, keep_answerer, offer_answerer
from mooring.chat.input_history import InputHistory
from mooring.chat.recent_calls import RecentCalls
from mooring.chat.session_servers import ChatServers
from mooring.chat.shell_outputs import PersonShell
from mooring.chat.switches import ServerSwitches
from mooring.core.conversation.backend_name import BackendName
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import ConversationEvent
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.question import Ask
from mooring.core.conversation.turn import Receipt, TurnInput
from mooring.core.conversation.verdict import CommandPermissions, Mode
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.content import Block, Text
from mooring.core.protocol.result import FilledPrompt, Result
from mooring.core.protocol.tool import Prompt
from mooring.display.text import problem_without_place, safe
from mooring.errors import (
    FileError,
    HeldBack,
    MooringError,
    UnknownTool,
)
from mooring.host.host import Host
from mooring.host.options import HostOptions
from mooring.process.programs import Guard
from mooring.tools.results.deliver import Delivery, ResultStore, keep_media
from mooring.tools.results.outcome import result_of_reading
from mooring.verbs.agent.choose_backend import describe_handover, describe_lost_mode, restore_mode
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.responder import Responder
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import open_host

if TYPE_CHECKING:
    from mooring.agents.sessions.branch import EarlierMessage
    from mooring.agents.sessions.store import SessionSummary
    from mooring.conversation.conversation import Conversation
    from mooring.verbs.agent.offers import AnswererOffer, FoundOffers

T = TypeVar("T")
LONGEST_MENTION = 2_000
"""A server may call a resource whatever it likes; Tab completes what a person would still send."""
MOST_LISTED = 20
"""How many conversations a chat lists."""


class Face(Person, Protocol):
    """What a conversation needs from whatever shows it, where the person may have to do what a model would."""

    @property
    def ask(self) -> Ask:
        """Puts a question to the person."""

    def notice(self, text: str) -> None:
        """Show something that happened while the person was doing something else."""

    def show_waiting(self, servers: Sequence[str]) -> None:
        """Show which servers are waited for; none if that is over."""

    def show_event(self, event: ConversationEvent) -> None:
        """Show what happens in the conversation."""


class ChatSession:
    """Everything in one chat that is not drawn. Use `open`, then `start`."""

    host: Host
    conversations: ChatConversations
    """The conversation that the chat is in."""
    servers: ChatServers

    def __init__(
        self,
        workspace: Workspace,
        permissions: CommandPermissions,
        face: Face,
        guard: Guard | None = None,
        options: ConversationOptions | None = None,
        *,
        tokens: int,
        lines: int,
    ) -> None:
        """`tokens` and `lines` are how much of a result is shown at once."""
        self.workspace = workspace
        self.tokens = tokens
        self.lines = lines
        self.permissions = permissions
        self._face = face
        self._guard = guard
        self._options = options or ConversationOptions()
        self.files = DefinedFiles(workspace, face.notice)
        """What files define: commands, agents, and words for whoever answers."""
        self.store = ResultStore(f"{workspace.where.cache}/results")
        """Keeps what a terminal doesn't show, for some days."""
        self.calls = RecentCalls(partial(keep_media, self.store))
        """The calls that ended last, with all that came back."""
        self.listed: tuple[SessionSummary, ...] = ()
        """The conversations of this folder, as they were listed last."""
        self._input_history = InputHistory(workspace.where)
        self.is_first = not os.path.lexists(workspace.where.record) and not self._input_history.is_there
        """Whether this user never had a chat before."""
        self.found_answerers: FoundOffers | None = None
        """Who could answer, if nobody was chosen."""
        self._has_history_fault = False
        """Whether it was said that the history cannot be kept."""
        self.shell = PersonShell()
        """What the person's own commands printed, until it is sent."""
        self._switches = ServerSwitches(workspace)
        self._shown_idle: set[Problem] = set()
        """The problems with settings that were shown."""

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Open the host and the tools, and close them at the end. Raises: ConfigError."""
        continued = await asyncio.to_thread(read_continued, self.workspace, self._options)
        permissions = restore_mode(None if continued is None else continued.session, self.permissions)
        options = HostOptions(
            workspace=self.workspace,
            ask=self._face.ask,
            policy=permissions.mode,
            rules=self.permissions.rules,
            guard=self._guard,
            reload=True,
            adapt=self._switches.apply,
            warn=lambda server, lack: self._face.notice(f"{safe(server)}: {safe(lack)}"),
        )
        async with open_host(options) as self.host:
            self.servers = ChatServers(
                self.host, self._switches, lambda: self.responder, self._face.notice, self._face.show_waiting
            )
            offer = None if continued is not None else await self._offer_answerer()
            self.conversations = ChatConversations(
                self.host, self._complete_options(), self.permissions, self._show_event, self._face.notice
            )
            try:
                await self.conversations.open(continued)
                if offer is not None:
                    await self._keep_answerer(offer)
                listening = asyncio.create_task(self.servers.news.follow())
                try:
                    yield
                finally:
                    listening.cancel()
            finally:
                self._input_history.close()
                await self.conversations.close()

    async def _offer_answerer(self) -> "AnswererOffer | None":
        """Have whoever the user picks answer in this chat, if nobody was chosen."""
        self.found_answerers = await find_answerers(self.host, self._options)
        if self.found_answerers is None:
            return None
        offer = await offer_answerer(self.found_answerers, self._face.ask, self._face.notice)
        if offer is not None:
            self._options = offer.choose(self._options)
        return offer

    async def _keep_answerer(self, offer: "AnswererOffer") -> None:
        try:
            await keep_answerer(self.workspace, offer, self._face.ask)
        except MooringError as error:
            self._face.notice(safe(str(error)))

    def _show_event(self, event: ConversationEvent) -> None:
        self.calls.note(event)
        self._face.show_event(event)

    @property
    def responder(self) -> Responder:
        """Who answers, and with which tools."""
        return self.conversations.responder

    @property
    def continued(self) -> ContinuedConversation | None:
        """What was said before, if this conversation goes on."""
        return self.conversations.continued

    async def begin_conversation(self) -> None:
        """Begin a new conversation with whoever answers now. Raises: as `ChatConversations.begin`."""
        await self.conversations.begin()
        await self._prepare_conversation()

    async def hand_over(self, backend: BackendName, model: str | None) -> str | None:
        """Go on with somebody else, in a new conversation. Raises: as `ChatConversations.hand_over`."""
        continues = await self.conversations.hand_over(backend, model)
        await self._prepare_conversation()
        return continues

    async def hand_over_to_agent(self, agent: AgentDefinition | None) -> str | None:
        """Go on with an agent, in a new conversation. Raises: as `ChatConversations.hand_over_to_agent`."""
        continues = await self.conversations.hand_over_to_agent(agent)
        await self._prepare_conversation()
        return continues

    async def resume_conversation(self, id: str) -> None:
        """Go on with a stored conversation. Raises: as `ChatConversations.resume`."""
        await self.conversations.resume(id)
        await self._prepare_conversation()

    async def list_earlier_messages(self) -> "tuple[EarlierMessage, ...]":
        """What the person said in this conversation, the last first. Raises: as `ChatConversations`."""
        return await self.conversations.list_earlier_messages()

    async def go_back(self, message: "EarlierMessage") -> str:
        """Go on from before a message, in a conversation of its own; the id of the one that is left, which stays as
        it is. Raises: as `ChatConversations.go_back`."""
        before = await self.conversations.go_back(message)
        await self._prepare_conversation()
        return before

    async def list_sessions(self) -> "tuple[SessionSummary, ...]":
        """The conversations of this folder, the one that was used last first. Raises: FileError."""
        from mooring.verbs.agent.sessions import list_sessions  # few chats list them

        where, cwd = self.workspace.where, self.workspace.cwd
        self.listed = await asyncio.to_thread(list_sessions, where, cwd, MOST_LISTED)
        return self.listed

    async def find_model_offers(self) -> "Sequence[AnswererOffer]":
        """The models that can be used now: by a key, or on this machine."""
        from mooring.verbs.agent.offers import find_model_offers  # few chats list them

        return await find_model_offers(self.workspace.where, self.host.settings)

    async def advise_on_models(self) -> str:
        """What has to be done before a model can answer, in a sentence or two."""
        from mooring.backends.api.choice import advise  # as above
        from mooring.backends.api.providers import list_providers

        return await advise(self.workspace.where, list_providers(self.host.settings["models"]))

    @property
    def mode(self) -> Mode:
        """The permission mode."""
        return self.host.call_policy().mode

    def change_mode(self, mode: Mode) -> Mode:
        """Switch to another permission mode; the one that is in force then, which the machine's settings can limit."""
        self.host.change_mode(mode)
        return self.mode

    async def _prepare_conversation(self) -> None:
        """Give the conversation that was entered the servers that are there."""
        await self.servers.begin()
        self.conversation.learn()

    def describe_handover(self) -> str:
        """What is said if this conversation goes on with somebody else than before; empty if it doesn't."""
        return describe_handover(self._previous, self._options.backend)

    def describe_lost_mode(self) -> str:
        """What is said if this conversation goes on in another mode than before; empty if it doesn't."""
        return describe_lost_mode(self._previous, self.permissions.mode, self.host.call_policy().mode)

    @property
    def _previous(self) -> "SessionSummary | None":
        return None if self.continued is None else self.continued.session

    def _complete_options(self) -> ConversationOptions:
        """How this conversation is had, with what the face adds to it."""
        face = self._face
        return replace(
            self._options,
            ask=face.ask,
            words=self.files.words,
            starts=self.servers.starts,
            switch=self.servers.switch,
            on_problem=self._show_problem,
            person=face,
            tokens=self.tokens,
            lines=self.lines,
        )

    def _show_problem(self, problem: Problem) -> None:
        if problem in self._shown_idle:
            return
        # A setting without effect has none in the next conversation either. A record that fails can fail again.
        if problem.path in (None, *self.host.settings.looked):
            self._shown_idle.add(problem)
        self._face.notice(problem_without_place(problem))

    @property
    def conversation(self) -> "Conversation":
        """The tools of this conversation."""
        conversation = self.responder.conversation
        assert conversation is not None  # a chat has a person
        return conversation

    async def resume_turn(self) -> None:
        """Go on with the turn that a session was cut off in, if it was. Raises: as `turn`."""
        agent = self.responder.agent
        if agent is not None and self.is_interrupted:
            await agent.run_turn(None)

    @property
    def is_interrupted(self) -> bool:
        """Whether a session goes on that was cut off in the middle of a turn."""
        agent = self.responder.agent
        return agent is not None and agent.is_interrupted

    async def turn(self, request: str) -> None:
        """Have a request answered, with what it names attached if a model answers.

        Raises: MooringError; whatever the person's answers raise.
        """
        await self.send(await self.expand(request))

    async def send(self, said: TurnInput) -> None:
        """Have something answered as it is, with what the person's commands printed. Raises: as `turn`."""
        await self.responder.backend.turn(self.shell.attach(said))

    def add_to_turn(self, said: TurnInput) -> Receipt | None:
        """Have something read in the turn under way. See `Backend.add`."""
        return self.responder.backend.add(said)

    async def give_task(self, agent: str, task: str) -> None:
        """Have one of the agents that files define do a task. Raises: as `turn`."""
        if self.responder.agent is not None:
            await self.responder.agent.run_task(agent, task)
        else:
            # A program has them as its own agents, and only its model can start one.
            await self.send(TurnInput(f"Give this task to your agent {agent}, and report its answer:\n\n{task}"))

    async def expand(self, request: str) -> TurnInput:
        """A request with what it names attached, if a model answers. Raises: as `expand_mentions`."""
        takes = self.responder.takes
        if takes is None or "@" not in request:
            return TurnInput(request)
        from mooring.verbs.agent.mentions import expand_mentions  # few requests name anything

        return await expand_mentions(self.host, request, takes, Deadline(None), self.conversation)

    async def read_input_history(self) -> list[str]:
        """What the person typed in their chats so far, the last at the end."""
        return await self._use_history(self._input_history.read) or []

    async def add_to_history(self, typed: str) -> None:
        """Keep what the person typed for their later chats."""
        await self._use_history(partial(self._input_history.add, typed))

    async def _use_history(self, work: Callable[[], T]) -> T | None:
        if not self.host.settings["inputHistory"]:
            return None
        try:
            return await asyncio.to_thread(work)
        except FileError as error:  # a chat goes on without it
            if not self._has_history_fault:
                self._has_history_fault = True
                self._face.notice(f"What you type isn't kept for later chats: {safe(str(error))}")
            return None

    def start(self) -> None:
        """Use the servers that are there by now, and announce what changes from now on."""
        self.conversation.learn()
        self.servers.news.start()

    # --- tools and resources --------------------------------------------------------------------------------------

    def names_tool(self, words: str) -> bool:
        """Whether words are nothing but the name of a known tool: `server.tool`."""
        return any(words == ".".join(pair) for pair in self.conversation.pairs.values())

    async def find_tool(self, name: str) -> ToolDefinition:
        """The tool of that name; a server that has not listed its tools yet is asked. Raises: as `Host.find`."""
        found = self.conversation.find(name)
        if found is not None:
            return found
        # The server goes by another name too, or it is still connecting.
        try:
            entry = await self.host.find(name)
        except HeldBack as error:
            self.host.record_held(error)  # whoever looks for a tool here is about to call it
            raise
        self.servers.news.record_tools()
        found = self.conversation.find(entry.name)
        if found is None:
            raise UnknownTool("This chat", name)
        return found

    async def read_resource(self, server: str, uri: str) -> Outcome:
        """The contents of a resource, permitted and logged like every read. Raises: as `Host.read`; Denied."""
        return await self._deliver(result_of_reading(await self.host.read(server, uri), server, uri))

    async def list_prompts(self, server: str | None = None) -> list[tuple[str, Prompt]]:
        """The prompts of a server, or of all, each with its server. Raises: as `Host.prompts`."""
        found = await self.host.prompts(server)
        return [(item.server, item.item) for item in found if isinstance(item.item, Prompt)]

    def list_known_prompts(self) -> Iterator[tuple[str, Prompt]]:
        """The prompts that servers have listed so far, each with its server."""
        for name, server in self.host.servers.items():
            if server.offer is not None and server.offer.prompts is not None:
                yield from ((name, prompt) for prompt in server.offer.prompts.items)

    def list_known_resources(self) -> Iterator[str]:
        """The resources that servers have listed so far, as they are named in a request: `@server:uri`."""
        for name, server in self.host.servers.items():
            if server.offer is None or server.offer.resources is None:
                continue
            for resource in server.offer.resources.items:
                mention = f"@{name}:{resource.uri}"
                # Tab writes it to the terminal as it is.
                if len(mention) <= LONGEST_MENTION and mention.isprintable() and " " not in mention:
                    yield mention

    async def make_prompt_turn(self, server: str, name: str, filled: FilledPrompt) -> TurnInput | None:
        """What a filled prompt says to the model; `None` if no model answers. Raises: ConfigError if it is empty."""
        takes = self.responder.takes
        if takes is None:
            return None
        from mooring.verbs.agent.used_texts import make_prompt_turn  # few chats use a prompt

        return await make_prompt_turn(self.host, server, name, filled, takes)

    async def describe_prompt(self, server: str, name: str, filled: FilledPrompt) -> Outcome:
        """The messages of a prompt as a person reads them."""
        blocks: list[Block] = []
        for message in filled.messages:
            blocks += [Text(f"{message.role}:"), message.content]
        return await self._deliver(Result(tuple(blocks), server=server, tool=name))

    async def _deliver(self, result: Result) -> Outcome:
        """A result as it is shown: what is too long goes into a file, as it does for a model."""
        delivery = Delivery(self.store, (), self.tokens, self.lines)
        return await delivery.deliver(result, Outcome(server=result.server, tool=result.tool))
