"""A conversation with an agent's program, without the program: the bridge on a real host, and clients in its place."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import mooring
import mooring.testing
from mooring.backends.bridge.bridge import AgentBridge, AgentEndpoint, open_bridge
from mooring.backends.bridge.reporter import AgentReporter
from mooring.conversation.events import EventStream
from mooring.core.conversation.event import ConversationEvent
from mooring.core.conversation.question import Allow, Answer, Question
from mooring.core.protocol.era import EraHint, EraName
from mooring.errors import MooringError
from mooring.host.host import Host
from mooring.permissions.audit import AuditEntry, read_log
from mooring.wire.session.client import Client
from mooring.wire.session.remote import open_url
from mooring.wire.session.session import Session
from support import Home


class Person:
    """Answers every question, once it may, and keeps what it was asked."""

    def __init__(self, answer: Answer | Callable[[Question], Awaitable[Answer]] | None = None) -> None:
        self.answer = answer or Allow("once")
        self.asked: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question)
        return await self.answer(question) if callable(self.answer) else self.answer


class Talk:
    """One conversation: its bridge, its person, and the events of the turn that is under way."""

    def __init__(self, bridge: AgentBridge, person: Person, events: list[ConversationEvent]) -> None:
        self.bridge = bridge
        self.person = person
        self.events = events
        bridge.reporter.stream.add_listener(events.append)

    def find(self, server: str) -> AgentEndpoint:
        [found] = [endpoint for endpoint in self.bridge.list_endpoints() if endpoint.server == server]
        return found

    def connect(self, server: str, **options: Any) -> AbstractAsyncContextManager[Session]:
        return connect(self.find(server), **options)

    def begin_turn(self) -> None:
        self.bridge.reporter.begin()

    def end_turn(self) -> None:
        self.bridge.reporter.end("finished")


@asynccontextmanager
async def connect(
    endpoint: AgentEndpoint, era: EraName = "handshake", client: Client | None = None
) -> AsyncIterator[Session]:
    """What an agent's program does with an endpoint."""
    opened = await open_url(endpoint.url, headers=endpoint.headers, hint=EraHint(era), client=client)
    async with opened as session:
        yield session


async def try_call(session: Session, tool: str, arguments: Mapping[str, Any]) -> str:
    """What the model gets, whether the agent reads it as an error or as a result."""
    try:
        result = await session.call_tool(tool, arguments)
    except MooringError as error:
        return str(error)
    return result.text


def open_host(home: Home, servers: Any = None, **options: Any) -> Host:
    return mooring.open(request=home.request(), servers=servers, **options)


@asynccontextmanager
async def talking(host: Host, person: Person | None = None, **options: Any) -> AsyncIterator[Talk]:
    """A conversation on a host, in the middle of its first turn."""
    person, events = person or Person(), []
    reporter = AgentReporter(EventStream("session"), "test")
    async with open_bridge(host, reporter, ask=person.ask, **options) as bridge:
        talk = Talk(bridge, person, events)
        talk.begin_turn()
        yield talk


def make_server(name: str = "box") -> mooring.testing.Server:
    """A server with a tool that adds, one that names it, one that asks, and one that fails."""
    server = mooring.testing.Server(name)

    @server.tool
    def add(a: int, b: int) -> int:
        """Adds."""
        return a + b

    @server.tool
    def whoami(nonce: str = "") -> str:
        """Says which server it is."""
        return f"{name} {nonce}"

    @server.tool
    async def form() -> str:
        """Asks a person."""
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        answer = await server.ask("elicitation/create", {"message": "Who are you?", "requestedSchema": schema})
        return str(answer.get("result", answer))

    @server.tool
    async def write() -> str:
        """Asks a model."""
        message = {"role": "user", "content": {"type": "text", "text": "Write."}}
        answer = await server.ask("sampling/createMessage", {"messages": [message], "maxTokens": 5})
        return str(answer.get("result", answer))

    return server


def read_history(home: Home) -> list[AuditEntry]:
    """Every call on record; the host has to be closed."""
    return list(read_log(home.where))
