"""What a server says about itself, and what it offers: tools, resources, resource templates and prompts."""

import json
import re
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import DecodeError, Raw, Struct, field

from mooring.core.protocol.era import EraName
from mooring.core.protocol.raw import ABSENT, read
from mooring.core.protocol.units import OFFER_LIFE
from mooring.errors import ProtocolError


class Implementation(Struct, frozen=True, rename="camel"):
    """The name and version of a program."""

    name: str = ""
    version: str = ""
    title: str | None = None
    website_url: str | None = None


class ServerInfo(Struct, frozen=True, rename="camel"):
    """The revision agreed on, who the server is, what it can do, and its instructions for use."""

    protocol_version: str
    capabilities: dict[str, Any] = {}
    server_info: Implementation = field(default_factory=Implementation)
    instructions: str | None = None

    def __repr__(self) -> str:
        info = self.server_info
        return f"<ServerInfo of {info.name!r} {info.version!r}, {self.protocol_version}>"

    def offers(self, *path: str) -> bool:
        """Whether the capability at the end of `path` is declared, as in `offers("resources", "subscribe")`."""
        declared: Any = self.capabilities
        for name in path:
            if not isinstance(declared, dict):
                return False
            declared = declared.get(name)
        # `{}` declares a capability; `false` and `null` do not.
        return declared is not None and declared is not False


T = TypeVar("T")

Pair: TypeAlias = tuple[str, str]
"""A server's name and the raw name of its tool: the key that rules, pins, logs and calls use."""
TaskSupport: TypeAlias = Literal["forbidden", "optional", "required"]


class Hints(Struct, frozen=True, rename="camel", omit_defaults=True):
    """What a server claims about its tool; `None` where it says nothing. Not to be relied on."""

    title: str | None = None
    read_only_hint: bool | None = None
    destructive_hint: bool | None = None
    idempotent_hint: bool | None = None
    open_world_hint: bool | None = None


class Execution(Struct, frozen=True, rename="camel", omit_defaults=True):
    """Whether a tool may or must be called as a task."""

    task_support: TaskSupport = "forbidden"


class _Described(Struct, frozen=True, rename="camel", kw_only=True, omit_defaults=True):
    # omit_defaults: a field that was not sent is empty bytes, and JSON with empty bytes in the middle is not JSON.
    title: str | None = None
    description: str | None = None
    icons: Raw = ABSENT
    meta: Raw = field(default=ABSENT, name="_meta")


class Tool(_Described, frozen=True):
    """One tool; its schemas stay bytes until somebody reads them."""

    name: str
    input_schema: Raw
    output_schema: Raw = ABSENT
    annotations: Hints | None = None
    execution: Execution | None = None

    def __repr__(self) -> str:
        return f"<ListedTool {self.name!r}>"

    @property
    def schema(self) -> dict[str, Any]:
        """The schema of its arguments. Raises: ProtocolError if it cannot be read."""
        return _read_schema(self.name, self.input_schema)

    @property
    def result_schema(self) -> dict[str, Any] | None:
        """The schema of its structured result, if it has one. Raises: ProtocolError."""
        return _read_schema(self.name, self.output_schema) if self.output_schema else None


class Resource(_Described, frozen=True):
    """One resource that can be read by its URI."""

    uri: str
    name: str = ""
    mime_type: str | None = None
    size: float | None = None
    annotations: Raw = ABSENT

    def __repr__(self) -> str:
        return f"<Resource {self.uri!r}>"


class ResourceTemplate(_Described, frozen=True):
    """A pattern of URIs of resources."""

    uri_template: str
    name: str = ""
    mime_type: str | None = None
    annotations: Raw = ABSENT

    def __repr__(self) -> str:
        return f"<ResourceTemplate {self.uri_template!r}>"


class Argument(Struct, frozen=True, omit_defaults=True):
    """One argument of a prompt."""

    name: str
    title: str | None = None
    description: str | None = None
    required: bool | None = None


class Prompt(_Described, frozen=True):
    """One prompt with arguments to fill in."""

    name: str
    arguments: tuple[Argument, ...] | None = None

    def __repr__(self) -> str:
        names = ", ".join(argument.name for argument in self.arguments or ())
        return f"<Prompt {self.name!r} ({names})>"


class Item(Struct, frozen=True):
    """One resource, template or prompt, and the server that has it."""

    server: str
    item: Resource | ResourceTemplate | Prompt


class Rejected(Struct, frozen=True):
    """An entry of a list that cannot be used, and why; the other entries can."""

    name: str
    reason: str


