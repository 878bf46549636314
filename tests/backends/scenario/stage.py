"""Where a scenario plays: a home with servers of every kind, a repository that is up to something, and one agent."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from aiohttp import web
from msgspec.structs import replace
from tests.backends.scenario.words import mark
from tests.models import FakeModel
from tests.models.listening import listen
from tests.peers import install
from tests.peers.processes import marked
from tests.support import Home

from mooring.chat.session import ChatSession
from mooring.core.conversation.backend_name import PROGRAMS, ProgramName, ServersWay
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import (
    ConversationEvent,
    ToolFinished,
    ToolStarted,
    TurnDone,
)
from mooring.core.conversation.question import Allow, Answer, Ask, No, Permission, Question
from mooring.core.conversation.verdict import CommandPermissions
from mooring.verbs.agent.choose_backend import SessionStart
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.config.switch import switch

KEY = "sk-ant-key-of-nobody"
SERVER = [sys.executable, str(install.HERE / "servers" / "sdk_2.py")]
PATIENCE = 30.0
"""Seconds until a server listens."""
GONE_WITHIN = 5.0
"""Seconds until nothing may be left of a conversation that was closed."""
REPOSITORY_FILES = (
    (".mcp.json", "mcpServers"),
    (".vscode/mcp.json", "servers"),
    (".cursor/mcp.json", "mcpServers"),
    (".copilot/mcp-config.json", "mcpServers"),
    (".github/mcp-config.json", "mcpServers"),
)


class Person:
    """Whoever sits in front of the chat: sees everything, and answers as they are told to."""

    def __init__(self) -> None:
        self.events: list[ConversationEvent] = []
        self.questions: list[Question] = []
        self.notices: list[str] = []
        self.says_yes = True

    @property
    def ask(self) -> Ask:
        return self._answer

    async def _answer(self, question: Question) -> Answer:
        self.questions.append(question)
        if isinstance(question, Permission) and self.says_yes:
            return Allow()
        return No("not today")

    def notice(self, text: str) -> None:
        self.notices.append(text)

    def show_waiting(self, servers: Sequence[str]) -> None: ...

    def show_event(self, event: ConversationEvent) -> None:
        self.events.append(event)

    async def choose(self, found: Sequence[ToolDefinition]) -> ToolDefinition | str | None:
        raise AssertionError("an agent picks its tools itself")

    async def fill(self, tool: ToolDefinition) -> Mapping[str, Any] | None:
        raise AssertionError("an agent fills in its tools itself")


class Turn:
    """What happened in one turn."""

    def __init__(self, events: Sequence[ConversationEvent], questions: Sequence[Question]) -> None:
        self.events = events
        self.questions = questions

    @property
    def done(self) -> TurnDone:
        last = [event for event in self.events if event.parent is None][-1]
        assert isinstance(last, TurnDone), f"the last event is {last}"
        return last

    @property
    def started(self) -> list[ToolStarted]:
        return [event for event in self.events if isinstance(event, ToolStarted)]

    @property
    def finished(self) -> list[ToolFinished]:
        return [event for event in self.events if isinstance(event, ToolFinished)]

    def find_call(self, server: str, tool: str) -> ToolFinished:
        """How the only call of a tool ended. Raises: AssertionError."""
        found = [event for event in self.finished if (event.server, event.tool) == (server, tool)]
        seen = [(event.server, event.tool or event.name, event.error) for event in self.finished]
        assert len(found) == 1, f"{len(found)} calls of {server}.{tool} ended; all that ended: {seen}; {self.done}"
        assert [event.id for event in self.started].count(found[0].id) == 1, "it was not started once"
        return found[0]


class Stage:
    """One agent, in one way, with a model on loopback."""

    def __init__(self, folder: Path, agent: ProgramName, way: ServersWay, model: FakeModel) -> None:
        self.agent = agent
        self.way = way
        self.model = model
        self.nonce = os.urandom(8).hex()
        self.word = os.urandom(8).hex()
        """What the project's AGENTS.md says."""
        self.home = Home(folder)
        self.person = Person()
        self.prompts = count(1)
        self.markers = folder / "markers"
        self.markers.mkdir()

    @property
    def env(self) -> dict[str, str]:
        """The person's environment; the nonce marks whatever is started in it."""
        return {
            "HOME": str(self.home.home),
            "PATH": f"{install.backend_programs()}{os.pathsep}/usr/bin:/bin",
            "MOORING_TEST": self.nonce,
            **_ENVIRONMENTS[self.agent](self.model),
        }

    def configure(self, http: str, sse: str, locked: str) -> None:
        """Write the person's servers and settings, the agent's own settings, and a repository full of markers."""
        broken = {"command": sys.executable, "args": ["-c", "raise SystemExit('it is broken')"]}
        self.home.configure(
            tides={"command": SERVER[0], "args": SERVER[1:]},
            web={"type": "http", "url": http},
            stream={"type": "sse", "url": sse},
            broken=broken,
            off={"command": SERVER[0], "args": SERVER[1:], "disabled": True},
            locked={"type": "http", "url": locked},
        )
        self._configure_agent()
        self.home.write("project/AGENTS.md", f"The word of the day is {self.word}.\n")
        self._plant_own()
        for path, key in REPOSITORY_FILES:
            self.home.write(f"project/{path}", {key: {f"planted{path.count('/')}": self._make_marker(path)}})
        planted = {"planted": {"type": "local", "command": ["touch", str(self.markers / "opencode")], "enabled": True}}
        self.home.write("project/opencode.json", {"mcp": planted})
        self.home.write("project/.opencode/opencode.json", {"mcp": planted})
        self.home.write("project/.claude/settings.json", {"enableAllProjectMcpServers": True})

    def move(self, **servers: Any) -> "Stage":
        """The same agent in a home that was never used, with these servers."""
        moved = Stage(self.home.folder / "moved", self.agent, self.way, self.model)
        moved.nonce = self.nonce
        moved.home.configure(**servers)
        moved._configure_agent()
        return moved

    def _configure_agent(self) -> None:
        if self.way == "native":
            self.home.write("home/.config/mooring/settings.json", {"backendServers": "native"})
        for path, content in _FILES[self.agent](self.model).items():
            self.home.write(path, content)
        self._share_unpacked()

    def write_agent(self, name: str, prompt: str, tools: str) -> None:
        """Write a file of the person's that defines an agent, which is to be on another model."""
        provider = "anthropic" if self.agent == "claude" else "fake"
        model = f"{provider}:{OTHER_MODELS[self.agent]}"
        head = f"name: {name}\ndescription: As its name says.\ntools: {tools}\nmodel: {model}"
        self.home.write(f"home/.config/mooring/agents/{name}.md", f"---\n{head}\n---\n{prompt}\n")

    def _plant_own(self) -> None:
        """Give each agent a server of the person's own, and switch all of them off in Mooring."""
        own = {f"own-{agent}": self._make_marker(f"own-{agent}") for agent in PROGRAMS}
        self.home.write("home/.claude.json", {"mcpServers": {"own-claude": own["own-claude"]}})
        copilot = {"type": "local", "tools": ["*"], **own["own-copilot"]}
        self.home.write("home/.copilot/mcp-config.json", {"mcpServers": {"own-copilot": copilot}})
        path = "home/.config/opencode/opencode.json"
        program = ["touch", str(self.markers / "own-opencode")]
        opencode = {"type": "local", "command": program, "enabled": True}
        written = self.home.folder / path
        before = json.loads(written.read_text()) if written.exists() else {}
        self.home.write(path, {**before, "mcp": {"own-opencode": opencode}})
        for name in own:
            switch(self.home.request(), name, on=False)

    def _share_unpacked(self) -> None:
        """Copilot unpacks itself into each home that it has not seen, which takes half a minute here."""
        unpacked = install.CACHE / "unpacked" / "copilot"
        unpacked.mkdir(parents=True, exist_ok=True)
        caches = self.home.home / ".cache"
        caches.mkdir(exist_ok=True)
        (caches / "copilot").symlink_to(unpacked)

    def _make_marker(self, path: str) -> dict[str, Any]:
        return {"command": "touch", "args": [str(self.markers / path.replace("/", "-"))]}

    @property
    def started_by_repository(self) -> list[str]:
        return [name for name in self._started if not name.startswith("own-")]

    @property
    def started_by_agent(self) -> list[str]:
        return [name for name in self._started if name.startswith("own-")]

    @property
    def _started(self) -> list[str]:
        return sorted(marker.name for marker in self.markers.iterdir())

    @asynccontextmanager
    async def open(self, session: SessionStart | None = None) -> AsyncIterator["OpenStage"]:
        """A chat with the agent."""
        workspace = self.home.request(where=replace(self.home.where, env=self.env))
        options = ConversationOptions(backend=None if session else self.agent, model=_MODELS[self.agent])
        if session is not None:
            options = ConversationOptions(model=_MODELS[self.agent], session=session)
        chat = ChatSession(workspace, CommandPermissions(), self.person, None, options, tokens=2000, lines=40)
        async with chat.open():
            await chat.servers.wait()
            chat.start()
            yield OpenStage(self, chat)

    async def wait_until_gone(self) -> list[int]:
        """What is left of everything that was started, after a moment."""
        until = time.monotonic() + GONE_WITHIN
        while (left := marked(self.nonce)) and time.monotonic() < until:  # noqa: ASYNC110  # nothing tells of it
            await asyncio.sleep(0.05)
        return left


