"""A conversation with the real program of an agent, whose model is a fake one and whose person answers as told."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, TypeVar

import pytest
from tests.backends import bridging
from tests.models import FakeModel, ModelRequest, Reply

import mooring
from mooring.backends.bridge.bridge import AgentBridge, open_bridge
from mooring.backends.bridge.options import BackendOptions, ServersWay
from mooring.backends.bridge.reporter import AgentReporter
from mooring.backends.own_tools import OWN_TOOLS
from mooring.conversation.events import EventStream
from mooring.core.conversation.backend_name import ProgramName
from mooring.core.conversation.event import ConversationEvent, TextPiece, TurnDone
from mooring.core.conversation.question import Answer, No, Permission, Question
from mooring.core.conversation.turn import TurnInput
from mooring.host.host import Host
from mooring.process.programs import Guard
from support import Home, running

KEY = "key-of-nobody"
PATIENCE = 150.0
"""Seconds that a test may take, on a machine where much else runs: a program alone takes one or two to start."""
SETTLING = 15.0
"""Seconds until nothing may be left of a test."""
UNEXPECTED = No("Nobody expected a question.")
Event = TypeVar("Event", bound=ConversationEvent)


def patient(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """An async test that starts programs, and so may take longer than other async tests."""

    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**given), PATIENCE))

    return run


def make_model(reply: Callable[[ModelRequest], Reply]) -> FakeModel:
    """A model that answers the requests of a conversation, and not those for its title."""
    return FakeModel(reply, skip_asides=True, key=KEY)


# --- conversations ----------------------------------------------------------------------------------------------------


class Person(bridging.Person):
    """Somebody who says no to everything unless told otherwise."""

    def __init__(self, answer: Answer | Callable[[Question], Awaitable[Answer]] = UNEXPECTED) -> None:
        super().__init__(answer)

    @property
    def permissions(self) -> list[tuple[str | None, str]]:
        """The servers and tools that permission was asked for."""
        return [(each.server, each.tool) for each in self.asked if isinstance(each, Permission)]


class Talk:
    """One conversation."""

    def __init__(self, host: Host, bridge: AgentBridge, backend: Any, sessions: list[str]) -> None:
        self.host, self.bridge, self.backend, self.sessions = host, bridge, backend, sessions
        self.events: list[ConversationEvent] = []
        self._arrived = asyncio.Event()
        bridge.reporter.stream.add_listener(self._note)

    async def say(self, text: str, **more: Any) -> list[ConversationEvent]:
        """Take a turn; everything that was told in it."""
        begun = len(self.events)
        await self.backend.turn(TurnInput(text, **more))
        return self.events[begun:]

    def _note(self, event: ConversationEvent) -> None:
        self.events.append(event)
        self._arrived.set()

    async def wait_for(self, kind: type[Event], fits: Callable[[Event], bool] = lambda event: True) -> Event:
        """The first event of this kind, now or later."""
        while True:
            found = [event for event in pick(self.events, kind) if fits(event)]
            if found:
                return found[0]
            self._arrived.clear()
            await self._arrived.wait()


@asynccontextmanager
async def open_talk(
    name: ProgramName,
    open_backend: Callable[[AgentBridge, BackendOptions], Awaitable[Any]],
    home: Home,
    env: dict[str, str],
    *,
    person: Person | None = None,
    servers: ServersWay = "shared",
    rules: Any = (),
    policy: Any = None,
    **options: Any,
) -> AsyncIterator[Talk]:
    """A conversation with the program of this name, and with the servers that are configured in a home."""
    ask = (person or Person()).ask
    sessions: list[str] = []
    async with Guard() as guard, mooring.open(request=home.request(), ask=ask, guard=guard) as host:
        reporter = AgentReporter(EventStream("s1"), name)
        tools = OWN_TOOLS[name]
        opening = open_bridge(host, reporter, ask=ask, rules=rules, policy=policy, way=servers, program=tools)
        async with opening as bridge:
            given = BackendOptions(
                cwd=str(home.cwd), env=env, guard=guard, servers=servers, on_session=sessions.append, **options
            )
            backend = await open_backend(bridge, given)
            try:
                yield Talk(host, bridge, backend, sessions)
            finally:
                await backend.close()


def pick(events: Iterable[ConversationEvent], kind: type[Event]) -> list[Event]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def text_of(events: Iterable[ConversationEvent]) -> str:
    """What the agent that the person talks to said."""
    return "".join(event.text for event in pick(events, TextPiece) if event.parent is None)


def ending_of(events: list[ConversationEvent]) -> TurnDone:
    assert isinstance(events[-1], TurnDone)
    return events[-1]


# --- what is left -----------------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def nonce(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Marks every process of a test; after it none may be left."""
    nonce = os.urandom(8).hex()
    monkeypatch.setenv("MOORING_TEST", nonce)
    yield nonce
    left = wait_for_end(nonce)
    for pid in left:
        os.kill(int(pid), signal.SIGKILL)
    assert left == []


def wait_for_end(nonce: str, seconds: float = SETTLING) -> list[str]:
    """The processes of a test that are still there after a while."""
    until = time.monotonic() + seconds
    while (left := list_processes(nonce)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def list_processes(nonce: str) -> list[str]:
    """The processes of a test, without this one: that was started before the mark was set."""
    return [pid for pid in running(nonce) if pid != str(os.getpid())]
