"""Tools pinned as they were when the person allowed them; what changes later, or is new, is held back and shown.

A server can describe its tools harmlessly when it is approved and differently afterwards. So all that a model or a
person goes by is pinned: name, title, description, schemas, hints, and what the server says about how to use them. What
is compared is what it means: mcp-shell-server and cli-mcp-server, for two, list the same commands in another order at
each start. A tool that is gone is not missed, and has to come back as it was.

A pin belongs to a server's definition: the project's folder, or `user` for the person's own, with the name and the
digest of the definition. Another definition of that name is another server, and starts without a pin. Each server has a
file of its own in `pins/` in the person's state folder, so that no project can write one.
"""

import asyncio
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.tool import Tool, canonicalize, find_lines, find_meaning, simplify
from mooring.core.protocol.units import MIB
from mooring.display.text import advise_on_held_back
from mooring.errors import FileError
from mooring.files.record import read_own_record, write_own_record
from mooring.permissions.trust import digest, identify_project

USER = "user"
MAX_TEXT = MIB
"""How much of a server's definitions is kept to show what changed; beyond that, only digests are kept."""
MAX_BYTES = 16 * MIB
MAX_INSTRUCTIONS = 64 * 1024
"""How much of what a server says about itself is kept for that."""
MAX_LINES = 400
"""How many lines are compared, and how many are shown of each side."""


class PinKey(Struct, frozen=True):
    """Which server: whose definition it is, its name, and the digest of the definition."""

    scope: str
    server: str
    digest: str


class PinnedTool(Struct, frozen=True):
    """A tool as it was approved; its text if there was room for it."""

    digest: str
    text: str | None = None
    meaning: str = ""
    """The digest of what it means."""


class Pin(Struct, frozen=True):
    """The tools of a server as they were approved."""

    key: PinKey
    tools: Mapping[str, PinnedTool] = {}
    at: str = ""
    version: int = 1
    off: bool = False
    """The person turned pinning off for this server: whatever it lists may be called."""
    instructions: PinnedTool | None = None
    """What it said about how to use it; `None` if it said nothing, or in records from before this was kept."""


class ToolChange(Struct, frozen=True):
    """A tool that is not what was approved; `old` is `None` if it is new, or if its text was not kept."""

    tool: str
    """Its name; empty for the instructions of the server."""
    new: str
    old: str | None = None

    @property
    def diff(self) -> str:
        """What changed, line by line. These are the server's own words: make them safe before you show them."""
        old_lines = [] if self.old is None else _to_lines(self.old)
        return "\n".join(_diff(old_lines, _to_lines(self.new)))


class HeldTools(Struct, frozen=True):
    """The tools of a server that are held back until the person approves them."""

    changed: tuple[ToolChange, ...] = ()
    new: tuple[ToolChange, ...] = ()
    instructions: ToolChange | None = None
    """What the server says about how to use it, if that has changed: no model is told, and its tools go on."""

    @property
    def changes(self) -> tuple[ToolChange, ...]:
        return (*self.changed, *self.new)

    @property
    def names(self) -> frozenset[str]:
        return frozenset(change.tool for change in self.changes)

    def __bool__(self) -> bool:
        return bool(self.changed or self.new or self.instructions)


def make_key(approved: Approved) -> PinKey | None:
    """The key of a server's pin; `None` for a server that a program passed in, whose tools are never pinned."""
    config = approved.config
    origin = config.origin
    if origin.scope == "cli" and origin.path is None:
        return None
    scope = identify_project(approved.folder) if origin.scope == "project" else USER
    return PinKey(scope, config.name, digest(config))


def compare(pin: Pin | None, tools: Iterable[Tool], instructions: str = "") -> HeldTools:
    """Which of these tools, and of these instructions, are not as they were approved; none if nothing was yet."""
    if pin is None or pin.off:
        return HeldTools()
    changed, new = [], []
    for tool in tools:
        text = canonicalize(tool)
        pinned = pin.tools.get(tool.name)
        if pinned is None:
            new.append(ToolChange(tool.name, text))
        elif not _means_the_same(pinned, text):
            changed.append(ToolChange(tool.name, text, pinned.text))
    return HeldTools(tuple(changed), tuple(new), _compare_instructions(pin, instructions))


def _compare_instructions(pin: Pin, instructions: str) -> ToolChange | None:
    # One that says nothing misleads nobody.
    if pin.instructions is None or not instructions.strip():
        return None
    text = _write_instructions(instructions)
    return None if _means_the_same(pin.instructions, text) else ToolChange("", text, pin.instructions.text)


def _write_instructions(instructions: str) -> str:
    return json.dumps({"description": instructions})


def _means_the_same(pinned: PinnedTool, text: str) -> bool:
    # The text alone decides almost always, and reading what it means costs more.
    if pinned.digest == _digest_text(text):
        return True
    meaning = _digest_text(find_meaning(text))
    return meaning == (pinned.meaning or (_digest_text(find_meaning(pinned.text)) if pinned.text else ""))


