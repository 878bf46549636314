"""One model of one provider, behind the agent's own protocol, with the library that speaks to it."""

import asyncio
import ssl
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Literal

import httpx2
from msgspec.structs import replace
from pydantic_ai.exceptions import UserError
from pydantic_ai.models import StreamedResponse
from pydantic_ai.settings import ModelSettings, merge_model_settings

from mooring.agents.model import ModelRequest, ReplyEvent
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.library.messages import (
    MessageRecipient,
    PriceTag,
    convert_event,
    convert_messages,
    finish_reply,
    make_parameters,
)
from mooring.backends.api.providers import ModelKind
from mooring.errors import NoModel
from mooring.wire.http.network import trust_system
from pydantic_models import BuildModel, BuiltModel
from pydantic_models.failures import FAILURES, explain_failure


class ApiModel:
    """A model behind an API. Nothing is retried here, and every failure is a `ModelError`."""

    def __init__(self, name: str, endpoint: ModelEndpoint, built: BuiltModel, http: httpx2.AsyncClient) -> None:
        self.name = name
        self._endpoint = endpoint
        self._built = built
        self._http = http
        self.takes = _find_media(built, endpoint)
        self._price = PriceTag(endpoint.provider.prices, endpoint.url, built.model.model_name)

    def __repr__(self) -> str:
        return f"<ApiModel {self.name}>"

    @property
    def schemas(self) -> str | None:
        return self._endpoint.provider.schemas

    @property
    def window(self) -> int | None:
        return self._built.model.context_window

    @property
    def has_price(self) -> bool:
        return self._price.is_known

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        recipient = MessageRecipient(self.name, self._built.model.system, self.takes)
        messages = convert_messages(request.messages, recipient)
        parameters = make_parameters(request, self._built.adapt_schema)
        try:
            sent = self._built.model.request_stream(messages, self._built.settings, parameters)
            async with close_with(sent) as stream:
                async for piece in stream:
                    event = convert_event(piece)
                    if event is not None:
                        yield event
                yield finish_reply(stream.get(), self.name, self._price)
        except FAILURES as error:
            # Without the cause: what the provider answered may repeat the key.
            raise await explain_failure(error, self.name, self._endpoint) from None

    async def close(self) -> None:
        await self._http.aclose()


def _find_media(built: BuiltModel, endpoint: ModelEndpoint) -> frozenset[Literal["image", "audio"]]:
    profile = built.model.profile
    media: set[Literal["image", "audio"]] = set()
    if profile.get("supports_image_input", True):
        media.add("image")
    # Of a model that it doesn't know, the library assumes that it takes audio, which hardly any does.
    may_hear = endpoint.provider.kind == "google" or "audio" in built.model.model_name
    if may_hear and profile.get("supports_audio_file_input", False):
        media.add("audio")
    return frozenset(media)


CONNECT_SECONDS = 10.0
SILENCE_SECONDS = 600.0
"""How long a provider may say nothing: a model that thinks can be silent for minutes."""


def load_kind(kind: ModelKind) -> BuildModel:
    """Load what speaks to a kind of endpoint. Each library takes up to two seconds, so only the one that is needed."""
    match kind:
        case "anthropic":
            from pydantic_models.anthropic import build_anthropic

            return build_anthropic
        case "google":
            from pydantic_models.google import build_google

            return build_google
        case "openai":
            from pydantic_models.openai import build_responses

            return build_responses
        case "openai-chat":
            from pydantic_models.openai import build_chat

            return build_chat


async def connect(model: str, endpoint: ModelEndpoint, build: BuildModel) -> ApiModel:
    """A model that can be asked.

    Raises:
        NoModel: the provider can have no model of that name.
        ConfigError: a certificate or the proxy cannot be used.
    """
    # `None` for the system's own authorities, and where nothing is encrypted.
    tls = await endpoint.network.tls(endpoint.options) if endpoint.address.secure else None
    return await asyncio.to_thread(_assemble, model, endpoint, build, tls)


def _assemble(model: str, endpoint: ModelEndpoint, build: BuildModel, tls: ssl.SSLContext | None) -> ApiModel:
    name = f"{endpoint.provider.word}:{model}"
    http = _make_client(endpoint, tls)
    try:
        return ApiModel(name, endpoint, _choose_effort(name, endpoint, build(model, endpoint, http)), http)
    except UserError as error:
        # Such as a model of OpenRouter's without the name of who made it.
        raise NoModel(f"{name} cannot be used: {error}") from None


def _choose_effort(name: str, endpoint: ModelEndpoint, built: BuiltModel) -> BuiltModel:
    """The same model, asked to think as much as the settings say. Raises: NoModel if it has no such choice."""
    if endpoint.effort.level is None:
        return built
    profile = built.model.profile
    # Without this, the library would leave the setting out without a word.
    if not profile.get("supports_thinking") and not profile.get("thinking_always_enabled"):
        raise NoModel(
            f"{name} has no effort to choose.", "Leave the setting `effort` out: mooring settings effort --unset"
        )
    settings = merge_model_settings(built.settings, ModelSettings(thinking=endpoint.effort.level))
    return replace(built, settings=settings or built.settings)


def _make_client(endpoint: ModelEndpoint, tls: ssl.SSLContext | None) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(
        verify=tls or _trust(endpoint),
        proxy=endpoint.network.proxy(endpoint.address, endpoint.options),
        # Proxies and authorities come from our own network settings, as for servers.
        trust_env=False,
        # A redirect could take the key elsewhere.
        follow_redirects=False,
        timeout=httpx2.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS),
        event_hooks={"response": [record_response]},
    )


def _trust(endpoint: ModelEndpoint) -> ssl.SSLContext:
    if endpoint.address.secure:
        return trust_system()
    # Nothing is encrypted, so there is nobody to trust, and the system's authorities need not be loaded.
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


_opened: ContextVar[list[httpx2.Response] | None] = ContextVar("_opened", default=None)
"""Where the reply that is being asked for collects its responses."""


async def record_response(response: httpx2.Response) -> None:
    """To be told of every response of a client, as one of its hooks."""
    responses = _opened.get()
    if responses is not None:
        responses.append(response)


@asynccontextmanager
async def close_with(request: AbstractAsyncContextManager[StreamedResponse]) -> AsyncIterator[StreamedResponse]:
    """Send a request, and close every response to it in the end."""
    responses: list[httpx2.Response] = []
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_close, responses)
        token = _opened.set(responses)
        try:
            stream = await stack.enter_async_context(request)
        finally:
            _opened.reset(token)
        yield stream


async def _close(responses: list[httpx2.Response]) -> None:
    for response in responses:
        await response.aclose()
