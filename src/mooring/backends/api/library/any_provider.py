"""Any model that Pydantic AI knows, as `pydantic-ai:PROVIDER:MODEL`; its libraries read their own keys."""

import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any

import httpx2
from pydantic_ai import exceptions as library
from pydantic_ai.models import Model as AnyModel
from pydantic_ai.models import infer_model
from pydantic_ai.settings import ModelSettings

from mooring.agents.model import ModelRequest, ReplyEvent
from mooring.backends.api.codecs.codec import Media
from mooring.backends.api.library.messages import (
    MessageRecipient,
    PriceTag,
    convert_event,
    convert_messages,
    finish_reply,
    make_parameters,
)
from mooring.core.conversation.effort import Effort, EffortWish
from mooring.core.text.secret import is_secret, list_secrets, redact
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded, NoModel

WORD = "pydantic-ai"
LONGEST_REASON = 500
FAILURES = (library.AgentRunError, library.UserError, httpx2.HTTPError, httpx2.StreamError, OSError)
"""What the libraries raise for a request that failed."""


class LibraryModel:
    """A model behind a library. Nothing is retried here, and every failure is a `ModelError`."""

    def __init__(self, name: str, model: AnyModel[Any], effort: EffortWish, env: Mapping[str, str]) -> None:
        self.name = name
        self._model = model
        self.effort = effort
        self._is_entered = False
        self._secrets = list_secrets(value for key, value in env.items() if is_secret(key, value))
        self.takes = _find_media(model)
        self._price = PriceTag(model.system, "", model.model_name)

    def __repr__(self) -> str:
        return f"<LibraryModel {self.name}>"

    @property
    def schemas(self) -> str | None:
        """Left to the library, which adapts what it is given."""
        return None

    @property
    def window(self) -> int | None:
        return self._model.context_window

    @property
    def has_price(self) -> bool:
        return self._price.is_known

    @property
    def has_effort(self) -> bool:
        # Without this choice, the library would leave the setting out without a word.
        return bool(self._model.profile.get("supports_thinking") or self._model.profile.get("thinking_always_enabled"))

    def change_effort(self, effort: Effort | None) -> None:
        if effort is not None and not self.has_effort:
            raise NoModel(f"{self.name} has no effort to choose.")
        self.effort = EffortWish(effort, is_required=effort is not None)

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        recipient = MessageRecipient(self.name, self._model.system, self.takes)
        messages = convert_messages(request.messages, recipient)
        try:
            async with aclosing(self._ask(request, messages)) as events:
                async for event in events:
                    yield event
        except FAILURES as error:
            # Without the cause: what the provider answered may repeat the key.
            raise self._explain(error) from None

    async def close(self) -> None:
        if self._is_entered:
            self._is_entered = False
            await self._model.__aexit__(None, None, None)

    async def _ask(self, request: ModelRequest, messages: list[Any]) -> AsyncGenerator[ReplyEvent, None]:
        if not self._is_entered:
            self._is_entered = True
            await self._model.__aenter__()
        async with self._model.request_stream(messages, self._make_settings(request), make_parameters(request)) as sent:
            async for piece in sent:
                event = convert_event(piece)
                if event is not None:
                    yield event
            yield finish_reply(sent.get(), self.name, self._price)

    def _make_settings(self, request: ModelRequest) -> ModelSettings:
        # A library that tries again by itself does so without a word, and while the person waits.
        settings = ModelSettings(max_retries=0)
        effort = request.effort or self.effort.level
        if effort is not None and self.has_effort:
            settings["thinking"] = effort
        if request.longest_reply is not None:
            settings["max_tokens"] = request.longest_reply
        return settings

    def _explain(self, error: Exception) -> ModelError:
        reason = redact(" ".join(str(error)[: 4 * LONGEST_REASON].split()), self._secrets)[:LONGEST_REASON]
        match error:
            case library.ModelContextWindowExceededError():
                return ContextOverflow(self.name, f"it was sent more than fits into its window: {reason}")
            case library.ModelAuthenticationError():
                return ModelError(self.name, f"the provider refuses the key: {reason}")
            case library.ModelNotFoundError():
                return ModelError(self.name, f"the provider has no such model: {reason}")
            case library.ModelQuotaExceededError():
                return ModelError(self.name, f"the quota or the credit of the account is used up: {reason}")
            case library.ModelRateLimitError():
                return ModelOverloaded(self.name, f"it was asked too often: {reason}", error.retry_after)
            case library.ModelUnavailableError() | library.ModelServerError() | library.ModelRequestTimeout():
                return ModelOverloaded(self.name, f"the provider cannot answer now: {reason}")
            case library.ModelConnectionError() | httpx2.HTTPError() | httpx2.StreamError() | OSError():
                return ModelOverloaded(self.name, f"the connection failed: {reason}")
            case _:
                return ModelError(self.name, reason)


def _find_media(model: AnyModel[Any]) -> frozenset[Media]:
    return frozenset({"image"}) if model.profile.get("supports_image_input", True) else frozenset()


def open_library_model(model: str, effort: EffortWish) -> LibraryModel:
    """The model that Pydantic AI calls `PROVIDER:MODEL`. Takes seconds: it loads libraries.

    Raises:
        NoModel: Pydantic AI has no such model, or cannot use it: a package is not installed, or a key is missing.
    """
    name = f"{WORD}:{model}"
    try:
        found = infer_model(model)
    except (library.UserError, ValueError, ImportError) as error:
        raise NoModel(f"{name} cannot be used: {' '.join(str(error).split())}") from None
    opened = LibraryModel(name, found, effort, os.environ)
    if effort.is_required:
        opened.change_effort(effort.level)
    return opened
