"""The log of calls: who let what run, when, and how it ended. Shapes of arguments, never their texts.

Lines of JSON in the person's state folder, readable by them alone, the oldest given up when there are too many.
Adding a line costs a list's append; a thread writes them down within a second. What cannot be written is counted and
told once, never raised: the log must not be what stops the work.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from mooring import files
from mooring.core.problem import Problem
from mooring.core.result import Result
from mooring.core.where import Where
from mooring.errors import FileError
from mooring.permissions.verdict import ProposedCall, Verdict

Outcome: TypeAlias = Literal["ok", "error", "is_error", "denied"]

MOST = 8 * files.MIB
KEPT = 3
"""So many older files beside the one that grows."""
SECONDS = 1.0
FLOOD = 100
"""So many calls of one tool that end alike have a line each whenever lines are written; the rest of them share one."""
PLENTY = 2_000
"""So many waiting lines are written at once, however young."""
MOST_WAITING = 100_000
LONGEST_NAME = 200
_NODES = 100
_ENCODE = msgspec.json.Encoder().encode
_DEPTH = 4
# Each call is shaped: a union of types made anew for each value would be a tenth of that.
_NUMBERS, _HOLDERS = (int, float), (dict, list, tuple)


_Waiting: TypeAlias = tuple[float, ProposedCall, Verdict, Outcome, float]


class AuditEntry(Struct, frozen=True, omit_defaults=True):
    """One call, as it stands in the log."""

    time: str
    """UTC, to the millisecond."""
    session: str
    server: str | None
    tool: str
    verdict: str
    outcome: Outcome
    seconds: float = 0.0
    level: str | None = None
    rule: str | None = None
    """The `tool` of the rule that decided."""
    why: str | None = None
    """What decided, where no rule did."""
    origin: str = ""
    arguments: Any = None
    """Their shape: keys, numbers and booleans as they are, of every text only how long it was."""
    times: int = 1
    """How many calls this stands for: of a flood, all but the first ones of a tool share a line, with their seconds."""


class Audit:
    """Writes the log; `lost` counts the lines that could not be written."""

    def __init__(
        self,
        where: Where,
        session: str,
        *,
        most: int = MOST,
        kept: int = KEPT,
        tell: Callable[[Problem], None] = lambda problem: None,
    ) -> None:
        """`tell` hears once that lines are lost, in whatever thread."""
        self.lost = 0
        self._tell = tell
        self._path = path(where)
        self._session = session
        self._most, self._kept = most, kept
        self._waiting: deque[_Waiting] = deque()
        self._moment = (0, "")
        self._awake = False
        self._wake = threading.Event()
        self._hurry = threading.Event()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def add(self, call: ProposedCall, verdict: Verdict, outcome: Outcome, seconds: float = 0.0) -> None:
        """Put a call on record, soon. Never raises, never waits."""
        if len(self._waiting) >= MOST_WAITING:
            self._lose(1, "cannot keep up with so many calls")
            return
        self._waiting.append((time.time(), call, verdict, outcome, seconds))
        if not self._awake:
            self._rouse()
        elif len(self._waiting) == PLENTY:
            self._hurry.set()

    async def made(self, call: ProposedCall, verdict: Verdict, work: Awaitable[Result]) -> Result:
        """Do the work of a call that was let through, and put on record how it ended. Raises: what the work raises."""
        outcome: Outcome = "error"
        began = time.perf_counter()
        try:
            result = await work
            outcome = "is_error" if result.is_error else "ok"
            return result
        finally:
            self.add(call, verdict, outcome, time.perf_counter() - began)

    def flush(self) -> None:
        """Write down what waits."""
        self._awake = False
        taken = _merged([self._waiting.popleft() for _ in range(len(self._waiting))])
        lines = [self._line(*entry) for entry in taken]
        for some in _portions(lines, self._most):
            try:
                files.append(self._path, b"".join(some), self._most, self._kept)
            except FileError as error:
                self._lose(len(some), error.reason)

    def close(self, seconds: float = 5.0) -> None:
        """Write down what waits and end; gives up after some seconds."""
        for event in (self._closing, self._hurry, self._wake):
            event.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def _lose(self, lines: int, reason: str) -> None:
        first, self.lost = not self.lost, self.lost + lines
        if first:
            hint = "calls go on, but are not on record until that is mended"
            self._tell(Problem(self._path, f"The log of calls {reason}", hint, level="warning"))

    def _rouse(self) -> None:
        self._awake = True
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="mooring-audit", daemon=True)
            with suppress(RuntimeError):  # no more threads can be had; the lines wait for `flush`
                self._thread.start()
        self._wake.set()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._wake.wait()
            self._hurry.wait(SECONDS)
            self._wake.clear()
            self._hurry.clear()
            self.flush()

    def _line(
        self, at: float, call: ProposedCall, verdict: Verdict, outcome: Outcome, seconds: float, times: int = 1
    ) -> bytes:
        def written(arguments: Any) -> bytes:
            entry = AuditEntry(
                self._time(at),
                self._session,
                None if call.server is None else _name(call.server),
                _name(call.tool),
                verdict.action,
                outcome,
                round(seconds, 6),
                verdict.level,
                None if verdict.rule is None else _name(verdict.rule.tool),
                _name(verdict.why) if verdict.rule is None else None,
                _name(call.origin),
                arguments,
                times,
            )
            return _ENCODE(entry) + b"\n"

        try:
            return written(shape(call.arguments) if times == 1 else None)
        except (RuntimeError, RecursionError, TypeError, ValueError, msgspec.MsgspecError):
            return written("unreadable")  # somebody changed them meanwhile, or they are nothing that JSON could hold

    def _time(self, at: float) -> str:
        """The moment in words, kept for the many calls of one millisecond."""
        moment = int(at * 1000)
        if moment != self._moment[0]:
            second = datetime.fromtimestamp(moment // 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
            self._moment = (moment, f"{second}.{moment % 1000:03d}Z")
        return self._moment[1]


def _merged(entries: list[_Waiting]) -> list[tuple[Any, ...]]:
    """The same, where one tool was called very often: the first calls, and one that stands for the others."""
    if len(entries) <= FLOOD:
        return list(entries)
    kept: list[tuple[Any, ...]] = []
    alike: dict[tuple[Any, ...], list[_Waiting]] = {}
    for entry in entries:
        _, call, verdict, outcome, _ = entry
        group = alike.setdefault((call.server, call.tool, verdict.action, outcome), [])
        group.append(entry)
        if len(group) <= FLOOD:
            kept.append(entry)
    for group in alike.values():
        if len(rest := group[FLOOD:]) > 1:
            at, call, verdict, outcome, _ = rest[-1]
            kept.append((at, call, verdict, outcome, sum(entry[4] for entry in rest), len(rest)))
        else:
            kept.extend(rest)
    return kept


def session() -> str:
    """A name for the calls of one program, by chance."""
    return os.urandom(6).hex()


def path(where: Where) -> str:
    """Where the log is kept."""
    return f"{where.state}/audit.jsonl"


def read(
    where: Where,
    *,
    server: str | None = None,
    tool: str | None = None,
    session: str | None = None,
    outcome: Outcome | None = None,
    since: str = "",
) -> Iterator[AuditEntry]:
    """The log, oldest first, or those of its lines that fit; `since` is a time as the lines have it.

    Raises:
        FileError: a file of it cannot be read.
    """
    wanted = {"server": server, "tool": tool, "session": session, "outcome": outcome}
    asked = {name: value for name, value in wanted.items() if value is not None}
    for name in (*(f"{path(where)}.{number}" for number in range(KEPT, 0, -1)), path(where)):
        for line in (files.read(name, 2 * MOST) or b"").splitlines():
            entry = _entry(line)
            if entry and entry.time >= since and all(getattr(entry, key) == asked[key] for key in asked):
                yield entry


def shape(value: Any) -> Any:
    """What a value is like, without any text that it holds: its keys, numbers, and how long its texts are."""
    return _shape(value, 0, [_NODES])


def _shape(value: Any, depth: int, room: list[int]) -> Any:
    room[0] -= 1
    if isinstance(value, str):
        return f"str({len(value)})"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, _NUMBERS):
        return value if -(2**53) < value < 2**53 else "number"
    if not isinstance(value, _HOLDERS):
        return type(value).__name__
    if not value or depth >= _DEPTH or room[0] <= 0:
        return f"{'object' if isinstance(value, dict) else 'list'}({len(value)})"
    if isinstance(value, dict):
        some = islice(value.items(), room[0])
        return {_name(str(key)): _shape(inner, depth + 1, room) for key, inner in some if room[0] > 0}
    return [_shape(inner, depth + 1, room) for inner in islice(value, room[0]) if room[0] > 0]


def _name(text: str) -> str:
    whole = text if text.isascii() else text.encode("utf-8", "replace").decode()
    return whole if len(whole) <= LONGEST_NAME else f"{whole[:LONGEST_NAME]}…"


def _portions(lines: list[bytes], most: int) -> Iterator[list[bytes]]:
    """The lines in portions of at most half a file."""
    some: list[bytes] = []
    size = 0
    for line in lines:
        if some and size + len(line) > most // 2:
            yield some
            some, size = [], 0
        some.append(line)
        size += len(line)
    if some:
        yield some


def _entry(line: bytes) -> AuditEntry | None:
    try:
        return msgspec.json.decode(line, type=AuditEntry)
    except msgspec.DecodeError:
        return None
