"""A conversation with the real Copilot, whose model is a fake one and whose person answers as told."""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from tests.models import Call, FakeModel, ModelRequest, Reply, Say

import mooring
from mooring.backends.bridge.bridge import AgentBridge, open_bridge
from mooring.backends.bridge.options import BackendOptions, ServersWay
from mooring.backends.bridge.reporter import AgentReporter
from mooring.backends.copilot import CopilotBackend, open_copilot
from mooring.core.question import Answer, No, Permission, Question
from mooring.core.turn import TextPiece, TurnDone, TurnEvent, TurnInput
from mooring.core.verdict import Rule
from mooring.host.host import Host
from mooring.process.programs import Guard
from support import Home

KEY = "key-of-nobody"
PATIENCE = 150.0
"""Seconds that a test may take, on a machine where much else runs: the program alone takes two to start."""
CACHE = Path(__file__).parents[3] / ".cache" / "peers"
PROGRAM = CACHE / "programs" / "node_modules" / ".bin" / "copilot"
UNPACKED = CACHE / "copilot-unpacked"
"""What the program unpacks at its first start, 235 MB: once for all tests."""
UNEXPECTED = No("Nobody expected a question.")
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


def make_caller(*calls: tuple[str, dict[str, Any]]) -> FakeModel:
    """A model that makes these calls at once, and then says what came back."""

    def reply(request: ModelRequest) -> Reply:
        if request.results:
            return Say(" | ".join(result.text for result in request.results))
        return [Call(name, arguments) for name, arguments in calls]

    return make_model(reply)


class Person:
    """Answers every question in the same way, and remembers them."""

    def __init__(self, answer: Answer | Callable[[Question], Awaitable[Answer]] = UNEXPECTED) -> None:
        self.answer = answer
        self.questions: list[Question] = []

    async def ask(self, question: Question) -> Answer:
        self.questions.append(question)
        return await self.answer(question) if callable(self.answer) else self.answer

    @property
    def permissions(self) -> list[tuple[str | None, str]]:
        """The servers and tools that permission was asked for."""
        return [(each.server, each.tool) for each in self.questions if isinstance(each, Permission)]


class Talk:
    """One conversation."""

    def __init__(self, backend: CopilotBackend, bridge: AgentBridge, host: Host, sessions: list[str]) -> None:
        self.backend, self.bridge, self.host, self.sessions = backend, bridge, host, sessions
        self.events: list[TurnEvent] = []
        self._arrived = asyncio.Event()

    async def say(self, text: str, **more: Any) -> list[TurnEvent]:
        """Take a turn; everything that was told in it."""
        begun = len(self.events)
        await self.backend.turn(TurnInput(text, **more), self._note)
        return self.events[begun:]

    def _note(self, event: TurnEvent) -> None:
        self.events.append(event)
        self._arrived.set()

    async def wait_for(self, kind: type[Event]) -> Event:
        """The first event of this kind, now or later."""
        while True:
            found = pick(self.events, kind)
            if found:
                return found[0]
            self._arrived.clear()
            await self._arrived.wait()

    @property
    def pid(self) -> int:
        """The process of the program."""
        assert self.backend._program is not None
        return self.backend._program.child.pid


def make_environment(home: Home, fake: FakeModel) -> dict[str, str]:
    """The environment of a person who uses a model of their own, with the program already unpacked."""
    unpacked = home.home / ".cache" / "copilot" / "pkg"
    UNPACKED.mkdir(parents=True, exist_ok=True)
    if not unpacked.is_symlink():
        unpacked.parent.mkdir(parents=True)
        unpacked.symlink_to(UNPACKED)
    return {
        "HOME": str(home.home),
        "PATH": os.environ["PATH"],
        "MOORING_TEST": os.environ["MOORING_TEST"],
        "COPILOT_CLI_PATH": str(PROGRAM),
        "COPILOT_MODEL": "scripted",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_PROVIDER_BASE_URL": fake.openai_url,
    }


@asynccontextmanager
async def talk(
    home: Home,
    fake: FakeModel,
    *,
    person: Person | None = None,
    rules: Iterable[Rule] = (),
    servers: ServersWay = "shared",
    env: dict[str, str] | None = None,
    **options: Any,
) -> AsyncIterator[Talk]:
    """A conversation with the servers that are configured in a home."""
    ask = (person or Person()).ask
    async with Guard() as guard, mooring.open(request=home.request(), ask=ask, guard=guard) as host:
        reporter = AgentReporter("s1", "copilot")
        async with open_bridge(host, reporter, ask=ask, rules=rules, way=servers) as bridge:
            sessions: list[str] = []
            given = BackendOptions(
                cwd=str(home.cwd),
                env=make_environment(home, fake) | (env or {}),
                guard=guard,
                servers=servers,
                on_session=sessions.append,
                **options,
            )
            backend = await open_copilot(bridge, given)
            try:
                yield Talk(backend, bridge, host, sessions)
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
