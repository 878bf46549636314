"""One model of one provider, behind the agent's own protocol."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import convert, to_builtins

from mooring.agents.history import ModelMessage
from mooring.agents.model import ModelRequest, ReplyEvent, ReplyFinished
from mooring.backends.api.codecs.codec import ApiRequest, BrokenReply, Codec, FinishedReply, Media, NoReply, Recipient
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.backends.api.connection import ModelConnection, connect
from mooring.backends.api.endpoint import ModelEndpoint
from mooring.backends.api.facts import ModelFacts, find_facts
from mooring.backends.api.failures import FAILURES, explain_failure
from mooring.backends.api.providers import ModelKind, make_headers
from mooring.core.conversation.effort import Effort, EffortWish, find_nearest_effort
from mooring.core.protocol.raw import replace_surrogates
from mooring.errors import NoModel


class ApiModel:
    """A model behind an API. Nothing is retried here but what the codec writes in another way."""

    def __init__(
        self,
        recipient: Recipient,
        endpoint: ModelEndpoint,
        facts: ModelFacts,
        codec: Codec,
        connection: ModelConnection,
    ) -> None:
        self._recipient = recipient
        self._endpoint = endpoint
        self.effort = endpoint.effort
        self._facts = facts
        self._codec = codec
        self._connection = connection

    def __repr__(self) -> str:
        return f"<ApiModel {self.name}>"

    @property
    def name(self) -> str:
        return self._recipient.name

    @property
    def schemas(self) -> str | None:
        return self._endpoint.provider.schemas

    @property
    def takes(self) -> frozenset[Media]:
        return self._recipient.takes

    @property
    def window(self) -> int | None:
        return self._facts.window

    @property
    def has_price(self) -> bool:
        # OpenRouter says with each reply what it cost.
        return self._facts.has_price or self._endpoint.provider.word == "openrouter"

    @property
    def has_effort(self) -> bool:
        return self._recipient.thinking is not None

    def change_effort(self, effort: Effort | None) -> None:
        wish = EffortWish(effort, is_required=effort is not None)
        _check_effort(self._recipient, wish)
        self.effort = wish

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        try:
            async with aclosing(self._ask(request)) as events:
                async for event in events:
                    yield event
        except FAILURES as error:
            # Without the cause: what the provider answered may repeat the key.
            raise await explain_failure(error, self.name, self._endpoint) from None

    async def close(self) -> None:
        await self._connection.close()

    async def _ask(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        """Ask; once more if the endpoint refuses something that the codec can leave out or write differently."""
        has_begun = False
        try:
            async with aclosing(self._ask_once(request)) as events:
                async for event in events:
                    has_begun = True
                    yield event
            return
        except NoReply:
            if has_begun:
                raise BrokenReply("what followed cannot be read") from None
            raise
        except ApiRefusal as refusal:
            # The pieces of a reply that began cannot be taken back.
            if has_begun or not self._codec.adjust(refusal):
                raise
        async with aclosing(self._ask_once(request)) as events:
            async for event in events:
                yield event

    async def _ask_once(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        reader = self._codec.reader()
        written = self._write(request)
        sent = written
        while True:
            async with aclosing(self._connection.send(sent)) as events:
                async for event in events:
                    for piece in reader.read(event):
                        yield piece
            reply = reader.finish()
            if not reply.more:
                break
            sent = written.with_fields(reply.more)
        yield self._finish(reply)

    def _write(self, request: ModelRequest) -> ApiRequest:
        effort = self._choose_effort(request)
        try:
            return self._codec.write(request, effort)
        except UnicodeEncodeError:
            whole = convert(replace_surrogates(to_builtins(request)), ModelRequest)
            return self._codec.write(whole, effort)

    def _choose_effort(self, request: ModelRequest) -> Effort | None:
        wanted = request.effort or self.effort.level
        if wanted is None or not self.has_effort:
            return None
        return find_nearest_effort(wanted, self._facts.efforts)

    def _finish(self, reply: FinishedReply) -> ReplyFinished:
        cost = reply.cost
        if cost is None and reply.usage is not None:
            cost = self._facts.cost_of(reply.usage)
        return ReplyFinished(
            ModelMessage(reply.blocks, self.name),
            reply.usage,
            cost,
            reply.stop,
            reply.thinking_tokens,
            reply.stop_word,
            reply.stop_details,
        )


def load_codec(kind: ModelKind, recipient: Recipient) -> Codec:
    """What speaks to a kind of endpoint; only that is loaded."""
    match kind:
        case "anthropic":
            from mooring.backends.api.codecs.anthropic import AnthropicCodec

            return AnthropicCodec(recipient)
        case "google":
            from mooring.backends.api.codecs.gemini import GeminiCodec

            return GeminiCodec(recipient)
        case "openai":
            from mooring.backends.api.codecs.responses import ResponsesCodec

            return ResponsesCodec(recipient)
        case "openai-chat":
            from mooring.backends.api.codecs.chat import ChatCodec

            return ChatCodec(recipient)


async def open_model(model: str, endpoint: ModelEndpoint) -> ApiModel:
    """A model that can be asked; nothing is sent yet.

    Raises:
        NoModel: it cannot be used as the settings want it.
        FileError: the table of models cannot be read, so the installation is broken.
        ConfigError: a certificate or the proxy cannot be used.
    """
    provider = endpoint.provider
    if provider.word == "openrouter" and "/" not in model:
        raise NoModel(
            f"openrouter:{model} cannot be used: the name of a model there begins with who made it.",
            f"Write openrouter:{provider.example}, for example.",
        )
    facts = find_facts(provider, endpoint.url, model)
    recipient = _describe(model, endpoint, facts)
    _check_effort(recipient, endpoint.effort)
    # `None` for the system's own authorities, and where nothing is encrypted.
    tls = await endpoint.network.tls(endpoint.options) if endpoint.address.secure else None
    connection = connect(endpoint, make_headers(provider.kind, endpoint.key), tls)
    return ApiModel(recipient, endpoint, facts, load_codec(provider.kind, recipient), connection)


def _describe(model: str, endpoint: ModelEndpoint, facts: ModelFacts) -> Recipient:
    word, kind = endpoint.provider.word, endpoint.provider.kind
    # Behind OpenRouter, another provider's model is another recipient.
    maker = model.partition("/")[0] if word == "openrouter" else ""
    return Recipient(
        name=f"{word}:{model}",
        word=word,
        model=model,
        origin=f"{kind} {_find_place(endpoint)} {maker}".strip(),
        # Nearly every model that nobody has heard of takes images, and hardly any of them takes audio.
        takes=frozenset({"image"}) if facts.takes is None else facts.takes,
        longest_reply=facts.longest_reply,
        thinking=facts.thinking,
    )


def _find_place(endpoint: ModelEndpoint) -> str:
    """The address as it is kept in records: without a password or a query, which may hold a key."""
    is_plain = "@" not in endpoint.url and "?" not in endpoint.url
    return endpoint.url if is_plain else endpoint.address.name


def _check_effort(recipient: Recipient, effort: EffortWish) -> None:
    if effort.is_required and effort.level is not None and recipient.thinking is None:
        raise NoModel(f"{recipient.name} has no effort to choose.")
