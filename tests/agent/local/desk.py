"""What the tests of local tools share: a conversation in a project, and a person who answers."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mooring
from mooring.agents.local.toolbox import local_tools
from mooring.core.conversation.question import Allow, Answer, No, Permission, Question
from mooring.core.conversation.verdict import Rule
from support import Home


class Reader:
    """A person who answers every question in the same way, and remembers what was asked."""

    def __init__(self, answer: Answer | None = None) -> None:
        self.answer = answer or No()
        self.asked: list[Question] = []

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        return self.answer

    @property
    def last(self) -> Permission:
        question = self.asked[-1]
        assert isinstance(question, Permission)
        return question


class Desk:
    """One conversation with local tools."""

    def __init__(self, home: Home, registry: mooring.Conversation, person: Reader) -> None:
        self.home = home
        self.registry = registry
        self.person = person

    @property
    def project(self) -> Path:
        return self.home.project

    async def call(self, tool: str, **arguments: Any) -> mooring.Outcome:
        return await self.registry.call(tool, arguments)

    async def text(self, tool: str, **arguments: Any) -> str:
        """What a call that succeeds says."""
        outcome = await self.call(tool, **arguments)
        assert not outcome.is_error, outcome.text
        return outcome.text

    async def failure(self, tool: str, **arguments: Any) -> str:
        """What a call that fails says."""
        outcome = await self.call(tool, **arguments)
        assert outcome.is_error, outcome.text
        return outcome.text


def allow(tool: str, pattern: str = "") -> Rule:
    return Rule(tool, "allow", pattern)


def deny(tool: str, pattern: str = "") -> Rule:
    return Rule(tool, "deny", pattern)


@asynccontextmanager
async def host_in(home: Home, **options: Any) -> AsyncIterator[mooring.Host]:
    async with mooring.open(request=home.request(), **options) as host:
        yield host


@asynccontextmanager
async def desk_with(
    host: mooring.Host, home: Home, person: Reader, *rules: Rule, **options: Any
) -> AsyncIterator[Desk]:
    tools = local_tools(home.where, str(home.cwd), host.guard, ask=person, settings=host.settings)
    async with host.conversation(ask=person, rules=rules, more=tools, **options) as registry:
        yield Desk(home, registry, person)


@asynccontextmanager
async def desk_in(home: Home, *rules: Rule, answer: Answer | None = None, **options: Any) -> AsyncIterator[Desk]:
    """A conversation of its own host; the person says no unless `answer` says otherwise."""
    async with host_in(home) as host, desk_with(host, home, Reader(answer), *rules, **options) as desk:
        yield desk


ONCE = Allow("once")


async def until(is_so: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    while not is_so():  # noqa: ASYNC110 - other processes set no event
        await asyncio.sleep(0.01)


def read_file(path: str) -> str:
    return Path(path).read_text()
