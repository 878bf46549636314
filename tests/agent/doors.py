"""The doors through which people reach an agent, each with a scripted model behind it."""

import subprocess
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import replace
from tests.models import FakeModel

import mooring
from backends.asking import MODELS, variables
from mooring.core.conversation.event import ConversationEvent
from support import DEMO, Home, Result
from warm import WATCHED, run_mooring

PROVIDERS = ("anthropic", "openai-chat", "openai", "google")
"""Those that speak an API of their own; `openai` is the Responses API."""


@asynccontextmanager
async def open_host(home: Home, fake: FakeModel, servers: Any = None) -> AsyncIterator[mooring.Host]:
    """A host with these servers, or the demo, for somebody whose keys lead to the fake."""
    request = home.request(where=replace(home.where, env={**home.env, **variables(fake)}))
    async with mooring.open(request=request, servers=servers or {"demo": DEMO}) as host:
        await host.ready()
        yield host


@asynccontextmanager
async def program(
    home: Home, fake: FakeModel, word: str = "anthropic", servers: Any = None, **options: Any
) -> AsyncIterator[mooring.Agent]:
    """`mooring.agent` as a program has it."""
    async with open_host(home, fake, servers) as host, mooring.agent(host, MODELS[word], **options) as agent:
        yield agent


async def follow(agent: mooring.Agent, said: str) -> list[ConversationEvent]:
    return [event async for event in agent.turn(said)]


def pick(events: list[ConversationEvent], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def ask_command(
    home: Home,
    fake: FakeModel,
    *words: str,
    word: str = "anthropic",
    stdin: Any = subprocess.DEVNULL,
    real: bool = False,
) -> Result:
    """`mooring chat -p` as a process of its own; `stdin` is what a child can have there, or bytes to send."""
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    env = {**home.env, **WATCHED, **variables(fake)}
    done = run_mooring("chat", "-m", MODELS[word], *words, cwd=home.cwd, env=env, real=real, **given)
    return Result(done.returncode, done.stdout, done.stderr)


def wait_until(holds: Callable[[], object], seconds: float = 100) -> None:
    """Wait for something that another process does."""
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.02)
