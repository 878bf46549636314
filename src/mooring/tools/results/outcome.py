"""What a tool answered, in the form that a model takes. No I/O: results go in, pieces and previews come out.

Texts stay texts, pictures and sounds are passed on if the model takes them, links and embedded resources are put into
words, structured content is given once. Anything else that is binary becomes a `Blob`, to be kept in a file.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, TypeAlias

from msgspec import UNSET, Struct, json

from mooring.core.conversation.outcome import Part
from mooring.core.protocol.content import Audio, Block, Embedded, Image, Other, ResourceContents, ResourceLink, Text
from mooring.core.protocol.result import Reading, Result, find_unrepeated
from mooring.core.text.glob import Glob
from mooring.errors import MooringError, ServerError

Media: TypeAlias = Literal["image", "audio"]

DEFAULT_TOKENS = 25_000
"""How many tokens of text, by estimate, are given at once unless a setting says otherwise."""
MAX_MEDIA = 20
"""How many pictures and sounds of one result are given; the others are kept in files."""
MAX_MEDIA_BYTES = 5 * 1024 * 1024
"""No model takes a larger picture or sound."""
_MAX_KIND = 100
_CHUNK = 1024 * 1024
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""The only kinds of pictures that models take."""


class Blob(Struct, frozen=True):
    """Something in Base64 that can't be passed on as it is."""

    what: str
    data: str
    kind: str | None = None

    @property
    def label(self) -> str:
        kind = f" {self.kind[:_MAX_KIND]}" if self.kind else ""
        return f"{self.what}{kind}, {_decoded_size(self.data):,} bytes"


Piece: TypeAlias = Part | Blob


def split_result(result: Result, takes: Collection[Media]) -> list[Piece]:
    """Everything in a result, in order; the text of a tool's own failure begins with `Error: `."""
    pieces = _split_blocks(result.content, takes)
    structured = find_unrepeated(result)
    if structured is not None:
        pieces.append(Text(bytes(structured).decode(errors="replace")))
    if result.is_error:
        return _mark_as_error(pieces)
    is_empty = all(isinstance(piece, Text) and not piece.text for piece in pieces)
    return [Text("(It answered, with nothing in it.)")] if is_empty else pieces


def describe_failure(error: MooringError) -> str:
    """What a model is told about a failed call: whether the server failed, or the model can do something about it."""
    kind = "MCP error" if isinstance(error, ServerError) else "Error"
    return f"{kind}: {error.describe_for_model()}"


def result_of_reading(reading: Reading, server: str, uri: str) -> Result:
    """The contents of a resource, as if a tool had answered with them."""
    content = tuple(Embedded(contents) for contents in reading.contents)
    return Result(content, False, reading.raw, UNSET, server, uri)


def json_result(value: Any) -> Result:
    """The answer of one of Mooring's own tools: data, as JSON."""
    return Result((Text(json.encode(value).decode()),))


def find_budget(setting: float | Mapping[str, float], server: str | None, tool: str) -> int:
    """How many tokens a result of this tool may have: one number for all, or that of the first glob that matches."""
    if not isinstance(setting, Mapping):
        return int(setting)
    name = tool if server is None else f"{server}.{tool}"
    for glob, tokens in setting.items():
        if _compile(glob).matches(name):
            return int(tokens)
    return DEFAULT_TOKENS


_compile = lru_cache(256)(Glob)
"""Cached, because every result asks again for the same few globs of a setting."""


# --- texts, and the two ends of long ones -------------------------------------------------------------------


def select_texts(pieces: Iterable[Piece]) -> list[str]:
    return [piece.text for piece in pieces if isinstance(piece, Text)]


def count_bytes(texts: Sequence[str]) -> int:
    """How many bytes the texts have together, one per line. Nothing long is copied whole."""
    newlines = max(0, len(texts) - 1)
    return sum(map(_count_bytes, texts)) + newlines


def count_lines(texts: Iterable[str]) -> int:
    return sum(text.count("\n") + 1 for text in texts)


