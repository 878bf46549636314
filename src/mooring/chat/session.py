"""A chat without a face: what is said in it, the tools and resources that it finds, and the servers that it changes.

The plain chat shows it in lines; every other face would show the same conversation.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.commands.find import FoundCommands
from mooring.chat.face import Face
from mooring.chat.news import ServerNews
from mooring.chat.switches import ServerSwitches, explain_refusal
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.status import Failed, Status
from mooring.core.conversation.turn import ServerStatus, TurnInput
from mooring.core.conversation.verdict import CommandPermissions, Mode
from mooring.core.definitions.paths import Workspace
from mooring.core.protocol.content import Block, Text
from mooring.core.protocol.result import FilledPrompt, Result
from mooring.core.protocol.tool import Prompt
from mooring.core.text.suggestions import find_server
from mooring.display.text import problem_line, safe
from mooring.errors import (
    ConfigError,
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
from mooring.verbs.agent.choose_backend import describe_handover, describe_lost_mode, find_continued, restore_mode
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.agent.responder import Responder, choose_responder, open_responder
from mooring.verbs.agent.servers import OPENING_SECONDS
from mooring.verbs.agent.session_start import SessionStart
from mooring.verbs.agent.words import AgentWords
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import open_host

if TYPE_CHECKING:
    from mooring.agents.sessions.replay import LastExchange
    from mooring.agents.sessions.store import SessionSummary
    from mooring.conversation.conversation import Conversation
    from mooring.discovery.targets import WriteScope
    from mooring.verbs.agent.agents import AgentListing
    from mooring.verbs.config.switch import Switched

T = TypeVar("T")


class ContinuedConversation(Struct, frozen=True):
    """A conversation that goes on, as its person left it."""

    session: "SessionSummary"
    last: "LastExchange | None"


class ChatSession:
    """Everything in one chat that is not drawn. Use `open`, then `start`."""

    host: Host
    continued: "ContinuedConversation | None" = None
    """What was said before, if this conversation goes on."""
    news: ServerNews
    starts: FirstStarts
    """Has turns wait for servers that are new."""
    responder: Responder
    """Who answers, and with which tools."""

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
        self._switches = ServerSwitches(workspace)
        self._told_missing: set[str] = set()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Open the host and the tools, and close them at the end. Raises: ConfigError."""
        await self._find_continued()
        permissions = restore_mode(self._previous, self.permissions)
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
            chosen = await choose_responder(self.host, self._make_options(permissions.mode))
            for lack in () if chosen.defined is None else chosen.defined.describe_missing(self.host):
                self._face.notice(lack)
            async with open_responder(self.host, chosen) as self.responder:
                self.responder.stream.add_listener(self._face.show_event)
                listening = asyncio.create_task(self.news.follow())
                try:
                    yield
                finally:
                    listening.cancel()

    async def _find_continued(self) -> None:
        """Look up the conversation that is to go on, and what was said in it last. Raises: ConfigError."""
        found = await asyncio.to_thread(find_continued, self._options.backend, self._options.session, self.workspace)
        if found is None:
            return
        # Loaded here: most conversations are new.
        from mooring.agents.sessions.replay import find_last_exchange
        from mooring.agents.sessions.store import SessionStore

        # From now on it is this one, whichever is the last of its folder by then.
        self._options = replace(self._options, session=SessionStart(found.id))
        _, entries = await asyncio.to_thread(SessionStore(self.workspace.where).read, found.id)
        self.continued = ContinuedConversation(found, find_last_exchange(entries))

    def describe_handover(self) -> str:
        """What is said if this conversation goes on with somebody else than before; empty if it doesn't."""
        return describe_handover(self._previous, self._options.backend)

    def describe_lost_mode(self) -> str:
        """What is said if this conversation goes on in another mode than before; empty if it doesn't."""
        return describe_lost_mode(self._previous, self.permissions.mode, self.host.call_policy().mode)

    @property
    def _previous(self) -> "SessionSummary | None":
        return None if self.continued is None else self.continued.session

    async def find_stored(self) -> str | None:
        """The id under which this conversation can be continued; `None` if nothing of it is stored."""
        id = self.responder.session
        if id is None:
            return None
        from mooring.agents.sessions.store import SessionStore  # loaded by now, if anything was stored

        try:
            return (await asyncio.to_thread(SessionStore(self.workspace.where).find, id)).id
        except ConfigError:
            return None  # nothing was said, or it could not be written; then that was said

    def _make_options(self, mode: Mode | None) -> ConversationOptions:
        """How this conversation is had, with what the face adds to it."""
        face = self._face
        return replace(
            self._options,
            ask=face.ask,
            policy=mode,
            words=self.words,
            starts=self.starts,
            switch=self.switch,
            on_problem=lambda problem: face.notice(safe(f"{problem.message}; {problem.hint}")),
            person=face,
            tokens=self.tokens,
            lines=self.lines,
        )

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
        """Have something answered as it is. Raises: as `turn`."""
        await self.responder.backend.turn(said)

    async def expand(self, request: str) -> TurnInput:
        """A request with what it names attached, if a model answers. Raises: as `expand_mentions`."""
        takes = self.responder.takes
        if takes is None or "@" not in request:
            return TurnInput(request)
        from mooring.verbs.agent.mentions import expand_mentions  # few requests name anything

        return await expand_mentions(self.host, request, takes, Deadline(None), self.conversation)

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
        from mooring.tools.results.outcome import result_of_reading  # few people begin a chat by reading

        result = result_of_reading(await self.host.read(server, uri), server, uri)
        return await self._deliver(result)

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
        """The agents that can be used here."""
        from mooring.inventory.load import load
        from mooring.verbs.agent.agents import list_agents  # few chats ask for them

        return await asyncio.to_thread(lambda: list_agents(self.workspace, load(self.workspace)))

    async def find_commands(self) -> FoundCommands:
        """Look for the commands that files define."""
        self.commands = await asyncio.to_thread(self.words.commands.find)
        return self.commands

    async def make_prompt_turn(self, server: str, name: str, filled: FilledPrompt) -> TurnInput | None:
        """What a filled prompt says to the model; `None` if no model answers. Raises: ConfigError if it is empty."""
        takes = self.responder.takes
        if takes is None:
            return None
        from mooring.verbs.agent.prompt_turn import make_prompt_turn  # few chats use a prompt

        return await make_prompt_turn(self.host, server, name, filled, takes)

    async def describe_prompt(self, server: str, name: str, filled: FilledPrompt) -> Outcome:
        """The messages of a prompt as a person reads them."""
        blocks: list[Block] = []
        for message in filled.messages:
            blocks += [Text(f"{message.role}:"), message.content]
        return await self._deliver(Result(tuple(blocks), server=server, tool=name))

    async def _deliver(self, result: Result) -> Outcome:
        """A result as it is shown: what is too long goes into a file, as it does for a model."""
        # Imported here: a chat in which nothing is read or filled in needs none of it before its first call.
        from mooring.tools.results.deliver import Delivery, ResultStore

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
            errors = await self.host.ready(servers=[known], refresh=True)
        for error in errors.values():
            raise error

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
            errors = await self.host.ready(servers=[name], refresh=True)
        for error in errors.values():
            raise error
        self.news.record_tools()

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
