"""The log of calls: who allowed what, when, and how it ended. Shapes of arguments, never their texts.

Lines of JSON in the person's state folder (`audit.jsonl`), readable by them alone; the oldest are dropped when there
are too many. Adding a line costs an append to a list; a thread writes the lines within a second. Lines that cannot be
written are counted and reported once, never raised: the log must not be what stops the work.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

from mooring import files
from mooring.core.problem import Problem
from mooring.core.result import Result
from mooring.core.units import MIB
from mooring.core.verdict import ProposedCall, Verdict
from mooring.core.where import Where
from mooring.errors import FileError

T = TypeVar("T")

CallOutcome: TypeAlias = Literal["ok", "error", "is_error", "denied"]

MAX_FILE_BYTES = 8 * MIB
OLDER_FILES = 3
"""How many older files are kept besides the one that grows."""
WRITE_SECONDS = 1.0
FLOOD = 100
"""How many calls of one tool with the same outcome get a line each whenever lines are written; the rest share one."""
WRITE_AT_ONCE = 2_000
"""How many lines may wait before they are written, however young."""
MAX_WAITING = 100_000
MAX_NAME = 200
_MAX_NODES = 100
_MAX_DEPTH = 4
_MAX_EXACT = 2**53
"""Beyond this, many readers of JSON round whole numbers."""
_ENCODE = msgspec.json.Encoder().encode
# Every call is described: a union of types built for each value would take a tenth of that time.
_NUMBERS, _CONTAINERS = (int, float), (dict, list, tuple)


class _Waiting(Struct, frozen=True, gc=False):
    """A call that is not written yet."""

    at: float
    call: ProposedCall
    verdict: Verdict
    outcome: CallOutcome
    seconds: float
    times: int = 1


class AuditEntry(Struct, frozen=True, omit_defaults=True):
    """One call, as it is in the log."""

    time: str
    """UTC, to the millisecond."""
    session: str
    server: str | None
    tool: str
    verdict: str
    outcome: CallOutcome
    seconds: float = 0.0
    level: str | None = None
    rule: str | None = None
    """The `tool` of the rule that decided."""
    why: str | None = None
    """What decided, if no rule did."""
    origin: str = ""
    arguments: Any = None
    """Their shape: keys, numbers and booleans as they are, of every text only its length."""
    times: int = 1
    """How many calls this represents: in a flood, all but the first ones of a tool share a line, with their seconds."""


class AuditLog:
    """Writes the log; `lost` counts the lines that could not be written."""

    def __init__(
        self,
        where: Where,
        session: str,
        *,
        max_bytes: int = MAX_FILE_BYTES,
        older_files: int = OLDER_FILES,
        on_problem: Callable[[Problem], None] = lambda problem: None,
    ) -> None:
        """`on_problem` is called once if lines are lost, from any thread."""
        self.lost = 0
        self._on_problem = on_problem
        self._path = log_path(where)
        self._session = session
        self._max_bytes = max_bytes
        self._older_files = older_files
        self._waiting: deque[_Waiting] = deque()
        self._formatted_time = (0, "")
        # Setting an event takes a lock, so `add` only does it for the first line after the thread went to sleep.
        self._awake = False
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, call: ProposedCall, verdict: Verdict, outcome: CallOutcome, seconds: float = 0.0) -> None:
        """Record a call, soon. Never raises, never waits."""
        if len(self._waiting) >= MAX_WAITING:
            self._count_lost(1, "cannot keep up with this many calls")
            return
        self._waiting.append(_Waiting(time.time(), call, verdict, outcome, seconds))
        if not self._awake:
            self._wake_writer()
        elif len(self._waiting) == WRITE_AT_ONCE:
            self._hurry.set()

    async def record_work(self, call: ProposedCall, verdict: Verdict, work: Awaitable[T]) -> T:
        """Do the work of a call that was allowed, and record how it ended. Raises whatever the work raises."""
        outcome: CallOutcome = "error"
        began = time.perf_counter()
        try:
            result = await work
            failed = isinstance(result, Result) and result.is_error
            outcome = "is_error" if failed else "ok"
            return result
        finally:
            self.add(call, verdict, outcome, time.perf_counter() - began)

    def flush(self) -> None:
        """Write the lines that wait."""
        # Before the lines are taken: one that is added meanwhile must wake the thread again.
        self._awake = False
        # As many as there are now, so that calls that keep coming cannot hold up the writing.
        waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
        lines = [self._encode_line(entry) for entry in _merge_floods(waiting)]
        for batch in _split_batches(lines, self._max_bytes // 2):
            try:
                files.append(self._path, b"".join(batch), self._max_bytes, self._older_files)
            except FileError as error:
                self._count_lost(len(batch), error.reason, error.fix)

    def hurry(self) -> None:
        """Have the lines that wait written now. Never waits."""
        self._hurry.set()

    def close(self, seconds: float = 5.0) -> None:
        """Write the lines that wait and end the thread; gives up after some seconds."""
        for event in (self._closing, self._hurry, self._wake):
            event.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _count_lost(self, lines: int, reason: str, fix: str = "") -> None:
        is_first = not self.lost
        self.lost += lines
        if is_first:
            hint = fix or "calls continue, but are not recorded until this is fixed"
            self._on_problem(Problem(self._path, f"The log of calls {reason}", hint, level="warning"))

    def _wake_writer(self) -> None:
        self._awake = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._write_until_closed, name="mooring-audit", daemon=True)
            with suppress(RuntimeError):  # the system has no more threads; the lines wait for `flush`
                self._thread.start()
        self._wake.set()

    def _write_until_closed(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._wake.clear()
            # The first line at once and only then a pause for more of them: Copilot kills its servers without warning,
            # as soon as a turn ends.
            self.flush()
            self._hurry.wait(WRITE_SECONDS)
            self._hurry.clear()
        self.flush()

    def _encode_line(self, waiting: _Waiting) -> bytes:
        try:
            shape = describe_shape(waiting.call.arguments) if waiting.times == 1 else None
            return self._encode(waiting, shape)
        # Somebody changed the arguments meanwhile, or they are nothing that JSON can hold: they cost no line.
        except (RuntimeError, RecursionError, TypeError, ValueError, msgspec.MsgspecError):
            return self._encode(waiting, "unreadable")

    def _encode(self, waiting: _Waiting, arguments: Any) -> bytes:
        call, verdict, rule = waiting.call, waiting.verdict, waiting.verdict.rule
        entry = AuditEntry(
            time=self._format_time(waiting.at),
            session=self._session,
            server=None if call.server is None else _shorten(call.server),
            tool=_shorten(call.tool),
            verdict=verdict.action,
            outcome=waiting.outcome,
            seconds=round(waiting.seconds, 6),
            level=verdict.level,
            rule=None if rule is None else _shorten(rule.tool),
            why=_shorten(verdict.why) if rule is None else None,
            origin=_shorten(call.origin),
            arguments=arguments,
            times=waiting.times,
        )
        return _ENCODE(entry) + b"\n"

    def _format_time(self, at: float) -> str:
        # Kept, because many calls share a millisecond.
        moment = int(at * 1000)
        if moment != self._formatted_time[0]:
            second = datetime.fromtimestamp(moment // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            self._formatted_time = (moment, f"{second}.{moment % 1000:03d}Z")
        return self._formatted_time[1]


def new_session_id() -> str:
    """A random name for the calls of one program."""
    return os.urandom(6).hex()


def log_path(where: Where) -> str:
    """The file that grows."""
    return f"{where.state}/audit.jsonl"


def read_log(
    where: Where,
    *,
    server: str | None = None,
    tool: str | None = None,
    session: str | None = None,
    outcome: CallOutcome | None = None,
    since: str = "",
) -> Iterator[AuditEntry]:
    """The log, oldest first, or the entries that match; `since` is a time in the format of the entries.

    Raises:
        FileError: a file of it cannot be read.
    """
    filters = {"server": server, "tool": tool, "session": session, "outcome": outcome}
    wanted = {field: value for field, value in filters.items() if value is not None}
    for entry in _read_entries(where):
        if entry.time >= since and all(getattr(entry, field) == value for field, value in wanted.items()):
            yield entry


def _read_entries(where: Where) -> Iterator[AuditEntry]:
    newest = log_path(where)
    older = [f"{newest}.{number}" for number in range(OLDER_FILES, 0, -1)]
    for path in (*older, newest):
        data = files.read(path, 2 * MAX_FILE_BYTES) or b""
        for line in data.splitlines():
            entry = _parse_entry(line)
            if entry is not None:
                yield entry


def _parse_entry(line: bytes) -> AuditEntry | None:
    try:
        return msgspec.json.decode(line, type=AuditEntry)
    except msgspec.DecodeError:  # a line that was cut short must not hide the others
        return None


def describe_shape(value: Any) -> Any:
    """What a value looks like, without any text in it: its keys, its numbers, and how long its texts are."""
    return _describe(value, 0, [_MAX_NODES])


def _describe(value: Any, depth: int, room: list[int]) -> Any:
    """`room` holds one number, which all levels count down: how many more values are described."""
    room[0] -= 1
    if isinstance(value, str):
        return f"str({len(value)})"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, _NUMBERS):
        return value if -_MAX_EXACT < value < _MAX_EXACT else "number"
    if isinstance(value, _CONTAINERS):
        return _describe_container(value, depth, room)
    return type(value).__name__


def _describe_container(
    value: dict[Any, Any] | list[Any] | tuple[Any, ...], depth: int, room: list[int]
) -> dict[str, Any] | list[Any] | str:
    if not value or depth >= _MAX_DEPTH or room[0] <= 0:
        kind = "object" if isinstance(value, dict) else "list"
        return f"{kind}({len(value)})"
    if isinstance(value, dict):
        members = islice(value.items(), room[0])
        return {_shorten(str(key)): _describe(member, depth + 1, room) for key, member in members if room[0] > 0}
    items = islice(value, room[0])
    return [_describe(item, depth + 1, room) for item in items if room[0] > 0]


def _shorten(text: str) -> str:
    # Lone surrogates, which JSON cannot hold, are replaced.
    encodable = text if text.isascii() else text.encode("utf-8", "replace").decode()
    if len(encodable) <= MAX_NAME:
        return encodable
    return f"{encodable[:MAX_NAME]}…"


def _merge_floods(entries: list[_Waiting]) -> list[_Waiting]:
    """The same entries, but if one tool was called very often: its first calls, and one entry for all the others."""
    if len(entries) <= FLOOD:
        return entries
    kept: list[_Waiting] = []
    groups: dict[tuple[Any, ...], list[_Waiting]] = {}
    for entry in entries:
        kind = (entry.call.server, entry.call.tool, entry.verdict.action, entry.outcome)
        group = groups.setdefault(kind, [])
        group.append(entry)
        if len(group) <= FLOOD:
            kept.append(entry)
    for group in groups.values():
        others = group[FLOOD:]
        if others:
            kept.append(_merge(others))
    return kept


def _merge(entries: list[_Waiting]) -> _Waiting:
    last = entries[-1]
    if len(entries) == 1:
        return last
    seconds = sum(entry.seconds for entry in entries)
    return _Waiting(last.at, last.call, last.verdict, last.outcome, seconds, len(entries))


def _split_batches(lines: list[bytes], max_bytes: int) -> Iterator[list[bytes]]:
    """The lines in batches of at most so many bytes."""
    batch: list[bytes] = []
    size = 0
    for line in lines:
        if batch and size + len(line) > max_bytes:
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    if batch:
        yield batch
