"""Our words for Gemini beside those of Pydantic AI and Google's library: the same requests, the same replies."""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from random import Random
from typing import Any

import httpx2
import msgspec
import pytest
from aiohttp import web
from pydantic_ai.models.google import GoogleModel
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.providers.google import GoogleProvider

from backends.asking import ADD, PIXEL, SUBTRACT, ask, hear, serving
from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import ModelRequest, ReplyFinished, ReplyText, ReplyThinking
from mooring.backends.api.codecs.codec import BrokenReply, FinishedReply, Recipient
from mooring.backends.api.codecs.gemini import GeminiCodec
from mooring.backends.api.codecs.gemini_reply import STOPS
from mooring.backends.api.library.any_provider import LibraryModel
from mooring.core.conversation.effort import EFFORTS, EffortWish
from mooring.core.protocol.content import Image, Text
from mooring.errors import ModelOverloaded
from mooring.wire.http.events import Event

NEW, OLD = "gemini-3.8-flash", "gemini-2.5-flash"
PICTURE = Image(data=PIXEL, mime_type="image/png")
MOVING = Image(data="R0lGODlhAQABAIAAAP///wAAACH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==", mime_type="image/gif")
SIGNATURE = "aGk/c2lnbmVk+/8="


@asynccontextmanager
async def opened_library(url: str, model: str) -> AsyncIterator[LibraryModel]:
    """The library's own model, under the name that ours has."""
    async with httpx2.AsyncClient(timeout=30) as http:
        provider = GoogleProvider(api_key="none", base_url=url, http_client=http)
        # Schemas are adapted before they get here.
        library = GoogleModel(model, provider=provider, profile=ModelProfile(json_schema_transformer=None))
        yield LibraryModel(f"google:{model}", library, EffortWish(), {})


def make_codec(model: str) -> GeminiCodec:
    thinking: Any = "level" if model == NEW else "budget"
    return GeminiCodec(
        Recipient(
            name=f"google:{model}", word="google", model=model, origin="google x", takes=frozenset({"image"}),
            thinking=thinking,
        )
    )  # fmt: skip


# --- requests ---------------------------------------------------------------------------------------------------------


class RequestMaker:
    """Makes up conversations, the same ones each time."""

    def __init__(self, seed: int, model: str) -> None:
        self._random = Random(seed)
        self._model = model
        self._calls = 0

    def make_request(self) -> ModelRequest:
        messages: list[Message] = []
        if self._likely(0.2):
            messages.append(SummaryMessage(self._say()))
        for _ in range(self._random.choice([1, 1, 2, 3, 40])):
            messages += self._make_exchange()
        messages.append(self._make_question())
        request = ask(*messages, system=self._random.choice(["", "Be brief.", "Ünïcode 🚢"]))
        return msgspec.structs.replace(
            request,
            tools=self._random.choice([(), (ADD,), (ADD, SUBTRACT)]),
            effort=self._random.choice([None, *EFFORTS]),
            longest_reply=self._random.choice([None, 1000]),
        )

    def _make_exchange(self) -> Iterator[Message]:
        yield self._make_question()
        reply = self._make_reply()
        yield reply
        if reply.calls:
            yield ResultsMessage(tuple(self._make_result(call) for call in reply.calls))

    def _make_question(self) -> PersonMessage:
        parts = [Text(text=self._say()), *self._random.choice([[], [], [PICTURE], [PICTURE, Text(text="And?")]])]
        return PersonMessage(tuple(parts))

    def _make_reply(self) -> ModelMessage:
        is_own = self._likely(0.7)
        blocks: list[ReplyBlock] = []
        if self._likely(0.4):
            blocks.append(ThinkingBlock(self._say(), self._sign("signature") if self._likely(0.5) else None))
        if self._likely(0.7):
            blocks.append(TextBlock(self._say(), {"details": self._sign("thought_signature")} if is_own else None))
        for _ in range(self._random.choice([0, 0, 1, 3])):
            blocks.append(self._make_call())
        name = f"google:{self._model}" if is_own else "anthropic:claude"
        return ModelMessage(tuple(blocks or [TextBlock("So.")]), name)

    def _make_call(self) -> CallBlock:
        self._calls += 1
        arguments = self._random.choice(["{}", "", '{"a": 1, "b": {"c": ["ü", null, 1.5]}}', '{"a": 1', "[1]"])
        opaque = {"details": self._sign("thought_signature")} if self._likely(0.4) else None
        return CallBlock(f"call_{self._calls}", self._random.choice(["add", "subtract"]), arguments, opaque)

    def _make_result(self, call: CallBlock) -> CallResult:
        parts = self._random.choice([[Text(text="3")], [Text(text="Look:"), PICTURE], [PICTURE], [MOVING], []])
        return CallResult(call.id, call.name, tuple(parts), is_error=self._likely(0.2))

    def _sign(self, key: str) -> dict[str, str]:
        return {key: SIGNATURE}

    def _say(self) -> str:
        return f"{self._random.choice(['Hello', 'Ähm', '🚢'])} {self._random.random()}"

    def _likely(self, chance: float) -> bool:
        return self._random.random() < chance