class Listing(Struct, Generic[T], frozen=True):
    """What a server listed; `note` says why the rest is missing, if some is.

    `ttl` is how many seconds the list may be kept, and `shared` whether it is the same for every user. Both are what
    the server says, and `None` if it says nothing.
    """

    items: tuple[T, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    note: str = ""
    ttl: float | None = None
    shared: bool | None = None


def _read_schema(name: str, raw: Raw) -> dict[str, Any]:
    try:
        schema = read(raw)
    except DecodeError as error:
        raise ProtocolError("The server", f"a schema of the tool {name!r} cannot be read: {error}") from error
    return schema if isinstance(schema, dict) else {}


BELIEVED = 3600.0
"""How many seconds a list is believed whose server gave it no time at all."""


class Offer(Struct, frozen=True, kw_only=True):
    """What a server said about itself and listed; a list is `None` if nobody has asked for it yet."""

    hello: ServerInfo
    era: EraName
    at: float
    """When its tools were listed, in seconds since 1970."""
    refused_era: EraName | None = None
    """The era that it was found not to speak; `None` if it may speak both."""
    tools: Listing[Tool] = Listing()
    resources: Listing[Resource] | None = None
    templates: Listing[ResourceTemplate] | None = None
    prompts: Listing[Prompt] | None = None
    transport: Literal["http", "sse"] | None = None
    """How it was reached; `None` for a program."""

    def fresh(self, now: float) -> bool:
        """Whether its tools may be offered without asking the server again.

        Servers of the older era know no time to live; their lists are kept. A time of zero is not taken literally: the
        newest SDKs send it unless told otherwise, and every `mooring tools` would start those servers again.
        """
        ttl = self.tools.ttl
        life = OFFER_LIFE if ttl is None else min(OFFER_LIFE, ttl or BELIEVED)
        return 0 <= now - self.at < life

    def usable(self, now: float) -> bool:
        """Whether its tools may still be offered while the server cannot be reached."""
        return 0 <= now - self.at < OFFER_LIFE


def canonicalize(tool: Tool) -> str:
    """Everything that a model or a person relies on, in one form, however the server orders it."""
    parts = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _decode_schema(tool.input_schema),
        "outputSchema": _decode_schema(tool.output_schema),
        "annotations": msgspec.to_builtins(tool.annotations) if tool.annotations else None,
    }
    said = {name: value for name, value in parts.items() if value is not None}
    return msgspec.json.encode(said, order="sorted").decode()


def means_the_same(one: Tool, other: Tool) -> bool:
    """Whether two definitions differ at most in what makes no difference to a reader."""
    texts = canonicalize(one), canonicalize(other)
    return texts[0] == texts[1] or find_meaning(texts[0]) == find_meaning(texts[1])


def find_meaning(text: str) -> str:
    """A canonical text without what makes no difference to a reader.

    That is the order of enums and of required properties, whitespace in descriptions, and the order of a list of single
    words in one, such as `Allowed commands: ls, cat`. Any other order may matter.
    """
    try:
        return msgspec.json.encode(simplify(json.loads(text)), order="sorted").decode()
    except RecursionError:  # a schema may be nested deeper than Python can follow
        return text


def simplify(value: object) -> object:
    """The same without what makes no difference to a reader; see `find_meaning`."""
    if isinstance(value, list):
        return [simplify(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _simplify_entry(key, item) for key, item in value.items()}


def _simplify_entry(key: str, value: object) -> object:
    if key in ("enum", "required") and isinstance(value, list):
        return sorted(value, key=lambda item: json.dumps(item, sort_keys=True))
    if key in ("description", "title") and isinstance(value, str):
        return " ".join(find_lines(value))
    # This is data, not a schema: a `description` inside it is a value like any other.
    if key in ("const", "default", "examples"):
        return value
    return simplify(value)


_WORD = r"[^\s,;:()\[\]]*[^\s,;:()\[\].]"
# From the beginning of a line, a colon or a bracket to the end of one: in running text, order is part of the meaning.
_WORD_LIST = rf"(?<=[:(\[])[ ]?{_WORD}(?:, ?{_WORD})+(?=\.?$|[.;]?[)\]])|^{_WORD}(?:, ?{_WORD})+(?=\.?$)"


def find_lines(text: str) -> list[str]:
    """The lines of a description that hold something, with single blanks, and lists of single words in order."""
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return [re.sub(_WORD_LIST, _sort_words, line) for line in lines if line]


def _sort_words(found: re.Match[str]) -> str:
    words = sorted(map(str.strip, found[0].split(",")))
    blank = " " if found[0].startswith(" ") else ""
    return blank + ", ".join(words)


def _decode_schema(raw: Raw) -> object:
    """A schema as plain data, or as text if it cannot be decoded."""
    try:
        return read(raw)
    except (DecodeError, RecursionError):
        return bytes(raw).decode("utf-8", "replace")
