"""Conversations with the real OpenCode: a host with servers, the bridge, the backend, and a fake model behind it."""

import asyncio
import os
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

import msgspec
from tests.backends.bridging import Person
from tests.models import FakeModel, ModelRequest, Reply, Say
from tests.models.script import Part
from tests.peers import install

import mooring
from mooring.backends.bridge.bridge import AgentBridge, open_bridge
from mooring.backends.bridge.options import BackendOptions
from mooring.backends.bridge.reporter import AgentReporter
from mooring.backends.opencode.backend import OpenCodeBackend, open_opencode
from mooring.backends.own_tools import OWN_TOOLS
from mooring.conversation.events import EventStream
from mooring.core.conversation.backend_name import ServersWay
from mooring.core.conversation.event import (
    ConversationEvent,
    TextPiece,
    ToolFinished,
    TurnDone,
    TurnFailed,
)
from mooring.core.conversation.question import Allow, Answer, Question
from mooring.core.conversation.turn import TurnInput
from mooring.process.programs import Guard
from support import Home

PATIENCE = 90.0
"""Seconds for anything that OpenCode does, on a machine that may be busy."""
MARK = "Do: "
DEMO = {"command": sys.executable, "args": ["-m", "mooring.demo"]}
T = TypeVar("T")
Event = TypeVar("Event", bound=ConversationEvent)


# --- what the model does ----------------------------------------------------------------------------------------------


def do(*replies: Sequence[Part]) -> str:
    """A prompt that tells the model what to reply, one reply after the other."""
    return f"{MARK}{msgspec.json.encode(replies).decode()}"


def play(request: ModelRequest) -> Reply:
    """Reply as the newest prompt says, and be satisfied with any result after that."""
    places = [place for place, message in enumerate(request.messages) if f"\n{MARK}" in f"\n{message.text}"]
    if not places:
        return [Say("Nothing to do.")]
    place = places[-1]
    # After a reply that failed, two prompts come as one message, each on its line. A prompt may hold another's text.
    lines = [line for line in request.messages[place].text.splitlines() if line.startswith(MARK)]
    replies = msgspec.json.decode(lines[-1].removeprefix(MARK), type=list[list[Part]])
    done = sum(message.role == "assistant" for message in request.messages[place:])
    return replies[done] if done < len(replies) else [Say("All done.")]


# --- homes, people and conversations ----------------------------------------------------------------------------------


class OpenCodeHome(Home):
    """The home of a person who uses OpenCode with a fake model, and has servers for Mooring."""

    def __init__(self, folder: Path, model: FakeModel, **config: Any) -> None:
        super().__init__(folder)
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": model.openai_url, "apiKey": "key-of-nobody"},
            "models": {"scripted": {"reasoning": True, "limit": {"context": 200_000, "output": 8_000}}},
        }
        self.own = {
            "model": "fake/scripted",
            "small_model": "fake/scripted",
            "provider": {"fake": provider},
            **config,
        }
        self.write("home/.config/opencode/opencode.json", self.own)
        self.own_env: dict[str, str] = {}

    @property
    def env(self) -> dict[str, str]:
        return {
            **super().env,
            "PATH": os.pathsep.join((install.backend_programs(), "/usr/bin", "/bin")),
            "MOORING_TEST": os.environ.get("MOORING_TEST", ""),
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            **self.own_env,
        }


class Turn:
    """What a turn told."""

    def __init__(self) -> None:
        self.events: list[ConversationEvent] = []
        self._heard = asyncio.Event()

    def take(self, event: ConversationEvent) -> None:
        self.events.append(event)
        self._heard.set()

    def find(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def text(self) -> str:
        return "".join(event.text for event in self.find(TextPiece) if event.parent is None)

    @property
    def done(self) -> TurnDone:
        [done] = [event for event in self.find(TurnDone) if event.parent is None]
        return done

    @property
    def failures(self) -> list[str]:
        return [event.error for event in self.find(TurnFailed)]

    def find_finished(self, tool: str) -> ToolFinished:
        [found] = self.find_all(tool)
        return found

    def find_all(self, tool: str) -> list[ToolFinished]:
        return [event for event in self.find(ToolFinished) if event.tool == tool]

    async def wait_for(self, kind: type[Event]) -> Event:
        """The first event of a kind, as soon as there is one."""
        async with asyncio.timeout(PATIENCE):
            while not self.find(kind):
                self._heard.clear()
                await self._heard.wait()
        return self.find(kind)[0]


class Talk:
    """One conversation."""

    def __init__(self, backend: OpenCodeBackend, bridge: AgentBridge, person: Person, sessions: list[str]) -> None:
        self.backend = backend
        self.bridge = bridge
        self.person = person
        self.sessions = sessions
        """What OpenCode called this conversation."""

    async def say(self, text: str) -> Turn:
        turn = Turn()
        async with asyncio.timeout(PATIENCE):
            await self._take(text, turn)
        return turn

    async def _take(self, text: str, turn: Turn) -> None:
        stream = self.bridge.reporter.stream
        stream.add_listener(turn.take)
        try:
            await self.backend.turn(TurnInput(text))
        finally:
            stream.remove_listener(turn.take)

    def begin(self, text: str) -> tuple[Turn, asyncio.Task[None]]:
        turn = Turn()
        return turn, asyncio.get_running_loop().create_task(self._take(text, turn))

    @property
    def pid(self) -> int:
        """OpenCode's process."""
        assert self.backend._running is not None
        return self.backend._running.program.child.pid


def open_host(home: Home, **options: Any) -> AbstractAsyncContextManager[mooring.Host]:
    return mooring.open(request=home.request(), **options)


@asynccontextmanager
async def talk_on(
    host: mooring.Host, home: Home, person: Person | None = None, session: str = "session", **options: Any
) -> AsyncIterator[Talk]:
    """A conversation on an open host."""
    person = person or Person()
    sessions: list[str] = []
    reporter = AgentReporter(EventStream(session), "opencode")
    async with (
        Guard() as guard,
        open_bridge(
            host, reporter, ask=person.ask, way=options.get("servers", "shared"), program=OWN_TOOLS["opencode"]
        ) as bridge,
    ):
        settings = BackendOptions(cwd=str(home.cwd), env=home.env, guard=guard, on_session=sessions.append, **options)
        backend = await open_opencode(bridge, settings)
        try:
            yield Talk(backend, bridge, person, sessions)
        finally:
            await backend.close()


@asynccontextmanager
async def talking(home: Home, person: Person | None = None, **options: Any) -> AsyncIterator[Talk]:
    async with open_host(home) as host:
        await host.ready()
        async with talk_on(host, home, person, **options) as talk:
            yield talk


class Stage:
    """A conversation that lasts for several tests, on a loop of its own."""

    talk: Talk

    def __init__(self, home: OpenCodeHome, model: FakeModel, way: ServersWay) -> None:
        self.home = home
        self.model = model
        self.way = way
        self.person = Person()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stage")
        self._conversation = talking(home, self.person, servers=way)

    def run(self, doing: Coroutine[Any, Any, T]) -> T:
        """Do something in the conversation, and wait for it."""
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result(2 * PATIENCE)

    def say(self, text: str, answer: Answer | Callable[[Question], Awaitable[Answer]] | None = None) -> Turn:
        """Take a turn in which the person gives this answer to everything."""
        self.person.asked.clear()
        self.person.answer = answer or Allow("once")
        return self.run(self.talk.say(text))

    def __enter__(self) -> Self:
        self._thread.start()
        self.talk = self.run(self._conversation.__aenter__())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.run(self._conversation.__aexit__(kind, error, trace))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
