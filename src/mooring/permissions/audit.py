"""The log of calls: who allowed what, when, and how it ended. Shapes of arguments, never their texts.

Lines of JSON in the person's state folder (`audit.jsonl`), readable by them alone; the oldest are dropped when there
are too many. Adding a line costs an append to a list; a thread writes the lines within a second, also for calls that
have not ended by then: a process that is killed takes no more than the last second along. Lines that cannot be written
wait and are tried again. Meanwhile calls go on, or are refused if the log was opened as one that is `required`.
"""

import os
import threading
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import count, islice
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.conversation.verdict import ProposedCall, Verdict
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.result import Result
from mooring.core.protocol.units import MIB
from mooring.errors import Denied, FileError

T = TypeVar("T")

CallOutcome: TypeAlias = Literal["ok", "error", "is_error", "denied", "unfinished"]
"""How a call ended. An unfinished one is still running, or the process that made it was killed."""

MAX_FILE_BYTES = 8 * MIB
OLDER_FILES = 3
"""How many older files are kept besides the one that grows."""
WRITE_SECONDS = 0.5
"""How long lines wait for others, and how long the next try waits after one that failed."""
LONG_CALL_SECONDS = 0.3
"""How long a call runs before it gets a line that says so. Together with `WRITE_SECONDS` it stays below a second."""
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


class CallRecord(Struct, eq=False, gc=False):
    """A call that was begun, and from its end on how it ended; told apart by identity."""

    call: ProposedCall
    verdict: Verdict
    began: float = 0.0
    """On the clock of `perf_counter`."""
    at: float = 0.0
    """When it ended, or for the line that says that it runs, when it began."""
    outcome: CallOutcome = "unfinished"
    seconds: float = 0.0
    times: int = 1
    id: str = ""
    """Set when there is a line that says that it runs."""


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
    id: str = ""
    """The same in both lines of a call that ran for long: the one that says that it runs, and the one with its end."""


