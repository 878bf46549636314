"""A conversation with the real Claude Code, whose model is a fake one and whose person answers as told."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any, TypeVar

from tests.models import FakeModel, ModelRequest, Reply

import mooring
from mooring.backends.bridge.bridge import AgentBridge, open_bridge
from mooring.backends.bridge.options import BackendOptions, ServersWay
from mooring.backends.bridge.reporter import AgentReporter
from mooring.backends.claude.opening import open_claude
from mooring.core.question import Answer, Ask, No, Permission, Question
from mooring.core.turn import TextPiece, TurnDone, TurnEvent, TurnInput
from mooring.core.verdict import Rule
from mooring.host.host import Host
from mooring.process.programs import Guard
from support import Home

KEY = "key-of-nobody"
PATIENCE = 150.0
"""Seconds that a test may take, on a machine where much else runs: the program alone takes one to start."""
Event = TypeVar("Event", bound=TurnEvent)


def patient(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    """An async test that starts programs, and so may take longer than other async tests."""

    @wraps(test)
    def run(**given: Any) -> None:
        asyncio.run(asyncio.wait_for(test(**given), PATIENCE))

    return run


def make_model(reply: Callable[[ModelRequest], Reply]) -> FakeModel:
    """A model that answers the requests of a conversation, and not those for its title."""
    return FakeModel(reply, skip_asides=True, key=KEY)


def last_words(request: ModelRequest) -> str:
    """What the person said last: Claude Code adds reminders of its own to that."""
    return request.last_user_text.rpartition("</system-reminder>")[2].strip()


class MarkedHome(Home):
    """A home whose environment has the mark of the test, so that whatever is started there is found."""

    @property
    def env(self) -> dict[str, str]:
        return {**super().env, "MOORING_TEST": os.environ["MOORING_TEST"]}


class Person:
    """Answers every question in the same way, and remembers them."""

    def __init__(self, answer: Answer | Callable[[Question], Answer] | None = None) -> None:
        self._answer = answer or No("Nobody expected a question.")
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return self._answer(question) if callable(self._answer) else self._answer

    @property
    def permissions(self) -> list[tuple[str | None, str]]:
        """The servers and tools that permission was asked for."""
        return [(each.server, each.tool) for each in self.questions if isinstance(each, Permission)]


class Talk:
    """One conversation."""

    def __init__(self, host: Host, bridge: AgentBridge, backend: Any, guard: Guard) -> None:
        self.host = host
        self.bridge = bridge
        self.backend = backend
        self.guard = guard
        self.events: list[TurnEvent] = []
        self.sessions: list[str] = []
        self._arrived = asyncio.Event()

    async def say(self, text: str, **more: Any) -> list[TurnEvent]:
        """Take a turn; everything that was told in it."""
        begun = len(self.events)
        await self.backend.turn(TurnInput(text, **more), self._note)
        return self.events[begun:]

    def _note(self, event: TurnEvent) -> None:
        self.events.append(event)
        self._arrived.set()

    async def wait_for(self, kind: type[Event], fits: Callable[[Event], bool] = lambda event: True) -> Event:
        """The first event of this kind, now or later."""
        while True:
            for event in self.events:
                if isinstance(event, kind) and fits(event):
                    return event
            self._arrived.clear()
            await self._arrived.wait()


@asynccontextmanager
async def talk(
    home: Home,
    fake: FakeModel,
    *,
    person: Person | None = None,
    rules: Iterable[Rule] = (),
    policy: Any = None,
    servers: ServersWay = "shared",
    **options: Any,
) -> AsyncIterator[Talk]:
    """A conversation with the servers that are configured in a home."""
    ask: Ask = (person or Person()).ask
    env = {**home.env, "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": fake.anthropic_url}
    async with Guard() as guard, mooring.open(request=home.request(), ask=ask, guard=guard) as host:
        reporter = AgentReporter("s1", "claude")
        async with open_bridge(host, reporter, ask=ask, rules=rules, policy=policy, way=servers) as bridge:
            sessions: list[str] = []
            given = BackendOptions(
                cwd=str(home.cwd), env=env, guard=guard, servers=servers, on_session=sessions.append, **options
            )
            backend = await open_claude(bridge, given)
            talk = Talk(host, bridge, backend, guard)
            talk.sessions = sessions
            try:
                yield talk
            finally:
                await backend.close()


def pick(events: Iterable[TurnEvent], kind: type[Event]) -> list[Event]:
    """The events of one kind."""
    return [event for event in events if isinstance(event, kind)]


def text_of(events: Iterable[TurnEvent]) -> str:
    """What the agent that the person talks to said."""
    return "".join(event.text for event in pick(events, TextPiece) if event.parent is None)


def ending_of(events: list[TurnEvent]) -> TurnDone:
    assert isinstance(events[-1], TurnDone)
    return events[-1]