class OpenStage:
    """A chat that is open."""

    def __init__(self, stage: Stage, chat: ChatSession) -> None:
        self.stage = stage
        self.chat = chat

    async def turn(self, prompt: str) -> Turn:
        """Say something, and wait for the end of the turn."""
        person = self.stage.person
        events, questions = len(person.events), len(person.questions)
        await self.chat.turn(mark(next(self.stage.prompts), prompt))
        return Turn(person.events[events:], person.questions[questions:])


# --- what each agent needs to reach the model -------------------------------------------------------------------------

_ENVIRONMENTS = {
    "claude": lambda model: {"ANTHROPIC_BASE_URL": model.anthropic_url, "ANTHROPIC_API_KEY": KEY},
    "copilot": lambda model: {
        "COPILOT_PROVIDER_BASE_URL": model.openai_url,
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_PROVIDER_API_KEY": KEY,
        "COPILOT_MODEL": "scripted",
    },
    "opencode": lambda model: {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    },
}
OTHER_MODELS = {"claude": "claude-sonnet-5", "copilot": "other", "opencode": "other"}
"""A second model of each, as it reaches the provider."""
_MODELS = {"claude": None, "copilot": "scripted", "opencode": "fake/scripted"}


def _write_opencode(model: FakeModel) -> dict[str, Any]:
    options = {"baseURL": model.openai_url, "apiKey": KEY}
    models = {name: {"cost": {"input": 3, "output": 15}} for name in ("scripted", "other")}
    provider = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": models}
    return {
        "home/.config/opencode/opencode.json": {
            "model": "fake/scripted",
            "small_model": "fake/scripted",
            "provider": {"fake": provider},
        }
    }


