"""What a tool answered, as a model takes it. Pure: results go in, pieces and previews come out.

Text is joined, pictures and sounds are passed on where the model takes them, links and carried resources are kept,
structured content is given once. What is no text and cannot be passed on is left as a `Blob`, to be put in a file.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Literal, TypeAlias

from msgspec import DecodeError, Raw, Struct, json

from mooring.core.content import Audio, Block, Embedded, Image, Other, ResourceContents, ResourceLink, Text
from mooring.core.outcome import Part
from mooring.core.raw import ABSENT, read
from mooring.core.result import Reading, Result
from mooring.errors import MooringError, ServerError

Media: TypeAlias = Literal["image", "audio"]

DEFAULT_TOKENS = 25_000
"""So many tokens of text, by estimate, are given where no setting says otherwise."""
BYTES_PER_TOKEN = 4
MAX_MEDIA = 20
MAX_MEDIA_BYTES = 5 * 1024 * 1024
"""A picture or a sound of more bytes is taken by no model."""
_COMPARED = 4 * 1024 * 1024
_LONGEST_KIND = 100
_CHUNK = 1024 * 1024
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Blob(Struct, frozen=True):
    """Something in Base64 that cannot be passed on as it is."""

    what: str
    data: str
    kind: str | None = None

    @property
    def label(self) -> str:
        kind = f" {self.kind[:_LONGEST_KIND]}" if self.kind else ""
        return f"{self.what}{kind}, {len(self.data) * 3 // 4:,} bytes"


Piece: TypeAlias = Part | Blob


def split_result(result: Result, takes: Collection[Media]) -> list[Piece]:
    """All that a result says, in order; the text of a tool's own failure begins with `Error: `."""
    found = [*_blocks(result.content, takes), *_structured(result)]
    if result.is_error:
        return _as_error(found)
    said = any(not isinstance(piece, Text) or piece.text for piece in found)
    return found if said else [Text("(It answered, with nothing in it.)")]


def describe_failure(error: MooringError) -> str:
    """What a model is told of a call that came to nothing: the server's fault, or something to do otherwise."""
    return f"{'MCP error' if isinstance(error, ServerError) else 'Error'}: {error}"


def result_of_reading(reading: Reading, server: str, uri: str) -> Result:
    """What stands in a resource, as if a tool had answered it."""
    return Result(tuple(Embedded(contents) for contents in reading.contents), False, reading.raw, ABSENT, server, uri)


def find_budget(setting: float | Mapping[str, float], server: str | None, tool: str) -> int:
    """How many tokens a result of this tool may have: one number for all, or the first glob that names it."""
    if not isinstance(setting, Mapping):
        return int(setting)
    name = tool if server is None else f"{server}.{tool}"
    return int(next((tokens for glob, tokens in setting.items() if fnmatchcase(name, glob)), DEFAULT_TOKENS))


# --- what is too long ---------------------------------------------------------------------------------------


def select_texts(found: Iterable[Piece]) -> list[str]:
    return [piece.text for piece in found if isinstance(piece, Text)]


def count_bytes(some: Iterable[str]) -> int:
    """How many bytes the texts are, one a line; nothing long is copied whole."""
    return sum(map(_bytes, some)) + max(0, len(list(some)) - 1)