@pytest.mark.parametrize("model", [NEW, OLD])
async def test_requests_are_those_of_the_library(model: str) -> None:
    requests = [RequestMaker(seed, model).make_request() for seed in range(100)]
    sent: list[tuple[str, Any]] = []

    async def answer(asked: web.Request) -> web.Response:
        sent.append((asked.path_qs, await asked.json()))
        return stream_of([say({"text": "So."}, **STOP)])

    async with serving(answer) as url, opened_library(url, model) as library:
        for request in requests:
            await hear(library, request)
    codec = make_codec(model)
    for request, (path, theirs) in zip(requests, sent, strict=True):
        written = codec.write(request, request.effort)
        ours = msgspec.json.decode(written.body)
        assert written.path == path.replace("/v1/", "/v1beta/")
        assert explain(ours) == explain(_spell_alike(theirs))
        assert ours.keys() <= theirs.keys()


INTENDED = """
Where the two differ on purpose, and what `explain` therefore makes alike:

- The path: the library asks the version v1 of the API. All that we send is in v1beta for every model, and models are
  listed there, too.
- `toolConfig` says that the model may choose its tools, and `responseModalities` that it answers in text. Both are
  what Gemini does by itself.
- `systemInstruction.role`: nothing reads it.
- `tools`: the library sends an entry per tool. Google's pages have all tools in one entry.
- `functionResponse.response`: the library's key is `return_value`; Google's own word, which it tells apart from
  `error`, is `output`.
- Images in results: both attach those that the model takes there, and send the others below. What is written beside
  them is in our own words. An empty result is `(nothing)` for both.
- GIF, which Gemini refuses: the library sends it, and we say in words that it is not sent.
- Google's library writes some fields as in `mime_type`. The API takes both spellings.
- Base64: Google's library writes the letters for addresses, we leave it as it came.
- Texts of the person side by side are one part, as for every other provider.
"""

_BESIDE = re.compile(r"\[image/\w+[^\n]*\]|</?tool_result[^\n]*>|See file \w+\.")


