"""One model of one provider, behind the agent's own protocol."""

from collections.abc import AsyncGenerator
from typing import Literal

import httpx2

from mooring.agents.model import ModelRequest, ReplyEvent
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.failures import FAILURES, explain_failure
from mooring.backends.api.kinds.built import BuiltModel
from mooring.backends.api.messages import Recipient, convert_messages, make_parameters
from mooring.backends.api.prices import PriceTag
from mooring.backends.api.replies import convert_event, finish_reply
from mooring.backends.api.traffic import close_with


class ApiModel:
    """A model behind an API. Nothing is retried here, and every failure is a `ModelError`."""

    def __init__(self, name: str, endpoint: ModelEndpoint, built: BuiltModel, http: httpx2.AsyncClient) -> None:
        self._name = name
        self._endpoint = endpoint
        self._built = built
        self._http = http
        self._takes = _find_media(built, endpoint)
        self._price = PriceTag(endpoint.provider.prices, endpoint.url, built.model.model_name)

    def __repr__(self) -> str:
        return f"<ApiModel {self._name}>"

    @property
    def name(self) -> str:
        return self._name

    @property
    def schemas(self) -> str | None:
        return self._endpoint.provider.schemas

    @property
    def takes(self) -> frozenset[Literal["image", "audio"]]:
        return self._takes

    @property
    def window(self) -> int | None:
        return self._built.model.context_window

    @property
    def has_price(self) -> bool:
        """Whether it is known what its replies cost."""
        return self._price.is_known

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        recipient = Recipient(self._endpoint.provider.word, self._built.model.system, self._takes)
        messages = convert_messages(request.messages, recipient)
        parameters = make_parameters(request, self._built.adapt_schema)
        try:
            sent = self._built.model.request_stream(messages, self._built.settings, parameters)
            async with close_with(sent) as stream:
                async for piece in stream:
                    event = convert_event(piece)
                    if event is not None:
                        yield event
                yield finish_reply(stream.get(), self._name, self._price)
        except FAILURES as error:
            # Without the cause: what the provider answered may repeat the key.
            raise await explain_failure(error, self._name, self._endpoint) from None

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
