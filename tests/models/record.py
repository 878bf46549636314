"""What was asked of a fake model, in one shape for all APIs."""

import re
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

Api = Literal["anthropic", "openai-chat", "openai-responses", "gemini"]
Json = dict[str, Any]


class Picture(Struct, frozen=True):
    """An image inside a message or a result."""

    media_type: str
    data: str
    """Base64, or the address of an image that the provider would fetch."""


class AskedCall(Struct, frozen=True):
    """A call that the client says the model made."""

    id: str
    name: str
    arguments: Any
    """The JSON value, or the text where it is not JSON."""


class AskedResult(Struct, frozen=True):
    """What a tool returned, as the model gets to see it."""

    call_id: str
    text: str
    images: list[Picture] = []
    is_error: bool = False
    """Only Anthropic and, by its key `error`, Gemini can say so; the APIs of OpenAI have the text alone."""


class AskedMessage(Struct, frozen=True):
    """One message; what was sent as several messages of the same role in a row is one."""

    role: Literal["user", "assistant", "system"]
    text: str = ""
    thinking: str = ""
    signatures: list[str] = []
    calls: list[AskedCall] = []
    results: list[AskedResult] = []
    images: list[Picture] = []


class OfferedTool(Struct, frozen=True):
    """A tool that the model may call."""

    name: str
    description: str
    schema: Json | None
    """None for a tool of the provider's own, such as a web search."""


class ModelRequest(Struct, frozen=True):
    """One request to a model."""

    api: Api
    model: str
    system: str
    messages: list[AskedMessage]
    tools: list[OfferedTool]
    stream: bool
    body: Json
    path: str = ""
    headers: dict[str, str] = {}
    """With names in lower case."""
    key: str = ""
    """The API key, wherever it was sent."""

    @property
    def tool_names(self) -> list[str]:
        return [tool.name for tool in self.tools]

    @property
    def first_user_text(self) -> str:
        return next((message.text for message in self.messages if message.role == "user" and message.text), "")

    @property
    def last_user_text(self) -> str:
        """The text of the newest user message that has one."""
        return next((message.text for message in self.messages[::-1] if message.role == "user" and message.text), "")

    @property
    def results(self) -> list[AskedResult]:
        """What came back for the calls of the newest assistant message; empty if a person spoke last.

        Not just those of the last message: Claude Code appends a system message to the results.
        """
        found: list[AskedResult] = []
        for message in reversed(self.messages):
            if message.role == "assistant":
                break
            found = [*message.results, *found]
        return found

    @property
    def all_results(self) -> list[AskedResult]:
        return [result for message in self.messages for result in message.results]

    @property
    def tokens(self) -> int:
        """About as many as a real model would count."""
        return estimate_tokens(msgspec.json.encode(self.body).decode())

    def find_tool(self, ending: str) -> str:
        """The name of the one tool whose name ends like this; clients put the server's name in front.

        Raises: LookupError if there is none, or more than one.
        """
        found = [name for name in self.tool_names if name.endswith(ending)]
        if len(found) != 1:
            raise LookupError(f"{len(found)} tools end with {ending!r} among {self.tool_names}")
        return found[0]


def estimate_tokens(text: str) -> int:
    return -(-len(text) // 4)


def merge_messages(messages: Iterable[AskedMessage]) -> list[AskedMessage]:
    """Neighbors of the same role as one: some APIs send a message per result, others one with all of them."""
    merged: list[AskedMessage] = []
    for message in messages:
        if merged and merged[-1].role == message.role:
            merged[-1] = _join(merged[-1], message)
        else:
            merged.append(message)
    return merged


def _join(first: AskedMessage, second: AskedMessage) -> AskedMessage:
    return AskedMessage(
        role=first.role,
        text=join_texts([first.text, second.text]),
        thinking=join_texts([first.thinking, second.thinking]),
        signatures=[*first.signatures, *second.signatures],
        calls=[*first.calls, *second.calls],
        results=[*first.results, *second.results],
        images=[*first.images, *second.images],
    )


def join_texts(texts: Iterable[str]) -> str:
    return "\n".join(text for text in texts if text)


def parse_arguments(text: str) -> Any:
    try:
        return msgspec.json.decode(text or "{}")
    except msgspec.DecodeError:
        return text


def read_picture(address: str) -> Picture:
    """An image from a `data:` address, or from one that the provider would fetch."""
    inline = re.fullmatch(r"data:([^;,]*);base64,(.*)", address, re.S)
    return Picture(inline[1], inline[2]) if inline else Picture("", address)
