"""A conversation as providers want it: the two sides take turns, and nobody gets what only another understands."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, TypeAlias

from msgspec import DecodeError, Struct
from msgspec.json import encode
from msgspec.structs import replace

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    PersonMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
)
from mooring.backends.api.codecs.codec import Media, Recipient
from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Image, Text
from mooring.core.protocol.raw import PARTS, read_parts
from mooring.display.text import describe_base64_size

SUMMARY = "What was said before, in short:\n\n"
NOTHING = "(nothing)"
"""Stands for a message without content, which providers refuse."""
ORIGIN = "origin"
"""The key under which what is opaque says who made it."""

# What providers that take images or audio take, but for what a codec knows better. A kind that a provider doesn't know
# makes it refuse the conversation.
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
SOUNDS = frozenset({"audio/wav", "audio/x-wav", "audio/mpeg", "audio/mp3"})
_BEGINNINGS = {"image/png": "iVBORw0KGgo", "image/jpeg": "/9j/", "image/gif": "R0lGOD", "image/webp": "UklGR"}
"""How an image of each kind begins, in Base64."""

_LONGEST_NAME = 64
_OTHER_LETTERS = re.compile(r"[^a-zA-Z0-9_-]")


class UserTurn(Struct, frozen=True):
    """All that stands between two replies: what became of the calls first, then what the person said and attached.

    Texts that stood side by side are one, and in place of what the model doesn't take is what it was. It is never
    empty, and neither are the parts of a result.
    """

    results: tuple[CallResult, ...]
    parts: tuple[Part, ...]


Turn: TypeAlias = UserTurn | ModelMessage


def list_turns(messages: Sequence[Message], takes: frozenset[Media], images: frozenset[str] = IMAGES) -> Iterator[Turn]:
    """The conversation in turns, beginning with the user's. No two calls in it have the same id.

    `images` are the kinds that the model takes, if any.
    """
    kinds = frozenset[str]()
    if "image" in takes:
        kinds |= images
    if "audio" in takes:
        kinds |= SOUNDS
    ids = _CallIds()
    results: list[CallResult] = []
    parts: list[Part] = []
    is_open = False
    for message in _join_paused(messages):
        if isinstance(message, ModelMessage):
            if is_open:
                yield _make_turn(results, parts)
            yield ids.adapt_reply(message)
            results, parts, is_open = [], [], False
            continue
        is_open = True
        match message:
            case ResultsMessage(more):
                results += [ids.adapt_result(replace(each, parts=_prepare(each.parts, kinds))) for each in more]
            case PersonMessage(more_parts):
                parts += _prepare(more_parts, kinds)
            case SummaryMessage(text):
                parts.append(Text(text=SUMMARY + text))
    if is_open:
        yield _make_turn(results, parts)


def _join_paused(messages: Iterable[Message]) -> list[Message]:
    """The same messages. A reply that its provider paused is one with the rest of it, which came when it was asked."""
    joined: list[Message] = []
    for message in messages:
        last = joined[-1] if joined else None
        if isinstance(message, ModelMessage) and isinstance(last, ModelMessage) and message.model == last.model:
            joined[-1] = replace(last, blocks=(*last.blocks, *message.blocks))
        else:
            joined.append(message)
    return joined


class _CallIds:
    """The ids of the calls of a conversation.

    Some servers begin anew with each reply, as with `call_0`, and others refuse a conversation that has one twice.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._renamed: dict[str, str] = {}
        """The new ids in the last reply, by the old ones."""

    def adapt_reply(self, message: ModelMessage) -> ModelMessage:
        ids = {block.id for block in message.blocks if isinstance(block, CallBlock)}
        self._renamed = {id: self._find_free(id) for id in sorted(ids & self._taken)}
        self._taken |= ids | set(self._renamed.values())
        return replace(message, blocks=tuple(map(self._adapt_block, message.blocks))) if self._renamed else message

    def adapt_result(self, result: CallResult) -> CallResult:
        return replace(result, id=self._renamed[result.id]) if result.id in self._renamed else result

    def _adapt_block(self, block: ReplyBlock) -> ReplyBlock:
        if isinstance(block, CallBlock) and block.id in self._renamed:
            return replace(block, id=self._renamed[block.id])
        return block

    def _find_free(self, id: str) -> str:
        return next(free for number in count(2) if (free := f"{id}_{number}") not in self._taken)