def check_tools(where: Paths, approved: Approved, tools: Iterable[Tool]) -> tuple[HeldTools, Problem | None]:
    """Which of a server's tools are not as approved, according to the record; writes nothing."""
    key = make_key(approved)
    if key is None:
        return HeldTools(), None
    pin, problem = load(where, key)
    return compare(pin, tools), problem


def load(where: Paths, key: PinKey) -> tuple[Pin | None, Problem | None]:
    """The tools as they were approved, `None` if they never were.

    A record that cannot be read is a problem, and holds every tool back until they are approved again.
    """
    path = _record_path(where, key)
    try:
        pin = read_own_record(path, Pin, MAX_BYTES)
    except FileError as error:
        message = f"has a record of its approved tools that {error.reason}, so all of them are held back"
        # A pin without tools, not `None`: damaging the file must not lift what it held back.
        return Pin(key), Problem(path, message, error.fix or advise_on_held_back(key.server), key.server)
    if pin is None or pin.key != key:
        return None, None
    return pin, None


def pin_tools(where: Paths, key: PinKey, tools: Iterable[Tool], instructions: str = "") -> Pin:
    """Pin these tools and instructions, unless the server's tools are pinned already: then nothing changes.

    Raises:
        FileError: the record cannot be read or written.
    """
    path = _record_path(where, key)
    with files.locked(path):
        # Read again under the lock: of two programs that pin at the same time, the first wins.
        pin = read_own_record(path, Pin, MAX_BYTES)
        if pin is not None and pin.key == key:
            return pin
        texts = {each.name: canonicalize(each) for each in tools}
        return _write(path, _pin_instructions(Pin(key), instructions), texts)


def adopt_instructions(where: Paths, key: PinKey, instructions: str) -> Pin | None:
    """Add what a server says about itself to a pin that has nothing of that; the pin as it is then.

    Raises:
        FileError: the record cannot be read or written.
    """
    path = _record_path(where, key)
    with files.locked(path):
        pin = read_own_record(path, Pin, MAX_BYTES)
        if pin is None or pin.key != key:
            return None
        if pin.instructions is None:
            pin = _pin_instructions(pin, instructions)
            write_own_record(path, pin)
        return pin


def switch(where: Paths, key: PinKey, *, off: bool) -> Pin | None:
    """Turn pinning off for a server, or on again; then its tools are pinned again with the next call that is allowed.

    Raises:
        FileError: the record cannot be written.
    """
    path = _record_path(where, key)
    with files.locked(path):
        if off:
            return _write(path, Pin(key, off=True), {})
        with suppress(FileNotFoundError):
            os.unlink(path)
        return None


def approve(where: Paths, key: PinKey, changes: Iterable[ToolChange], instructions: ToolChange | None = None) -> Pin:
    """Pin the tools and instructions as they were shown, even if the server describes them differently by now.

    A record that cannot be read is replaced: all tools were held back, so all of them were shown.

    Raises:
        FileError: the record cannot be written.
    """
    path = _record_path(where, key)
    with files.locked(path):
        pin, _ = load(where, key)
        pin = pin or Pin(key)
        if instructions is not None:
            pin = replace(pin, instructions=_pin_text(instructions.new, MAX_INSTRUCTIONS))
        return _write(path, pin, {change.tool: change.new for change in changes})


def find_folder(where: Paths) -> str:
    """The folder with the records of all servers."""
    return f"{where.state}/pins"


# --- the record -----------------------------------------------------------------------------------------------------


def _record_path(where: Paths, key: PinKey) -> str:
    # Not the digest of the definition: a new definition of a name replaces the record of the old one.
    name = _digest_text("\0".join((key.scope, key.server)))[:32]
    return f"{find_folder(where)}/{name}.json"


def _write(path: str, pin: Pin, texts: Mapping[str, str]) -> Pin:
    added = {name: _pin_text(text) for name, text in texts.items()}
    tools = _drop_texts_beyond_limit({**pin.tools, **added})
    at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    pin = replace(pin, tools=tools, at=at)
    write_own_record(path, pin)
    return pin


def _pin_text(text: str, most: int = MAX_TEXT) -> PinnedTool:
    return PinnedTool(_digest_text(text), text if len(text) <= most else None, _digest_text(find_meaning(text)))


def _pin_instructions(pin: Pin, instructions: str) -> Pin:
    if not instructions.strip():
        return pin
    return replace(pin, instructions=_pin_text(_write_instructions(instructions), MAX_INSTRUCTIONS))


def _drop_texts_beyond_limit(tools: Mapping[str, PinnedTool]) -> dict[str, PinnedTool]:
    room = MAX_TEXT
    kept: dict[str, PinnedTool] = {}
    for name, pinned in tools.items():
        if pinned.text is not None:
            room -= len(pinned.text.encode())
        kept[name] = pinned if room >= 0 else replace(pinned, text=None)
    return kept


