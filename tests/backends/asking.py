"""A model of each provider, opened as the command line opens it, with a fake API behind it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

from aiohttp import web
from msgspec.structs import replace
from tests.models import FakeModel
from tests.models.listening import listen

from mooring import settings
from mooring.agents.history import Message, PersonMessage
from mooring.agents.model import Model, ModelRequest, ReplyEvent, ReplyFinished
from mooring.backends.api.choose import choose_model
from mooring.core.conversation.call import ToolDefinition, ToolName
from mooring.core.conversation.effort import EffortWish
from mooring.core.protocol.content import Text
from support import Home

KEY = "sk-canary-4fJ8qLw2ZxV7"

MODELS = {
    "anthropic": "anthropic:claude-sonnet-5-5",
    "openai": "openai:gpt-6.1-sol",
    "openai-chat": "openai-chat:gpt-4o",
    "google": "google:gemini-3.8-flash",
    "openrouter": "openrouter:anthropic/claude-sonnet-5.5",
    "ollama": "ollama:qwen3:4b",
    "lmstudio": "lmstudio:qwen3",
    "vllm": "vllm:Qwen/Qwen3-8B",
    "company": "company:house-model",
}
"""A model of every provider that has a word, and of an endpoint that the settings name."""

ADD = ToolDefinition(
    ToolName("add"), "Adds.", {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
)
SUBTRACT = ToolDefinition(ToolName("subtract"), "Subtracts.", {"type": "object", "properties": {}})
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def variables(fake: FakeModel) -> dict[str, str]:
    """The environment of somebody who has a key for everything, and everything leads to the fake."""
    openai = ("OPENAI", "OPENROUTER", "OLLAMA", "LMSTUDIO", "VLLM")
    return {
        **{f"{word}_API_KEY": KEY for word in (*openai, "ANTHROPIC", "GEMINI")},
        "COMPANY_KEY": KEY,
        **{f"{word}_BASE_URL": fake.openai_url for word in openai},
        "ANTHROPIC_BASE_URL": fake.anthropic_url,
        "GEMINI_BASE_URL": fake.gemini_url,
    }


@asynccontextmanager
async def opened(
    home: Home, spec: str | None, env: Mapping[str, str], effort: EffortWish | None = None, /, **written: Any
) -> AsyncIterator[Model]:
    """The model that a person gets with this environment and these settings, who may have chosen an effort."""
    if written:
        home.write("home/.config/mooring/settings.json", written)
    where = replace(home.where, env={**home.where.env, **env})
    model = await choose_model(spec, where, settings.load(where, None), effort=effort)
    try:
        yield model
    finally:
        await model.close()


@asynccontextmanager
async def opened_beside(home: Home, word: str, fake: FakeModel) -> AsyncIterator[Model]:
    """The model of a provider, which is the fake."""
    company = {"kind": "openai-chat", "baseUrl": fake.openai_url, "key": "COMPANY_KEY"}
    async with opened(home, MODELS[word], variables(fake), models={"company": company}) as model:
        yield model


def ask(*history: Message | str, system: str = "Be brief.", tools: tuple[ToolDefinition, ...] = ()) -> ModelRequest:
    messages = [PersonMessage((Text(text=part),)) if isinstance(part, str) else part for part in history]
    return ModelRequest(system, tuple(messages), tools)


@asynccontextmanager
async def serving(answer: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> AsyncIterator[str]:
    """The address of a server that answers every request like this."""
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    assert runner.server is not None
    listener = await listen(runner.server, 0)
    try:
        yield f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    finally:
        listener.close()
        await runner.cleanup()


async def until(happened: Callable[[], object]) -> None:
    """Wait for what another task, or the other side, is about to do."""
    while not happened():  # noqa: ASYNC110  # what the other side sees has no event here
        await asyncio.sleep(0)


async def hear(model: Model, request: ModelRequest) -> list[ReplyEvent]:
    async with aclosing(model.reply(request)) as events:
        return [event async for event in events]


async def hear_end(model: Model, request: ModelRequest) -> ReplyFinished:
    last = (await hear(model, request))[-1]
    assert isinstance(last, ReplyFinished)
    return last