def _make_turn(results: Sequence[CallResult], parts: Sequence[Part]) -> UserTurn:
    joined = parts if _is_one_text(parts) else _join_texts(parts)
    return UserTurn(tuple(results), tuple(joined))


def _is_one_text(parts: Sequence[Part]) -> bool:
    """Whether nothing has to be done for parts, as for nearly all of a long conversation."""
    return len(parts) == 1 and isinstance(parts[0], Text) and parts[0].text != ""


def _prepare(parts: tuple[Part, ...], kinds: frozenset[str]) -> tuple[Part, ...]:
    if _is_one_text(parts):
        return parts
    prepared = tuple(_join_texts(_describe_untaken(part, kinds) for part in parts))
    return prepared or (Text(text=NOTHING),)


def _join_texts(parts: Iterable[Part]) -> Iterator[Part]:
    """Texts side by side become one, since some providers take only one."""
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Text):
            texts.append(part.text)
            continue
        yield from _make_text(texts)
        texts = []
        yield part
    yield from _make_text(texts)


def _make_text(texts: Iterable[str]) -> Iterator[Text]:
    text = "\n".join(filter(None, texts))
    if text:
        yield Text(text=text)


def _describe_untaken(part: Part, kinds: frozenset[str]) -> Part:
    if isinstance(part, Text):
        return part
    if isinstance(part, Image):
        part = _correct_kind(part)
    kind = part.mime_type
    if kind not in kinds:
        return Text(text=f"[{kind}, {describe_base64_size(part.data)}: this model does not take it]")
    if not part.data.startswith(_BEGINNINGS.get(kind, "")) or not _is_base64(part.data):
        return Text(text=f"[{kind}: cannot be decoded]")
    return part


def _correct_kind(image: Image) -> Image:
    """An image under the kind that it is of. Providers refuse the conversation if it is another."""
    kinds = (kind for kind, beginning in _BEGINNINGS.items() if image.data.startswith(beginning))
    kind = next(kinds, image.mime_type)
    return image if kind == image.mime_type else replace(image, mime_type=kind)


def _is_base64(data: str) -> bool:
    try:
        b64decode(data, validate=True)
    except NotBase64:
        return False
    return True


def list_attached(results: Iterable[CallResult]) -> Iterator[Part]:
    """The images and sounds of results that cannot stand within them, each behind where it comes from."""
    for result in results:
        media = [part for part in result.parts if not isinstance(part, Text)]
        if media:
            yield Text(text=f"[From the result of {result.name}:]")
            yield from media


def find_opaque(block: ReplyBlock, message: ModelMessage, recipient: Recipient) -> Mapping[str, Any]:
    """What the provider wants back with a block, if it was this recipient that made it; else nothing.

    What was recorded through Pydantic AI doesn't say at which address it was made, only by which provider.
    """
    opaque = block.opaque
    if not opaque:
        return {}
    if ORIGIN in opaque:
        return opaque if opaque[ORIGIN] == recipient.origin else {}
    return opaque if find_maker(message.model) == find_maker(recipient.name) else {}


def find_maker(name: str) -> str:
    """The provider in the name of a model. Behind OpenRouter and Pydantic AI, the second word is a part of it."""
    word, _, model = name.partition(":")
    if word == "openrouter":
        return f"{word}:{model.partition('/')[0]}"
    if word == "pydantic-ai":
        return f"{word}:{model.partition(':')[0]}"
    return word


def write_arguments(arguments: str) -> str:
    """The arguments of a call for an API that takes them as text: as the model wrote them, if that is an object.

    vLLM, and Claude behind OpenRouter, refuse a conversation for some that are none.
    """
    return arguments if is_object(arguments) else encode({"INVALID_JSON": arguments}).decode()


def is_object(arguments: str) -> bool:
    """Whether the arguments of a call are complete: an object in JSON."""
    try:
        read_parts(PARTS, arguments.encode())
    except DecodeError:
        return False
    return True


def write_name(name: str) -> str:
    """The name of a called tool, as OpenAI takes it. A model can have called one that doesn't exist by any name."""
    return _OTHER_LETTERS.sub("_", name)[:_LONGEST_NAME] or "_"
