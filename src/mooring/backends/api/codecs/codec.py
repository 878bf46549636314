"""What the codec of an API has to do, and the values that it takes and returns."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct, json

from mooring.agents.history import ReplyBlock
from mooring.agents.model import ModelRequest, ReplyEvent, StopReason
from mooring.backends.api.codecs.refusal import ApiRefusal
from mooring.core.conversation.effort import Effort
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.raw import read
from mooring.wire.http.events import Event

ThinkingControl: TypeAlias = Literal["effort", "adaptive", "budget", "level"]
"""How a model is told how much to think: by an effort, by an effort and a mark that it decides for itself (Claude
since 4.6), by a number of tokens, or by a level (Gemini since 3)."""

Media: TypeAlias = Literal["image", "audio"]


class Recipient(Struct, frozen=True, kw_only=True):
    """The model that a request goes to, and what is known of it."""

    name: str
    """The provider and the model, as in `anthropic:claude-sonnet-5-5`."""
    word: str
    """The provider, as in its name."""
    model: str
    """As the API calls it."""
    origin: str
    """The API, the address and, behind a broker, the provider: only what these made goes back to them unread."""
    takes: frozenset[Media] = frozenset()
    longest_reply: int | None = None
    """In tokens; `None` if it is unknown."""
    thinking: ThinkingControl | None = None
    """`None` if nobody can choose how much it thinks, or it is unknown."""


class ApiRequest(Struct, frozen=True):
    """A request to an API, without the key."""

    path: str
    """Behind the endpoint's address."""
    body: bytes
    headers: Mapping[str, str] = {}

    def with_fields(self, fields: Mapping[str, Any]) -> "ApiRequest":
        """The same with more fields in its body, which is an object that isn't empty."""
        return ApiRequest(self.path, self.body[:-1] + b"," + json.encode(fields)[1:], self.headers)


class FinishedReply(Struct, frozen=True, kw_only=True):
    """A reply as a whole."""

    blocks: tuple[ReplyBlock, ...]
    stop: StopReason
    stop_word: str
    """Why it ended, in the provider's own word."""
    stop_details: str = ""
    usage: TokenUsage | None = None
    """`None` if the provider didn't say."""
    thinking_tokens: int | None = None
    """Those of the output that were thought."""
    cost: float | None = None
    """In US dollars, if the provider says so itself."""
    more: Mapping[str, Any] = {}
    """Fields that the request has to have for the rest of the reply, where an API sends a long one in parts."""


class ReplyReader(Protocol):
    """Reads one reply as its events arrive."""

    def read(self, event: Event) -> Iterable[ReplyEvent]:
        """What an event says: pieces of text and of thoughts, and blocks that are complete.

        Fields and kinds of events that are unknown are passed over.

        Raises:
            ApiRefusal: it is an error of the provider.
            NoReply: it is nothing that this API sends.
        """

    def finish(self) -> FinishedReply:
        """The reply, once the stream has ended. If there is `more` of it, that is read here afterwards.

        Raises:
            BrokenReply: the stream ended before the reply did.
            NoReply: there was no reply in it at all.
        """


class Codec(Protocol):
    """One API, for one model. It remembers what the endpoint turned out not to take."""

    def write(self, request: ModelRequest, effort: Effort | None) -> ApiRequest:
        """The request over HTTP. `effort` is one that the model is known to have."""

    def reader(self) -> ReplyReader:
        """What reads the reply to one request."""

    def adjust(self, refusal: ApiRefusal) -> bool:
        """Write requests differently from now on, if that is the answer to a refusal; whether to try once more."""


class NoReply(Exception):
    """What arrived is not the reply of a model."""


class BrokenReply(Exception):
    """The reply broke off before its end."""


def read_json(data: bytes) -> dict[str, Any]:
    """The object that an event holds. Raises: NoReply."""
    try:
        found = read(data)
    except (ValueError, RecursionError):
        raise NoReply from None
    if not isinstance(found, dict):
        raise NoReply
    return found