def cut_ends(texts: Sequence[str], max_bytes: int, max_lines: int | None = None) -> tuple[str, str]:
    """The beginning and the end of texts that are too long together: two thirds and one third of what may be shown."""
    head = _cut_head(texts, max_bytes * 2 // 3)
    tail = _cut_tail(texts, max_bytes // 3)
    if max_lines is None:
        return head, tail
    head_lines = head.split("\n")[: max_lines * 2 // 3]
    tail_lines = tail.split("\n")[-(max_lines // 3) :]
    return "\n".join(head_lines), "\n".join(tail_lines)


def join_texts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The parts with neighboring texts joined into one."""
    joined: list[Part] = []
    for part in parts:
        if not isinstance(part, Text):
            joined.append(part)
        elif joined and isinstance(before := joined[-1], Text):
            joined[-1] = Text(f"{before.text}\n{part.text}")
        else:
            joined.append(Text(part.text))
    return tuple(joined)


def _count_bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(len(text[at : at + _CHUNK].encode(errors="replace")) for at in range(0, len(text), _CHUNK))


def _cut_head(texts: Iterable[str], max_bytes: int) -> str:
    # A character has at least one byte, so no more characters than bytes are needed of any text.
    taken = _cut_enough((text[:max_bytes] for text in texts), max_bytes)
    return "\n".join(taken).encode(errors="replace")[:max_bytes].decode(errors="ignore")


def _cut_tail(texts: Sequence[str], max_bytes: int) -> str:
    if max_bytes <= 0:
        return ""
    taken = _cut_enough((text[-max_bytes:] for text in reversed(texts)), max_bytes)
    return "\n".join(reversed(taken)).encode(errors="replace")[-max_bytes:].decode(errors="ignore")


def _cut_enough(texts: Iterable[str], characters: int) -> list[str]:
    """The first texts, until they have more characters than that."""
    taken: list[str] = []
    for text in texts:
        taken.append(text)
        characters -= len(text) + 1
        if characters < 0:
            break
    return taken


# --- each kind of content -----------------------------------------------------------------------------------


def _split_blocks(content: Iterable[Block], takes: Collection[Media]) -> list[Piece]:
    """The pieces of all blocks; pictures and sounds beyond the limit become blobs."""
    pieces = list(chain.from_iterable(_split_block(block, takes) for block in content))
    media = [(at, piece) for at, piece in enumerate(pieces) if isinstance(piece, Image | Audio)]
    for at, piece in media[MAX_MEDIA:]:
        pieces[at] = _as_blob(piece)
    return pieces


def _split_block(block: Block, takes: Collection[Media]) -> Iterator[Piece]:
    match block:
        case Text(text=text):
            yield Text(text)
        case Image() | Audio():
            yield _pass_media(block, takes)
        case ResourceLink():
            yield Text(_describe_link(block))
        case Embedded(resource=resource):
            yield from _split_resource(resource, takes)
        case Other(raw=raw):
            # A kind that a later version of the protocol may bring: the model gets it as it came.
            yield Text(bytes(raw).decode(errors="replace"))


def is_viewable(block: Image | Audio, takes: Collection[Media]) -> bool:
    """Whether a model can be given this as it is."""
    if _decoded_size(block.data) > MAX_MEDIA_BYTES:
        return False
    if isinstance(block, Audio):
        return "audio" in takes
    return "image" in takes and block.mime_type in _PICTURES


def _pass_media(block: Image | Audio, takes: Collection[Media]) -> Piece:
    if not is_viewable(block, takes):
        return _as_blob(block)
    # Made anew without annotations and metadata: those are for clients, not for models.
    return type(block)(data=block.data, mime_type=block.mime_type)


def _as_blob(block: Image | Audio) -> Blob:
    return Blob("image" if isinstance(block, Image) else "audio", block.data, block.mime_type)


def _decoded_size(data: str) -> int:
    """How many bytes there are in a text of Base64."""
    return len(data) * 3 // 4


def _describe_link(link: ResourceLink) -> str:
    details = "; ".join(filter(None, (link.title, link.mime_type, link.description)))
    suffix = f" ({details})" if details else ""
    return f"[resource {link.name or link.uri}: {link.uri}{suffix}]"


def _split_resource(resource: ResourceContents, takes: Collection[Media]) -> Iterator[Piece]:
    kind = resource.mime_type or ""
    if resource.blob is None:
        yield from (Text(f"[resource {resource.uri}]"), Text(resource.text or ""))
    elif kind in _PICTURES and "image" in takes:
        yield Text(f"[resource {resource.uri}]")
        yield _pass_media(Image(data=resource.blob, mime_type=kind), takes)
    else:
        yield Blob(f"resource {resource.uri}", resource.blob, resource.mime_type)


def _mark_as_error(pieces: list[Piece]) -> list[Piece]:
    """The pieces with the first text in front, and that beginning with `Error: `."""
    for at, piece in enumerate(pieces):
        if isinstance(piece, Text):
            words = f"Error: {piece.text.removeprefix('Error: ')}"
            return [Text(words), *pieces[:at], *pieces[at + 1 :]]
    return [Text("Error: the tool failed and did not say why."), *pieces]