def make_preview(some: Sequence[str], most: int, left_out: str) -> str:
    """The two ends of texts that are too long together, with words between them on what is not there."""
    head, tail = _head(some, most * 2 // 3), _tail(some, most // 3)
    return f"{head}\n\n[{left_out}]\n\n{tail}"


def join_texts(parts: Iterable[Part]) -> tuple[Part, ...]:
    """The same with neighbouring texts made one."""
    made: list[Part] = []
    for part in parts:
        if made and isinstance(part, Text) and isinstance(before := made[-1], Text):
            made[-1] = Text(f"{before.text}\n{part.text}")
        else:
            made.append(Text(part.text) if isinstance(part, Text) else part)
    return tuple(made)


def _bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(len(text[at : at + _CHUNK].encode(errors="replace")) for at in range(0, len(text), _CHUNK))


def _head(some: Iterable[str], most: int) -> str:
    taken = _enough((text[:most] for text in some), most)
    return "\n".join(taken).encode(errors="replace")[:most].decode(errors="ignore")


def _tail(some: Sequence[str], most: int) -> str:
    if most <= 0:
        return ""
    taken = _enough((text[-most:] for text in reversed(some)), most)
    return "\n".join(reversed(taken)).encode(errors="replace")[-most:].decode(errors="ignore")


def _enough(some: Iterable[str], most: int) -> list[str]:
    """The first of these, as many as make up so many characters."""
    taken: list[str] = []
    for text in some:
        taken.append(text)
        most -= len(text) + 1
        if most < 0:
            break
    return taken


# --- each kind of content -----------------------------------------------------------------------------------


def _blocks(content: Iterable[Block], takes: Collection[Media]) -> list[Piece]:
    found = [piece for block in content for piece in _block(block, takes)]
    media = [piece for piece in found if isinstance(piece, Image | Audio)]
    if len(media) <= MAX_MEDIA:
        return found
    over = {id(piece) for piece in media[MAX_MEDIA:]}
    return [_blob(piece) if isinstance(piece, Image | Audio) and id(piece) in over else piece for piece in found]


def _block(block: Block, takes: Collection[Media]) -> Iterator[Piece]:
    match block:
        case Text(text=text):
            yield Text(text)
        case Image() | Audio():
            yield _media(block, takes)
        case ResourceLink():
            yield Text(_link(block))
        case Embedded(resource=resource):
            yield from _resource(resource, takes)
        case Other(raw=raw):
            yield Text(bytes(raw).decode(errors="replace"))


def is_viewable(block: Image | Audio, takes: Collection[Media]) -> bool:
    """Whether a model can be given it as it is."""
    if len(block.data) * 3 // 4 > MAX_MEDIA_BYTES:
        return False
    return "audio" in takes if isinstance(block, Audio) else "image" in takes and block.mime_type in _PICTURES


def _media(block: Image | Audio, takes: Collection[Media]) -> Piece:
    if not is_viewable(block, takes):
        return _blob(block)
    match block:
        case Image(data=data, mime_type=kind):
            return Image(data=data, mime_type=kind)
        case Audio(data=data, mime_type=kind):
            return Audio(data=data, mime_type=kind)


def _blob(block: Image | Audio) -> Blob:
    return Blob("image" if isinstance(block, Image) else "audio", block.data, block.mime_type)


def _link(link: ResourceLink) -> str:
    about = "; ".join(part for part in (link.title, link.mime_type, link.description) if part)
    return f"[resource {link.name or link.uri}: {link.uri}{f' ({about})' if about else ''}]"


def _resource(resource: ResourceContents, takes: Collection[Media]) -> Iterator[Piece]:
    if resource.blob is None:
        yield Text(f"[resource {resource.uri}]")
        yield Text(resource.text or "")
        return
    kind = resource.mime_type or ""
    if kind in _PICTURES and "image" in takes:
        yield Text(f"[resource {resource.uri}]")
        yield _media(Image(data=resource.blob, mime_type=kind), takes)
        return
    yield Blob(f"resource {resource.uri}", resource.blob, resource.mime_type)


# --- structured content, once -------------------------------------------------------------------------------


def _structured(result: Result) -> Iterator[Piece]:
    raw = result.structured_content
    if raw and bytes(raw) != b"null" and not _repeated(raw, [b.text for b in result.content if isinstance(b, Text)]):
        yield Text(bytes(raw).decode(errors="replace"))


def _repeated(raw: Raw, said: Iterable[str]) -> bool:
    """Whether a text says what the structured content says, as servers do for clients that know no such thing."""
    if len(raw) > _COMPARED:
        return any(text.encode(errors="replace") == bytes(raw) for text in said if len(text) <= len(raw))
    value = _read(raw)
    wrapped = value["result"] if isinstance(value, dict) and value.keys() == {"result"} else ABSENT
    return any(_says(text, value) or _says(text, wrapped) for text in said if len(text) <= _COMPARED)


def _says(text: str, value: Any) -> bool:
    return value is not ABSENT and (text == value or _read(text.encode(errors="replace")) == value)


def _read(text: bytes | Raw) -> Any:
    try:
        return read(text)
    except DecodeError:
        return ABSENT


def _as_error(found: list[Piece]) -> list[Piece]:
    for at, piece in enumerate(found):
        if isinstance(piece, Text):
            words = piece.text if piece.text.startswith("Error: ") else f"Error: {piece.text}"
            return [Text(words), *found[:at], *found[at + 1 :]]
    return [Text("Error: the tool failed and did not say why."), *found]


def json_result(value: Any) -> Result:
    """An answer of one of Mooring's own tools: data, as JSON."""
    return Result((Text(json.encode(value).decode()),))
