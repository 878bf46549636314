"""Tools pinned as they were when the person let them be called; what changes later, or is new, is held back and shown.

A pin belongs to a server's definition: the project's folder, or `user` for the person's own, with the name and the
digest of the definition. Another definition of that name is another server, and starts without a pin. What is pinned
of a tool is all that a model or a person goes by: name, title, description, schemas, hints. A tool that is gone is
missed by nobody, and must come back as it was.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256

import msgspec
from msgspec import DecodeError, Raw, Struct

from mooring import files
from mooring.core.approved import Approved
from mooring.core.problem import Problem
from mooring.core.raw import read as read_raw
from mooring.core.tool import Tool
from mooring.core.where import Where
from mooring.display.text import held_ways
from mooring.errors import FileError
from mooring.permissions.trust import digest, identity, read_record

USER = "user"
MOST_TEXT = files.MIB
"""So much is kept of a server's definitions to show what changed; of what goes beyond that, only a digest."""
MOST = 16 * files.MIB
MOST_LINES = 400
"""So many lines are compared, and so many shown of each side."""


class Key(Struct, frozen=True):
    """Which server: whose definition it is, its name, and the digest of the definition."""

    scope: str
    server: str
    digest: str


class PinnedTool(Struct, frozen=True):
    """A tool as it was; its text where there was room for it."""

    digest: str
    text: str | None = None


class Pin(Struct, frozen=True):
    """The tools of a server as they were approved."""

    key: Key
    tools: Mapping[str, PinnedTool] = {}
    at: str = ""
    version: int = 1


class ToolChange(Struct, frozen=True):
    """A tool that is not what was approved; `old` is `None` where it is new, or where its text was not kept."""

    tool: str
    new: str
    old: str | None = None

    @property
    def diff(self) -> str:
        """What changed, line by line. The server's own words: to be made safe before they are shown."""
        before = [] if self.old is None else _readable(self.old)
        return "\n".join(_diff(before, _readable(self.new)))


class Held(Struct, frozen=True):
    """The tools that wait for the person's word."""

    changed: tuple[ToolChange, ...] = ()
    new: tuple[ToolChange, ...] = ()

    @property
    def changes(self) -> tuple[ToolChange, ...]:
        return (*self.changed, *self.new)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(change.tool for change in self.changes)

    def __bool__(self) -> bool:
        return bool(self.changed or self.new)


def key(approved: Approved) -> Key | None:
    """Under which key a server's tools are pinned; `None` for one that a program gave, whose tools never are."""
    config = approved.config
    if config.origin.scope == "cli" and config.origin.path is None:
        return None
    scope = identity(approved.folder) if config.origin.scope == "project" else USER
    return Key(scope, config.name, digest(config))


def compare(pin: Pin | None, tools: Iterable[Tool]) -> Held:
    """What of these tools is not as it was approved; nothing where nothing was."""
    if pin is None:
        return Held()
    changed, new = [], []
    for tool in tools:
        text = definition(tool)
        known = pin.tools.get(tool.name)
        if known is None:
            new.append(ToolChange(tool.name, text))
        elif known.digest != _digest(text):
            changed.append(ToolChange(tool.name, text, known.text))
    return Held(tuple(changed), tuple(new))


def definition(tool: Tool) -> str:
    """All that a model or a person goes by, in one form whatever the order in which the server wrote it."""
    parts = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _plain(tool.input_schema),
        "outputSchema": _plain(tool.output_schema),
        "annotations": _given(msgspec.to_builtins(tool.annotations)) if tool.annotations else None,
    }
    return msgspec.json.encode(_given(parts), order="sorted").decode()


def look(where: Where, approved: Approved, tools: Iterable[Tool]) -> tuple[Held, Problem | None]:
    """What of a server's tools is not as approved, as far as that is on record; nothing is put there."""
    mine = key(approved)
    if mine is None:
        return Held(), None
    pin, problem = load(where, mine)
    return compare(pin, tools), problem


def load(where: Where, key: Key) -> tuple[Pin | None, Problem | None]:
    """The tools as they were approved, `None` if they never were.

    A record that cannot be read is a problem, and holds every tool back until they are approved anew.
    """
    path = _path(where, key)
    try:
        pin = read_record(path, Pin, MOST)
    except FileError as error:
        message = f"has a record of its approved tools that {error.reason}, so that all of them are held back"
        return Pin(key), Problem(path, message, held_ways(key.server), key.server)
    return (pin if pin is not None and pin.key == key else None), None


def first(where: Where, key: Key, tools: Iterable[Tool]) -> Pin:
    """Pin these tools, unless the server's tools are pinned already: then nothing changes.

    Raises:
        FileError: the record cannot be read or written.
    """
    path = _path(where, key)
    with files.locked(path):
        pin = read_record(path, Pin, MOST)
        if pin is not None and pin.key == key:
            return pin
        return _write(path, Pin(key), ((tool.name, definition(tool)) for tool in tools))


def approve(where: Where, key: Key, changes: Iterable[ToolChange]) -> Pin:
    """Pin the tools as they were shown, which need not be what the server says by now.

    A record that cannot be read is replaced: all tools were held back, so that all of them were shown.

    Raises:
        FileError: the record cannot be written.
    """
    path = _path(where, key)
    with files.locked(path):
        known, _ = load(where, key)
        return _write(path, known or Pin(key), ((change.tool, change.new) for change in changes))


def _write(path: str, pin: Pin, tools: Iterable[tuple[str, str]]) -> Pin:
    known = {**pin.tools, **{name: PinnedTool(_digest(text), text) for name, text in tools}}
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    made = Pin(pin.key, dict(_fitting(known)), at)
    files.write(path, msgspec.json.encode(made) + b"\n")
    return made


def _fitting(tools: Mapping[str, PinnedTool]) -> Iterator[tuple[str, PinnedTool]]:
    room = MOST_TEXT
    for name, pinned in tools.items():
        room -= len(pinned.text.encode()) if pinned.text else 0
        yield name, pinned if room >= 0 else PinnedTool(pinned.digest)


def _path(where: Where, key: Key) -> str:
    name = _digest("\0".join((key.scope, key.server)))[:32]
    return f"{where.state}/pins/{name}.json"


def _digest(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def _given(parts: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in parts.items() if value is not None}


def _plain(raw: Raw) -> object:
    """A schema as plain data, or as it stands where it cannot be read."""
    try:
        return read_raw(raw)
    except DecodeError:
        return bytes(raw).decode("utf-8", "replace")


def _readable(text: str) -> list[str]:
    try:
        data = json.loads(text)
        description = str(data.pop("description", ""))
        schema = json.dumps(data, indent=2, ensure_ascii=False).splitlines()
    except RecursionError:
        return [text]
    return [*(f"description: {line}" for line in description.splitlines()), *schema]


def _diff(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    if len(old) <= MOST_LINES and len(new) <= MOST_LINES:
        from difflib import unified_diff  # only when something is held back

        yield from list(unified_diff(old, new, lineterm="", n=2))[2:]
        return
    start = _common(old, new)
    end = _common(old[: start - 1 if start else None : -1], new[: start - 1 if start else None : -1])
    for mark, lines in (("-", old[start : len(old) - end]), ("+", new[start : len(new) - end])):
        yield from (f"{mark}{line}" for line in lines[:MOST_LINES])
        if len(lines) > MOST_LINES:
            yield f"{mark}… and {len(lines) - MOST_LINES} more lines"


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """How many lines both begin with."""
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
