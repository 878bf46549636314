"""A model that says what a test tells it to, and remembers what it was asked."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any, Literal

from msgspec import json

from mooring.agents.history import CallBlock, ModelMessage, ReplyBlock, ResultsMessage, TextBlock, ThinkingBlock
from mooring.agents.model import BlockFinished, ModelRequest, ReplyEvent, ReplyFinished, ReplyText, ReplyThinking
from mooring.core.conversation.event import TokenUsage
from mooring.errors import ModelError

Step = str | CallBlock | ThinkingBlock | ModelError | asyncio.Event


def call(name: str, arguments: dict[str, Any] | str | None = None, id: str = "") -> CallBlock:
    """A call as a model writes it."""
    written = arguments if isinstance(arguments, str) else json.encode(arguments or {}).decode()
    return CallBlock(id or f"call-{name}-{len(written)}", name, written)


class ScriptedModel:
    """Gives one reply of the script after another; a step that is an event is waited for, an error is raised."""

    name = "scripted:one"
    schemas = None
    takes: frozenset[Literal["image", "audio"]] = frozenset({"image"})

    def __init__(self, *replies: list[Step] | Callable[[ModelRequest], list[Step]], window: int | None = None) -> None:
        self.replies = list(replies)
        self.requests: list[ModelRequest] = []
        self.window = window
        self.closed = 0
        self.dropped = 0
        """How many replies were closed before their end."""

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        self.requests.append(request)
        scripted = self.replies.pop(0)
        steps = scripted(request) if callable(scripted) else scripted
        blocks: list[ReplyBlock] = []
        finished = False
        try:
            for step in steps:
                match step:
                    case str():
                        for piece in (step[:3], step[3:]):
                            yield ReplyText(piece)
                        blocks.append(TextBlock(step))
                        yield BlockFinished(blocks[-1])
                    case ThinkingBlock():
                        yield ReplyThinking(step.text)
                        blocks.append(step)
                        yield BlockFinished(step)
                    case CallBlock():
                        blocks.append(step)
                        yield BlockFinished(step)
                    case ModelError():
                        raise step
                    case asyncio.Event():
                        await step.wait()
            finished = True
            message = ModelMessage(tuple(blocks), self.name)
            usage = TokenUsage(self._count(request.messages, 10), self._count(message, 5))
            yield ReplyFinished(message, usage, 0.5)
        finally:
            self.dropped += not finished

    def _count(self, sent: object, usual: int) -> int:
        """The usual number of tokens, or an honest count where the window matters."""
        return usual if self.window is None else len(json.encode(sent)) // 4

    async def close(self) -> None:
        self.closed += 1


def results_of(request: ModelRequest) -> list[str]:
    """The texts of the results that a request ends with."""
    last = request.messages[-1]
    assert isinstance(last, ResultsMessage)
    return ["".join(part.text for part in result.parts if hasattr(part, "text")) for result in last.results]
