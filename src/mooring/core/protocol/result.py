"""What a server answers: results of tools, filled prompts, contents of resources, completions."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import UNSET, DecodeError, Raw, Struct, UnsetType

from mooring.core.protocol.content import Block, ResourceContents, Text, make_html
from mooring.core.protocol.raw import ABSENT, read
from mooring.errors import ProtocolError

_SHOWN = 3
"""How many content blocks a repr shows."""


class Result(Struct, frozen=True, gc=False):
    """What a tool answered. A failure of the tool itself is a result too, with `is_error`."""

    content: tuple[Block, ...] = ()
    is_error: bool = False
    raw: Raw | UnsetType = UNSET
    """The whole answer, as it arrived."""
    structured_content: Raw | UnsetType = UNSET
    server: str = ""
    tool: str = ""

    @property
    def text(self) -> str:
        """All of its text; blocks are separated by newlines."""
        return "\n".join(block.text for block in self.content if isinstance(block, Text))

    @property
    def structured(self) -> Any:
        """Its structured content as plain data, `None` if there is none. Raises: ProtocolError."""
        try:
            return read(self.structured_content)
        except DecodeError as error:
            reason = f"the structured result of {self.tool} cannot be read: {error}"
            raise ProtocolError(self.server, reason) from error

    def __repr__(self) -> str:
        error = "error, " if self.is_error else ""
        return f"<Result of {self.server}.{self.tool}: {error}{describe_blocks(self.content)}>"

    def _repr_html_(self) -> str:
        return make_html(self.content)


def describe_blocks(blocks: Sequence[object]) -> str:
    """A few content blocks on one line."""
    shown = ", ".join(map(repr, blocks[:_SHOWN]))
    more = f" and {len(blocks) - _SHOWN} more" if len(blocks) > _SHOWN else ""
    return f"{shown}{more}" or "nothing"


class Message(Struct, frozen=True):
    """One message of a prompt."""

    role: str
    content: Block


class FilledPrompt(Struct, frozen=True):
    """A prompt with its arguments filled in."""

    messages: tuple[Message, ...] = ()
    description: str | None = None
    raw: Raw | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"<FilledPrompt: {describe_blocks(self.messages)}>"


class Reading(Struct, frozen=True):
    """The contents of a resource, which may have several parts."""

    contents: tuple[ResourceContents, ...] = ()
    raw: Raw | UnsetType = UNSET

    def __repr__(self) -> str:
        return f"<Reading: {describe_blocks(self.contents)}>"


class Completion(Struct, frozen=True):
    """Values that an argument could be completed to."""

    values: tuple[str, ...] = ()
    total: int | None = None
    has_more: bool = False
    raw: Raw | UnsetType = UNSET


class TaskState(Struct, frozen=True):
    """What a server last said about a task that it makes of a call."""

    status: str
    message: str | None = None
    poll_interval: float | None = None
    """In milliseconds, how often it wants to be asked."""


class Progress(Struct, frozen=True):
    """How far a request has come."""

    progress: float
    total: float | None = None
    message: str | None = None


LOG_LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of log messages, least urgent first."""


class LogMessage(Struct, frozen=True):
    """A log message of a server."""

    level: str
    data: Any = None
    logger: str | None = None


_MAX_COMPARED = 4 * 1024 * 1024
"""Texts and structured content up to this size are parsed to find out whether they say the same."""


def find_unrepeated(result: Result) -> Raw | None:
    """The structured content, unless there is none or the text of the result repeats it."""
    raw = result.structured_content
    if not raw or bytes(raw) == b"null":
        return None
    texts = [block.text for block in result.content if isinstance(block, Text)]
    return None if _is_repeated(raw, texts) else raw


def _is_repeated(raw: Raw, texts: Sequence[str]) -> bool:
    if len(raw) > _MAX_COMPARED:
        whole = bytes(raw)
        return any(text.encode(errors="replace") == whole for text in texts if len(text) <= len(whole))
    value = _decode(raw)
    short = [text for text in texts if len(text) <= _MAX_COMPARED]
    if value is ABSENT or not short:
        return False
    if _is_said(value, short):
        return True
    # FastMCP wraps what isn't an object as {"result": …}, and server-filesystem as {"content": …}: the text is the bare
    # value. An object with one field that no text has is more than that, and is kept whole.
    return isinstance(value, dict) and all(_is_said(field, short) for field in value.values())


def _is_said(value: Any, texts: Sequence[str]) -> bool:
    """Whether one of the texts is this value, or all of them are the items of this list."""
    if any(_says(text, value) for text in texts):
        return True
    # Older FastMCP servers repeat a list as one text for each item.
    is_list = isinstance(value, list) and len(value) == len(texts) > 0
    return is_list and all(map(_says, texts, value))


def _says(text: str, value: Any) -> bool:
    """Whether a text is this value, or the JSON of it."""
    return bool(text == value or _decode(text.encode(errors="replace")) == value)


def _decode(text: bytes | Raw) -> Any:
    try:
        return read(text)
    except DecodeError:
        return ABSENT