def _digest_text(text: str) -> str:
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


# --- what changed ---------------------------------------------------------------------------------------------------


def _to_lines(text: str) -> list[str]:
    try:
        data = json.loads(text)
        description = find_lines(str(data.pop("description", "")))
        rest = json.dumps(simplify(data), indent=2, sort_keys=True, ensure_ascii=False).splitlines() if data else ()
    except RecursionError:  # a schema may be nested deeper than Python can follow
        return [text]
    return [*(f"description: {line}" for line in description), *rest]


def _diff(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    # The time of `difflib` grows with the square of the lines, and the server chooses how many there are.
    if len(old) > MAX_LINES or len(new) > MAX_LINES:
        yield from _diff_long(old, new)
        return
    from difflib import unified_diff  # only when something is held back

    headers = 2
    yield from list(unified_diff(old, new, lineterm="", n=2))[headers:]


def _diff_long(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    """Everything between the first line that differs and the last, cut to `MAX_LINES` for each side."""
    from mooring.core.text.diff import count_common  # only when something is held back

    start = count_common(old, new)
    end = count_common(old[start:][::-1], new[start:][::-1])
    for mark, lines in (("-", old[start : len(old) - end]), ("+", new[start : len(new) - end])):
        yield from (f"{mark}{line}" for line in lines[:MAX_LINES])
        if len(lines) > MAX_LINES:
            yield f"{mark}… and {len(lines) - MAX_LINES} more lines"


class ToolPins:
    """Holds back tools that are not as they were approved."""

    def __init__(self, where: Paths, on_problem: Callable[[Problem], None]) -> None:
        self._where = where
        self._on_problem = on_problem
        self._pins: dict[PinKey, Pin | None] = {}

    def forget(self) -> None:
        """Read every pin again when it is next needed."""
        self._pins.clear()

    def find_held(self, approved: Approved, tools: Iterable[Tool], instructions: str = "") -> HeldTools:
        """Which of a server's tools, and of what it says about itself, are not as they were approved."""
        key = make_key(approved)
        if key is None:
            return HeldTools()
        # Approving a project's server approves the tools it has then. The person's own server was never approved, so
        # its tools are pinned with the first call that is allowed.
        if not approved.own and self._find_pin(key) is None:
            tools = tuple(tools)
            self._pin(key, tools, instructions)
        pin = self._find_pin(key)
        if pin is not None and pin.tools and pin.instructions is None and instructions.strip():
            self._adopt(key, instructions)
        return compare(self._find_pin(key), tools, instructions)

    async def pin(self, approved: Approved, tools: Iterable[Tool], instructions: str = "") -> None:
        """Pin a server's tools as they are, now that one of them was allowed; does nothing if they are pinned."""
        key = make_key(approved)
        if key is not None and self._find_pin(key) is None:
            await asyncio.to_thread(self._pin, key, tuple(tools), instructions)

    def approve(self, approved: Approved, held: HeldTools) -> None:
        """Accept the tools as they were shown.

        Raises:
            FileError: the record cannot be written.
        """
        key = make_key(approved)
        if key is not None:
            self._pins[key] = approve(self._where, key, held.changes, held.instructions)

    def switch(self, approved: Approved, *, off: bool) -> None:
        """Turn pinning off for a server, or on again.

        Raises:
            FileError: the record cannot be written.
        """
        key = make_key(approved)
        if key is not None:
            self._pins[key] = switch(self._where, key, off=off)

    async def reread(self) -> bool:
        """Read the pins that are in use again; whether any has changed."""
        before = dict(self._pins)
        found = await asyncio.to_thread(lambda: {key: load(self._where, key)[0] for key in before})
        changed = False
        for key, pin in found.items():
            # A pin that was made while these were read is newer. Forgetting it would let a changed tool through.
            if self._pins.get(key) is before[key] and pin != before[key]:
                self._pins[key] = pin
                changed = True
        return changed

    def _find_pin(self, key: PinKey) -> Pin | None:
        if key not in self._pins:
            pin, problem = load(self._where, key)
            # A thread may have pinned the tools since they were looked up.
            self._pins.setdefault(key, pin)
            if problem is not None:
                self._on_problem(problem)
        return self._pins[key]

    def _adopt(self, key: PinKey, instructions: str) -> None:
        # A record that cannot be read or written was named already.
        with suppress(FileError):
            self._pins[key] = adopt_instructions(self._where, key, instructions)

    def _pin(self, key: PinKey, tools: tuple[Tool, ...], instructions: str) -> None:
        # A record of no tools would hold back every tool that the server lists once it is ready.
        if not tools:
            return
        try:
            self._pins[key] = pin_tools(self._where, key, tools, instructions)
        except FileError as error:
            message = f"has tools that could not be pinned, so changes to them go unnoticed: {error.reason}"
            self._on_problem(Problem(error.path, message, "make room, or make the folder writable", key.server))