class AuditLog:
    """Writes the log; `lost` counts the lines that were given up."""

    def __init__(
        self,
        where: Paths,
        session: str,
        *,
        required: bool = False,
        max_bytes: int = MAX_FILE_BYTES,
        older_files: int = OLDER_FILES,
        on_problem: Callable[[Problem], None] = lambda problem: None,
    ) -> None:
        """With `required`, no call begins while lines cannot be written.

        `on_problem` is called when that begins and when it ends, from any thread.
        """
        self.lost = 0
        self._required = required
        self._on_problem = on_problem
        self._path = log_path(where)
        self._session = session
        self._max_bytes = max_bytes
        self._file = files.GrowingFile(self._path, max_bytes, older_files)
        self._failure: FileError | None = None
        self._running: dict[CallRecord, None] = {}
        self._long_calls = count(1)
        self._waiting: deque[CallRecord] = deque()
        self._unwritten: list[bytes] = []
        """Lines that are made and could not be written yet."""
        self._formatted_time = (0, "")
        # Setting an event takes a lock, so it is only done when the thread went to sleep without knowing.
        self._is_awake = False
        self._watches_calls = False
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = threading.Event()
        self._writing = threading.Lock()
        self._thread: threading.Thread | None = None
        if required:
            # At once: the first call has to know whether it can be recorded.
            self._write_lines()
            self._wake_writer()

    def begin(self, call: ProposedCall, verdict: Verdict) -> CallRecord:
        """Note a call that is about to be made; `end` has to follow. Never waits.

        Raises:
            Denied: it could not be recorded, and has to be.
        """
        is_full = len(self._waiting) + len(self._unwritten) >= MAX_WAITING
        if self._required and (is_full or self._failure is not None):
            raise self._refuse(call)
        record = CallRecord(call, verdict, time.perf_counter())
        self._running[record] = None
        if not self._watches_calls:
            self._watches_calls = True
            self._wake_writer()
        return record

    def end(self, record: CallRecord, outcome: CallOutcome) -> None:
        """Record how a call ended, soon. Never raises, never waits."""
        del self._running[record]
        record.seconds = time.perf_counter() - record.began
        record.at = time.time()
        record.outcome = outcome
        self._add(record)

    def add(self, call: ProposedCall, verdict: Verdict, outcome: CallOutcome, seconds: float = 0.0) -> None:
        """Record a call that was refused, or that somebody else made, soon. Never raises, never waits."""
        self._add(CallRecord(call, verdict, at=time.time(), outcome=outcome, seconds=seconds))

    def _add(self, record: CallRecord) -> None:
        # Here and below without a call: this is part of every call that is made.
        if len(self._waiting) + len(self._unwritten) >= MAX_WAITING:
            self._give_up()
            return
        self._waiting.append(record)
        if not self._is_awake:
            self._is_awake = True
            self._wake_writer()
        elif len(self._waiting) == WRITE_AT_ONCE:
            self._hurry.set()

    async def record_work(self, call: ProposedCall, verdict: Verdict, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work of a call that was allowed, and record how it ended. Raises: Denied; whatever the work raises."""
        record = self.begin(call, verdict)
        outcome: CallOutcome = "error"
        try:
            result = await work()
            failed = isinstance(result, Result) and result.is_error
            outcome = "is_error" if failed else "ok"
            return result
        finally:
            self.end(record, outcome)

    def flush(self) -> bool:
        """Write the lines that wait, as far as that works; whether there were any."""
        with self._writing:
            # Before the lines are made: one that is added meanwhile must wake the thread again.
            self._is_awake = False
            self._unwritten += map(self._encode_line, self._find_long_calls())
            # As many as there are now, so that calls that keep coming cannot hold up the writing.
            waiting = [self._waiting.popleft() for _ in range(len(self._waiting))]
            self._unwritten += map(self._encode_line, _merge_floods(waiting))
            had_lines = bool(self._unwritten)
            if had_lines or self._failure is not None:
                self._write_lines()
            return had_lines

    def hurry(self) -> None:
        """Have the lines that wait written now. Never waits."""
        self._hurry.set()

    def close(self, seconds: float = 5.0) -> None:
        """Write the lines that wait and end the thread; gives up after some seconds."""
        for event in (self._closing, self._hurry, self._wake):
            event.set()
        if self._thread is None:
            self._finish()
        else:
            self._thread.join(seconds)

    def _give_up(self) -> None:
        self.lost += 1
        if self.lost == 1 and self._failure is None:
            hint = "calls continue, and some are not recorded"
            self._on_problem(Problem(self._path, "The log of calls cannot keep up", hint, level="warning"))

    def _refuse(self, call: ProposedCall) -> Denied:
        name = call.tool if call.server is None else f"{call.server}.{call.tool}"
        why = "cannot keep up" if self._failure is None else self._failure.reason
        return Denied(
            f"{name} was not called: the log of calls {why} ({self._path}), and a call that cannot be recorded is not "
            "made. Calls are made again as soon as the log can be written."
        )

    def _find_long_calls(self) -> Iterator[CallRecord]:
        """The calls that have run for long enough to have a line that says so, as they are now."""
        now = time.perf_counter()
        # A copy: calls begin and end meanwhile, in another thread.
        for record in list(self._running):
            seconds = now - record.began
            if not record.id and seconds >= LONG_CALL_SECONDS:
                record.id = f"{self._session}-{next(self._long_calls)}"
                yield CallRecord(record.call, record.verdict, at=time.time() - seconds, id=record.id)

    def _write_lines(self) -> None:
        """Write what is made, and say so if that begins to fail, or works again."""
        try:
            if not self._unwritten:
                self._file.append(b"")
            for batch in _split_batches(self._unwritten, self._max_bytes // 2):
                self._file.append(b"".join(batch))
                del self._unwritten[: len(batch)]
        except FileError as error:
            is_news = self._failure is None
            self._failure = error
            if is_news:
                self._on_problem(self._describe_failure(error))
        else:
            if self._failure is not None:
                self._failure = None
                lost = f"it lacks {self.lost:,} calls" if self.lost else "it lacks no call"
                self._on_problem(Problem(self._path, "The log of calls is being written again", lost, level="note"))

    def _describe_failure(self, error: FileError) -> Problem:
        effect = "no call is made" if self._required else "calls continue, but are not recorded"
        hint = "; ".join(filter(None, (error.fix, f"{effect} until this is fixed")))
        return Problem(self._path, f"The log of calls {error.reason}", hint, level="warning")

    def _wake_writer(self) -> None:
        if self._thread is None:
            thread = threading.Thread(target=self._write_until_closed, name="mooring-audit", daemon=True)
            with suppress(RuntimeError):  # the system has no more threads; the lines wait for `close`
                thread.start()
                self._thread = thread
        self._wake.set()

    def _write_until_closed(self) -> None:
        while not self._closing.is_set():
            self._wake.wait(self._find_pause())
            self._wake.clear()
            # The first line at once and only then a pause for more of them: Copilot kills its servers without warning,
            # as soon as a turn ends.
            if self.flush():
                self._hurry.wait(WRITE_SECONDS)
                self._hurry.clear()
        self._finish()

    def _find_pause(self) -> float | None:
        """How long to sleep if no line is added; without calls that may become long ones, for ever."""
        # In this order: a call that begins in between wakes the thread.
        self._watches_calls = False
        if any(not record.id for record in list(self._running)):
            self._watches_calls = True
        return WRITE_SECONDS if self._watches_calls or self._failure is not None else None

    def _finish(self) -> None:
        self.flush()
        self.lost += len(self._unwritten)
        self._unwritten.clear()
        self._file.close()

    def _encode_line(self, record: CallRecord) -> bytes:
        try:
            shape = describe_shape(record.call.arguments) if record.times == 1 else None
            return self._encode(record, shape)
        # Somebody changed the arguments meanwhile, or they are nothing that JSON can hold: they cost no line.
        except (RuntimeError, RecursionError, TypeError, ValueError, msgspec.MsgspecError):
            return self._encode(record, "unreadable")

    def _encode(self, record: CallRecord, arguments: Any) -> bytes:
        call, verdict, rule = record.call, record.verdict, record.verdict.rule
        entry = AuditEntry(
            time=self._format_time(record.at),
            session=self._session,
            server=None if call.server is None else _shorten(call.server),
            tool=_shorten(call.tool),
            verdict=verdict.action,
            outcome=record.outcome,
            seconds=round(record.seconds, 6),
            level=verdict.level,
            rule=None if rule is None else _shorten(rule.tool),
            why=_shorten(verdict.why) if rule is None else None,
            origin=_shorten(call.origin),
            arguments=arguments,
            times=record.times,
            id=record.id,
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


def log_path(where: Paths) -> str:
    """The file that grows."""
    return f"{where.state}/audit.jsonl"


class LogReading:
    """What can be read of the log, oldest first; after that, `skipped` lines and `problems` say what cannot."""

    def __init__(self, where: Paths) -> None:
        self._path = log_path(where)
        self.skipped = 0
        self.problems: list[Problem] = []

    def __iter__(self) -> Iterator[AuditEntry]:
        older = [f"{self._path}.{number}" for number in range(OLDER_FILES, 0, -1)]
        # All of it first: whether a call has ended may be in another file.
        contents = {path: self._read(path) for path in (*older, self._path)}
        ended = _find_ended(contents.values())
        for path, data in contents.items():
            for entry in self._parse(path, data):
                if entry.outcome != "unfinished" or entry.id not in ended:
                    yield entry

    def _read(self, path: str) -> bytes:
        try:
            return files.read(path, 2 * MAX_FILE_BYTES) or b""
        except FileError as error:
            self.problems.append(Problem(path, f"A part of the log of calls {error.reason}", error.fix))
            return b""

    def _parse(self, path: str, data: bytes) -> Iterator[AuditEntry]:
        before = self.skipped
        for line in data.split(b"\n"):
            entry = _parse_entry(line)
            if entry is not None:
                yield entry
            elif line.strip():
                self.skipped += 1
        if bad := self.skipped - before:
            lines = "1 line" if bad == 1 else f"{bad:,} lines"
            message = f"{lines} of the log of calls cannot be read, and {'is' if bad == 1 else 'are'} skipped"
            self.problems.append(Problem(path, message, level="warning"))


def read_log(
    where: Paths,
    *,
    server: str | None = None,
    tool: str | None = None,
    session: str | None = None,
    outcome: CallOutcome | None = None,
    since: str = "",
    reading: LogReading | None = None,
) -> Iterator[AuditEntry]:
    """The log, oldest first, or the entries that match; `since` is a time in the format of the entries.

    Never raises: `reading` says what could not be read.
    """
    filters = {"server": server, "tool": tool, "session": session, "outcome": outcome}
    wanted = {field: value for field, value in filters.items() if value is not None}
    for entry in reading or LogReading(where):
        if entry.time >= since and all(getattr(entry, field) == value for field, value in wanted.items()):
            yield entry


def _find_ended(contents: Iterable[bytes]) -> frozenset[str]:
    """The ids of the calls that have both of their lines."""
    import re  # only to read the log

    # Without parsing anything: among the shapes of arguments, no value looks like this.
    found = Counter(id for data in contents for id in re.findall(rb'"id":"([^"]+-\d+)"', data))
    return frozenset(id.decode(errors="replace") for id, times in found.items() if times > 1)


def _parse_entry(line: bytes) -> AuditEntry | None:
    try:
        return msgspec.json.decode(line, type=AuditEntry)
    # A line that was cut short, or of which a byte was changed, must not hide the others.
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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


def _merge_floods(records: list[CallRecord]) -> list[CallRecord]:
    """The same records, but if one tool was called very often: its first calls, and one record for all the others."""
    if len(records) <= FLOOD:
        return records
    kept: list[CallRecord] = []
    groups: dict[tuple[Any, ...], list[CallRecord]] = {}
    for record in records:
        kind = (record.call.server, record.call.tool, record.verdict.action, record.outcome)
        group = groups.setdefault(kind, [])
        # What has a line already that says that it runs needs one with its end.
        if record.id or len(group) < FLOOD:
            kept.append(record)
        if not record.id:
            group.append(record)
    for group in groups.values():
        others = group[FLOOD:]
        if others:
            seconds = sum(record.seconds for record in others)
            kept.append(replace(others[-1], seconds=seconds, times=len(others)))
    return kept


def _split_batches(lines: list[bytes], max_bytes: int) -> Iterator[list[bytes]]:
    """The lines in batches of at most so many bytes."""
    batch: list[bytes] = []
    size = 0
    for line in tuple(lines):
        if batch and size + len(line) > max_bytes:
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    if batch:
        yield batch
