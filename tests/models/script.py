"""What a fake model is told to do: replies that are the same whichever API they are sent through."""

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct
from tests.models.record import ModelRequest

StopReason = Literal["end", "calls", "length", "refusal"]


class Say(Struct, frozen=True, tag="say"):
    """Text for the person."""

    text: str


class Think(Struct, frozen=True, tag="think"):
    """Reasoning; the signature has to come back with the next request where an API wants that."""

    text: str
    signature: str = "c2lnbmVk"
    is_sealed: bool = False
    """Only the provider can read it; of Anthropic's alone."""


class Call(Struct, frozen=True, tag="call"):
    """A call of a tool. Several in one reply are parallel calls."""

    tool: str
    arguments: dict[str, Any] = {}
    id: str = ""
    """Made from the number of the reply and the place in it, unless given."""


class Malformed(Struct, frozen=True, tag="malformed"):
    """A call whose arguments are this text, which need not be JSON.

    Gemini has no such thing: there the reply ends with its reason `MALFORMED_FUNCTION_CALL` instead.
    """

    tool: str
    arguments: str
    id: str = ""


class Stall(Struct, frozen=True, tag="stall"):
    """Nothing happens for a while, with the last part sent but not ended."""

    seconds: float


class Hold(Struct, frozen=True, tag="hold"):
    """Nothing happens until `FakeModel.release(name)`."""

    name: str


class Drop(Struct, frozen=True, tag="drop"):
    """The connection is cut, with the last part sent but not ended."""


class Fail(Struct, frozen=True, tag="fail"):
    """An error of the API: an HTTP status when a reply begins with it, an error inside the stream after other parts."""

    status: int
    kind: str = ""
    """The API's own word for it, such as `overloaded_error`; chosen by the status unless given."""
    message: str = ""
    retry_after: float | None = None


class Overflow(Struct, frozen=True, tag="overflow"):
    """The request is too long for the model, in the words of each API."""

    tokens: int = 210_000
    window: int = 200_000


class Usage(Struct, frozen=True, tag="usage"):
    """Tokens to report; those not given are estimated from the length of the text."""

    input: int | None = None
    """All of the prompt, including what was read from and written to a cache."""
    output: int | None = None
    """All of the reply, including the reasoning."""
    cache_read: int = 0
    cache_write: int = 0
    thinking: int = 0
    is_told: bool = True
    """Whether they are reported at all; only those that imitate OpenAI may leave that out."""
    cost: float | None = None
    """In US dollars, as OpenRouter reports it."""


class Stop(Struct, frozen=True, tag="stop"):
    """Why the reply ends; `calls` or `end` unless given."""

    reason: StopReason


Part = Say | Think | Call | Malformed | Stall | Hold | Drop | Fail | Overflow | Usage | Stop
Reply = Part | Sequence[Part]
Respond = Callable[[ModelRequest], Reply | Awaitable[Reply]]
Script = Sequence[Reply] | Respond | Mapping[str, "Sequence[Reply] | Respond"]
"""Replies in order; or a function of the request; or either of them by a word in the conversation's first user message."""


class ScriptError(Exception):
    """The script has no reply for a request, or its function failed."""


class Player:
    """Finds the reply to each request. Conversations that have different words do not take each other's replies."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._played: Counter[str] = Counter()

    async def find_reply(self, request: ModelRequest) -> Sequence[Part]:
        """Raises: ScriptError."""
        word, script = self._choose(request)
        reply = await _ask(script, request) if callable(script) else self._take_next(word, script)
        return list(reply) if isinstance(reply, Sequence) else [reply]

    @property
    def unplayed(self) -> int:
        """How many replies of lists are left."""
        scripts = self._script if isinstance(self._script, Mapping) else {"": self._script}
        lists = {word: script for word, script in scripts.items() if not callable(script)}
        return sum(len(script) - self._played[word] for word, script in lists.items())

    def _choose(self, request: ModelRequest) -> "tuple[str, Sequence[Reply] | Respond]":
        if not isinstance(self._script, Mapping):
            return "", self._script
        for word, script in self._script.items():
            if word in request.first_user_text:
                return word, script
        words = ", ".join(self._script)
        raise ScriptError(f"the first user message has none of the words {words}: {request.first_user_text[:200]!r}")

    def _take_next(self, word: str, replies: Sequence[Reply]) -> Reply:
        place = self._played[word]
        if place >= len(replies):
            named = f" for {word!r}" if word else ""
            raise ScriptError(f"all {len(replies)} replies{named} were given, and another request came")
        self._played[word] += 1
        return replies[place]


async def _ask(respond: Respond, request: ModelRequest) -> Reply:
    try:
        reply = respond(request)
        return await reply if isinstance(reply, Awaitable) else reply
    except Exception as error:
        raise ScriptError(f"the function of the script failed: {error!r}") from error