def explain(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a request says, without what is only said differently."""
    config = {key: value for key, value in body.get("generationConfig", {}).items() if key != "responseModalities"}
    system = body.get("systemInstruction", {}).get("parts", [])
    contents = [(content["role"], list(_join(content["parts"]))) for content in body["contents"]]
    return {
        "system": [part["text"] for part in system],
        "tools": [tool for group in body.get("tools", []) for tool in group["functionDeclarations"]],
        "config": config,
        "contents": [(role, parts) for role, parts in contents if parts],
    }


def _spell_alike(found: Any) -> Any:
    """The same with its fields in camel case, but for what is no part of the API: arguments and schemas."""
    if isinstance(found, list):
        return [_spell_alike(each) for each in found]
    if not isinstance(found, dict):
        return found
    spelled = {re.sub("_([a-z])", lambda letter: letter[1].upper(), key): value for key, value in found.items()}
    return {key: value if key in _FOREIGN else _spell_alike(value) for key, value in spelled.items()}


_FOREIGN = frozenset({"args", "response", "parametersJsonSchema"})


def _join(parts: list[Any]) -> Iterator[Any]:
    text = ""
    for part in map(_explain_part, parts):
        if part[:2] == ("media", "image/gif"):
            continue
        if part[0] == "text" and not part[2]:
            text = "\n".join(filter(None, [text, part[1]]))
            continue
        if text:
            yield text
        text = ""
        yield part
    if text:
        yield text


def _explain_part(part: Mapping[str, Any]) -> tuple[Any, ...]:
    signature = _plain(part.get("thoughtSignature", ""))
    match part:
        case {"text": text, "thought": True}:
            return ("thought", text, signature)
        case {"text": text}:
            return ("text", _BESIDE.sub("", text).strip("\n"), signature)
        case {"functionCall": call}:
            return ("call", call["id"], call["name"], call["args"], signature)
        case {"inlineData": media}:
            return ("media", media["mimeType"], _plain(media["data"]))
        case {"functionResponse": result}:
            attached = [_explain_part(each) for each in result.get("parts", [])]
            return ("result", result["id"], result["name"], _explain_response(result["response"]), attached)
        case _:
            raise AssertionError(part)


def _explain_response(response: Mapping[str, Any]) -> tuple[bool, str]:
    texts = _BESIDE.sub("", "\n".join(_list_texts(response))).strip("\n")
    return "error" in response, re.sub("\n+", "\n", texts)


def _list_texts(found: Any) -> Iterator[str]:
    if isinstance(found, str):
        yield found
        return
    for inner in found.values() if isinstance(found, dict) else found:
        yield from _list_texts(inner)


def _plain(base64: str) -> str:
    return base64.replace("-", "+").replace("_", "/")


# --- replies ----------------------------------------------------------------------------------------------------------


def stream_of(chunks: list[Any]) -> web.Response:
    body = b"".join(b"data: " + msgspec.json.encode(chunk) + b"\r\n\r\n" for chunk in chunks)
    return web.Response(body=body, content_type="text/event-stream")


def say(*parts: Any, usage: Any = None, **fields: Any) -> dict[str, Any]:
    counts = {"usageMetadata": usage} if usage else {}
    return {
        "candidates": [{"content": {"role": "model", "parts": list(parts)}, **fields}],
        "modelVersion": NEW,
        **counts,
    }


STOP = {"finishReason": "STOP"}
FIRST = {"functionCall": {"id": "1", "name": "add", "args": {"a": 1, "b": [1.5, "ü", None]}}}
SECOND = {"functionCall": {"id": "2", "name": "subtract", "args": {}}}
COUNTS = {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 20, "thoughtsTokenCount": 7}
TOOLS = {"toolUsePromptTokenCount": 5}

STREAMS: Mapping[str, list[Any]] = {
    "text": [say({"text": "He"}), say({"text": "llo"}), say({"text": ""}, **STOP)],
    "thoughts": [
        say({"text": "Hm, ", "thought": True}),
        say({"text": "so.", "thought": True}),
        say({"text": "Yes."}, **STOP),
    ],
    "calls": [say({"text": "Both."}), say({**FIRST, "thoughtSignature": "AA=="}, SECOND), say(**STOP)],
    "a late signature": [say({"text": "Yes."}), say({"text": "", "thoughtSignature": "AA=="}, **STOP)],
    "a signature alone": [say({"text": "Yes."}), say({"thoughtSignature": "AA=="}), say({"text": " No."}, **STOP)],
    "counts": [say({"text": "So"}, usage={"promptTokenCount": 100}), say(usage=COUNTS | TOOLS, **STOP)],
    "cached counts": [
        say({"text": "So"}, usage={"promptTokenCount": 100, "cachedContentTokenCount": 60}),
        say(usage={"promptTokenCount": 100, "candidatesTokenCount": 21}, **STOP),
    ],
    "fewer counts": [
        say({"text": "So"}, usage=COUNTS | TOOLS),
        say(usage={"promptTokenCount": 100, "candidatesTokenCount": 21}, **STOP),
    ],
    "no counts": [say({"text": "So."}, **STOP)],
    "a candidate without content": [{"candidates": [{"index": 0}]}, say({"text": "So."}, **STOP)],
    "blocked": [{"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 9}}],
    "code": [
        say({"executableCode": {"language": "PYTHON", "code": "1"}}),
        say({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}}, {"text": "One."}, **STOP),
    ],
    "an image": [say({"inlineData": {"mimeType": "image/png", "data": PIXEL}}, {"text": "Look."}, **STOP)],
    "grounded": [say({"text": "So."}, groundingMetadata={"webSearchQueries": ["x"]}, **STOP)],
    "nothing": [say(**STOP)],
    "no end": [say({"text": "So"})],
    "no candidates": [{"candidates": [], "usageMetadata": {"promptTokenCount": 9}}],
    **{f"the end {word}": [say({"text": "So."}, usage=COUNTS, finishReason=word)] for word in STOPS},
    **{f"a call and the end {word}": [say(FIRST, finishReason=word)] for word in STOPS},
}

UNLIKE: Mapping[str, str] = {
    "IMAGE_RECITATION": "the library's table lacks it; it is refused as RECITATION is",
    "MALFORMED_RESPONSE": "the library's table lacks it; it is worth another try as MALFORMED_FUNCTION_CALL is",
    "fewer counts": "the library forgets thoughts and the server's tools if the last chunk has no word of them",
}
"""Streams, by the end of their names, that mean something else to us, and why."""


@pytest.mark.filterwarnings("ignore:MODEL_ARMOR is not a valid FinishReason")
async def test_replies_are_those_of_the_library() -> None:
    theirs = await describe_library()
    ours = {name: describe(lambda chunks=chunks: listen(chunks)) for name, chunks in STREAMS.items()}
    unlike = {name for name in STREAMS if ours[name] != theirs[name]}
    assert unlike == {name for name in STREAMS if name.endswith(tuple(UNLIKE))}


def listen(chunks: list[Any]) -> tuple[list[Any], FinishedReply]:
    reader = make_codec(NEW).reader()
    events = [event for chunk in chunks for event in reader.read(Event(msgspec.json.encode(chunk)))]
    return events, reader.finish()


def describe(read: Callable[[], tuple[list[Any], FinishedReply]]) -> Any:
    try:
        events, reply = read()
    except BrokenReply:
        return "cut"
    return [*_describe_pieces(events), *_describe_blocks(reply.blocks), reply.stop, reply.usage]


async def describe_library() -> dict[str, Any]:
    left = list(STREAMS.values())

    async def answer(_: web.Request) -> web.Response:
        return stream_of(left.pop(0))

    async with serving(answer) as url, opened_library(url, NEW) as library:
        return {name: await _describe_library_reply(library) for name in STREAMS}


async def _describe_library_reply(library: LibraryModel) -> Any:
    try:
        events = await hear(library, ask("Hi"))
    except ModelOverloaded:
        return "cut"
    last = events[-1]
    assert isinstance(last, ReplyFinished)
    return [*_describe_pieces(events), *_describe_blocks(last.message.blocks), last.stop, last.usage]


def _describe_pieces(events: list[Any]) -> list[Any]:
    return [event for event in events if isinstance(event, ReplyText | ReplyThinking)]


def _describe_blocks(blocks: tuple[ReplyBlock, ...]) -> list[Any]:
    """What the blocks say. The library joins a text with a signature with those beside it, and drops files."""
    texts = "".join(block.text for block in blocks if isinstance(block, TextBlock))
    thoughts = "".join(block.text for block in blocks if isinstance(block, ThinkingBlock))
    calls = [(block.id, block.name, block.arguments) for block in blocks if isinstance(block, CallBlock)]
    return [texts, thoughts, calls]