_FILES = {"claude": lambda model: {}, "copilot": lambda model: {}, "opencode": _write_opencode}


# --- servers behind an address ----------------------------------------------------------------------------------------


@contextmanager
def run_server(transport: str) -> Iterator[int]:
    """The server, over HTTP, until the block is left; its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*SERVER, transport, str(port)], **quiet) as process:  # type: ignore[call-overload]
        try:
            _wait_until_listening(port)
            yield port
        finally:
            process.kill()


def _wait_until_listening(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"nothing listens on port {port}")


@asynccontextmanager
async def run_locked_server() -> AsyncIterator[str]:
    """A server that lets nobody in without a login, and says where to log in."""
    app = web.Application()
    runner = web.AppRunner(app)
    app.router.add_route("*", "/{path:.*}", _answer_locked)
    await runner.setup()
    assert runner.server is not None
    listener = await listen(runner.server, 0)
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp"
    finally:
        listener.close()
        await runner.cleanup()


async def _answer_locked(request: web.Request) -> web.Response:
    issuer = f"http://{request.host}"
    path = request.match_info["path"]
    if path.startswith(".well-known/oauth-protected-resource"):
        return web.json_response({"resource": f"{issuer}/mcp", "authorization_servers": [issuer]})
    if path.startswith(".well-known/"):
        return web.json_response(
            {
                "issuer": issuer,
                "authorization_endpoint": f"{issuer}/authorize",
                "token_endpoint": f"{issuer}/token",
                "registration_endpoint": f"{issuer}/register",
                "response_types_supported": ["code"],
                "grant_types_supported": ["authorization_code", "refresh_token"],
                "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
            }
        )
    if path == "register":
        return web.json_response({**await request.json(), "client_id": "agent"}, status=201)
    where = f"{issuer}/.well-known/oauth-protected-resource/mcp"
    return web.Response(status=401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{where}"'})
