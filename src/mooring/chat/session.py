"""A chat without a face: what is said in it, the tools and resources that it finds, and the servers that it changes.

The plain chat shows it in lines; every other face would show the same conversation.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Protocol, TypeVar

from msgspec.structs import replace

from mooring.agents.commands.find import FoundCommands
from mooring.agents.definition import AgentDefinition
from mooring.agents.files.find import AgentFiles, FoundAgents
from mooring.backends.manual import Person
from mooring.chat.conversations import ChatConversations, ContinuedConversation, read_continued
from mooring.chat.first_answerer import keep_answerer, offer_answerer
from mooring.chat.input_history import InputHistory
from mooring.chat.news import ServerNews
from mooring.chat.recent_calls import RecentCalls
from mooring.chat.shell_outputs import PersonShell
from mooring.chat.switches import ServerSwitches, explain_refusal
from mooring.core.conversation.backend_name import BackendName
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import ConversationEvent
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.question import Ask
from mooring.core.conversation.status import Failed, Status
from mooring.core.conversation.turn import ServerStatus, TurnInput
from mooring.core.conversation.verdict import CommandPermissions, Mode
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.content import Block, Text
from mooring.core.protocol.result import FilledPrompt, Result
from mooring.core.protocol.tool import Prompt
from mooring.core.text.suggestions import find_server
from mooring.display.text import problem_line, safe
from mooring.errors import (
    FileError,
    HeldBack,
    InputMissing,
    MooringError,
    NeedsLogin,
    SecretMissing,
    TimedOut,
    UnknownTool,
)
from mooring.host.first_starts import FirstStarts, follow_first_starts
from mooring.host.host import Host
from mooring.host.options import HostOptions
from mooring.process.programs import Guard
from mooring.tools.results.deliver import Delivery, ResultStore, keep_media
from mooring.tools.results.outcome import result_of_reading
from mooring.verbs.agent.choose_backend import describe_handover, describe_lost_mode, restore_mode
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.responder import Responder
from mooring.verbs.agent.servers import OPENING_SECONDS
from mooring.verbs.agent.words import AgentWords
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import open_host

if TYPE_CHECKING:
    from mooring.agents.sessions.store import SessionSummary
    from mooring.conversation.conversation import Conversation
    from mooring.discovery.targets import WriteScope
    from mooring.verbs.agent.agents import AgentListing
    from mooring.verbs.agent.offers import AnswererOffer
    from mooring.verbs.agent.undo import TurnUndo, UndoneTurn
    from mooring.verbs.config.switch import Switched

T = TypeVar("T")
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
    news: ServerNews
    starts: FirstStarts
    """Has turns wait for servers that are new."""

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
        self.words = AgentWords(workspace, lambda problem: face.notice(problem_line(problem, workspace.where.home)))
        self.commands = FoundCommands()
        """The commands that files define, as of the last look."""
        self.agents = FoundAgents({}, ())
        """The agents, likewise."""
        self._agent_files = AgentFiles(workspace)
        store = ResultStore(f"{workspace.where.cache}/results")
        self.calls = RecentCalls(partial(keep_media, store))
        """The calls that ended last, with all that came back."""
        self.listed: tuple[SessionSummary, ...] = ()
        """The conversations of this folder, as they were listed last."""
        self._input_history = InputHistory(workspace.where)
        self._has_history_fault = False
        """Whether it was said that the history cannot be kept."""
        self.shell = PersonShell()
        """What the person's own commands printed, until it is sent."""
        self._switches = ServerSwitches(workspace)
        self._told_missing: set[str] = set()
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
            self.news = ServerNews(self.host, self._face.notice)
            self.starts = follow_first_starts(self.host, self._face.show_waiting)
            offer = None if continued is not None else await self._offer_answerer()
            self.conversations = ChatConversations(
                self.host, self._complete_options(), self.permissions, self._show_event, self._face.notice
            )
            try:
                await self.conversations.open(continued)
                if offer is not None:
                    await self._keep_answerer(offer)
                listening = asyncio.create_task(self.news.follow())
                try:
                    yield
                finally:
                    listening.cancel()
            finally:
                self._input_history.close()
                await self.conversations.close()

    async def _offer_answerer(self) -> "AnswererOffer | None":
        """Have whoever the user picks answer in this chat, if nobody was chosen."""
        offer = await offer_answerer(self.host, self._options, self._face.ask, self._face.notice)
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
        await self.begin_servers()
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
            words=self.words,
            starts=self.starts,
            switch=self.switch,
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
        self._face.notice(safe(f"{problem.message}; {problem.hint}"))

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

    async def plan_undo(self) -> "TurnUndo":
        """What undoing the last turn would do.

        Raises: ConfigError if nothing can be undone; FileError.
        """
        from mooring.verbs.agent.undo import plan_undo  # few chats undo anything

        return await plan_undo(self.responder, self.workspace)

    async def undo(self, plan: "TurnUndo") -> "UndoneTurn":
        """Undo the last turn as planned. Raises: ConfigError if a turn is under way."""
        from mooring.verbs.agent.undo import undo

        return await undo(self.responder, plan)

    async def turn(self, request: str) -> None:
        """Have a request answered, with what it names attached if a model answers.

        Raises: MooringError; whatever the person's answers raise.
        """
        await self.send(await self.expand(request))

    async def send(self, said: TurnInput) -> None:
        """Have something answered as it is, with what the person's commands printed. Raises: as `turn`."""
        await self.responder.backend.turn(self.shell.attach(said))

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

    async def begin_servers(self) -> None:
        """Start the servers that are new, and give them a moment; those that come later are announced when they do."""
        if self.responder.has_native_servers:
            return  # the program starts them, and each would run twice
        self.starts.begin()
        await self.starts.give_a_moment(OPENING_SECONDS)
        await self.conversation.skills.list()  # so that Tab knows them

    async def wait_for_servers(self) -> None:
        """Wait for servers whose tools were never seen, before a turn; each of them once."""
        if not self.responder.has_native_servers:
            await self.starts.wait()

    def describe_missing(self) -> str:
        """Which servers the turn that begins has to do without, unless the person was told; empty if there is none."""
        missing = self.starts.find_missing()
        news = {name: error for name, error in missing.items() if name not in self._told_missing}
        self._told_missing = set(missing)
        words = [f"{safe(name)} ({_describe_lack(error)})" for name, error in news.items()]
        return f"Going on without {', '.join(words)}; /mcp shows more." if words else ""

    def start(self) -> None:
        """Use the servers that are there by now, and announce what changes from now on."""
        self.conversation.learn()
        self.news.start()

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
        self.news.record_tools()
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
                if mention.isprintable() and " " not in mention:
                    yield mention

    async def list_agents(self) -> "AgentListing":
        from mooring.inventory.load import load
        from mooring.verbs.agent.agents import list_agents  # few chats ask for them

        return await asyncio.to_thread(lambda: list_agents(self.workspace, load(self.workspace)))

    async def find_commands(self) -> FoundCommands:
        """Look for the commands and the agents that files define."""
        self.commands = await asyncio.to_thread(self.words.commands.find)
        self.agents = await asyncio.to_thread(self._agent_files.find)
        return self.commands

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
        delivery = Delivery(ResultStore(f"{self.workspace.where.cache}/results"), (), self.tokens, self.lines)
        return await delivery.deliver(result, Outcome(server=result.server, tool=result.tool))

    # --- servers --------------------------------------------------------------------------------------------------

    @property
    def status(self) -> Mapping[str, Status]:
        return self.host.status()

    def find_server(self, name: str) -> str:
        """The server that is meant, even one that may not be started. Raises: UnknownServer."""
        return find_server(name, self.status)

    async def list_agent_status(self) -> Sequence[ServerStatus]:
        """The status of each server as another agent's program has it; empty if none answers. Raises: MooringError."""
        program = self.responder.program
        return () if program is None else await program.status()

    async def reload(self, name: str) -> None:
        """Restart one server and wait for it. Raises: why it cannot be reached."""
        known = self.host.server(name).name
        if self.responder.has_native_servers:
            await self.responder.backend.reconnect(known)
            return
        with self.news.attend(known):
            await self.host.reload(known)
            await self._make_ready(known)

    async def reload_all(self) -> None:
        """Read the configuration again, restart the servers that failed, and have all of them list their tools again.

        Servers that changed are replaced; healthy ones stay connected.
        """
        await self.reread()
        if self.responder.has_native_servers:
            return  # the program restarts what changed
        failed = {server.name for server in self.host.servers.values() if isinstance(server.status, Failed)}
        await asyncio.gather(*map(self.host.reload, failed))
        self.starts.begin()
        await self.host.ready(refresh=True)
        self.news.record_tools()

    async def reread(self) -> None:
        """Read the configuration again, because the person wants it so."""
        self.news.expects_reload = True
        await self.host.reload()
        self.news.record_tools()

    async def change_files(self, change: Awaitable[T]) -> T:
        """Wait for a change of the configuration's files, and put it into effect here. Raises: as `change`."""
        changed = await self._write(change)
        await self.reread()
        return changed

    async def _write(self, change: Awaitable[T]) -> T:
        # The host may notice the change before it is told of it: that is no news to whoever makes it.
        self.news.expects_reload = True
        try:
            return await change
        except MooringError:
            self.news.expects_reload = False
            raise

    async def list_unapproved(self) -> tuple[str, ...]:
        """The project's servers that nobody has decided about as they are now."""
        # Loaded here: few chats approve anything.
        from mooring.inventory.approval import list_undecided
        from mooring.inventory.load import load

        inventory = await asyncio.to_thread(load, self.workspace)
        return tuple(definition.name for definition in list_undecided(inventory))

    async def approve_server(self, server: str) -> bool:
        """Ask about a project's server, and connect it if it is approved; whether it was.

        Raises: as `Host.ask_about_server`; why it cannot be reached.
        """
        self.news.expects_reload = True
        if not await self.host.ask_about_server(server):
            self.news.expects_reload = False
            return False
        with self.news.attend(self.host.server(server).name):
            errors = await self.host.ready(servers=[server])
        self.news.record_tools()
        for error in errors.values():
            raise error
        return True

    async def describe_no(self, server: str) -> str:
        """What it means that the person did not approve a project's server. Raises: as `Host.ask_about_server`."""
        from mooring.inventory.approval import list_questions
        from mooring.inventory.approval_rows import describe_no
        from mooring.inventory.load import load

        inventory = await asyncio.to_thread(load, self.workspace)
        [question] = await asyncio.to_thread(list_questions, inventory, [server], self.workspace.where)
        return describe_no(question, "/reject")

    async def reject_server(self, server: str) -> None:
        """Refuse a project's server until its definition changes, and end it if it runs.

        Raises: as `Host.ask_about_server`.
        """
        from mooring.inventory.approval import decide, list_questions
        from mooring.inventory.load import load

        where = self.workspace.where
        inventory = await asyncio.to_thread(load, self.workspace)
        questions = await asyncio.to_thread(list_questions, inventory, [server], where)
        await asyncio.to_thread(decide, inventory, questions, where, False)
        await self.reread()

    async def approve_tools(self, server: str) -> bool:
        """Ask about the tools of a server that are held back; whether they may be called now. Raises: FileError."""
        agreed = await self.host.ask_about_tools(server)
        self.news.record_tools()
        return agreed

    async def switch(self, server: str, on: bool) -> None:
        """Enable or disable a server until the chat ends, also for a program that was given it.

        Raises: why it cannot be started.
        """
        if on:
            self._switches.switch_on(server, self.status[server])
        else:
            self._switches.switch_off(server)
        await self.reread()
        refused = self.host.refused.get(server)
        if on and refused is not None:
            raise explain_refusal(server, refused)

    async def save_switch(self, server: str, on: bool, scope: "WriteScope | None") -> "Switched":
        """Enable or disable a server for good, and here. Raises: as `verbs.config.switch.switch`."""
        from mooring.verbs.config.switch import switch  # few chats save anything

        saved = await self._write(asyncio.to_thread(switch, self.workspace, server, on, scope))
        self.forget_switch(server)
        await self.reread()
        return saved

    def forget_switch(self, server: str) -> None:
        """Leave it to the configuration whether a server is on, from the next time that it is read."""
        self._switches.forget(server)

    async def connect(self, server: str) -> None:
        """Connect a server and wait for its tools. Raises: why it cannot be reached."""
        name = self.host.server(server).name
        if self.responder.has_native_servers:
            await self.responder.backend.status()  # the program connects it, and answers once it has tried
            return
        with self.news.attend(name):
            await self._make_ready(name)
        self.news.record_tools()

    async def _make_ready(self, server: str) -> None:
        """Connect a server and have it list its tools. Raises: why it cannot be reached."""
        errors = await self.host.ready(servers=[server], refresh=True)
        for error in errors.values():
            raise error

    def count_tools(self, server: str) -> int:
        """How many tools of a server are known. Raises: as `Host.server`."""
        return len(self.host.tools_by_server.get(self.host.server(server).name, ()))


def _describe_lack(error: MooringError) -> str:
    """Why a server is missing, in a word or two: whoever wants to know more asks for it."""
    match error:
        case TimedOut():
            return "still starting"
        case NeedsLogin():
            return "needs a login"
        case InputMissing() | SecretMissing():
            return "needs a value"
        case _:
            return "failed"
