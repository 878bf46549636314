"""`history`: the calls that were made, who allowed each, and how it ended."""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

from mooring.core.definitions.paths import Workspace
from mooring.display.text import problem_line, safe
from mooring.display.times import format_local
from mooring.errors import ConfigError
from mooring.permissions.audit import AuditEntry, CallOutcome, LogReading, read_log
from mooring.verbs.verb import Shown, ShownLine, ShownTable, VerbResult


def history(
    workspace: Workspace,
    lines: int,
    server: str | None,
    tool: str | None,
    outcome: CallOutcome | None,
    since: str | None,
) -> VerbResult:
    """The last calls of those that are wanted. Raises: ConfigError."""
    start = "" if since is None else _format_utc(parse_since(since, datetime.now().astimezone()))
    where = workspace.where
    reading = LogReading(where)
    found = read_log(where, server=server, tool=tool, outcome=outcome, since=start, reading=reading)
    # Of the entries, only the last ones are ever held.
    entries = list(deque(found, maxlen=lines))
    nothing = "No calls match." if any((server, tool, outcome, since)) else "No calls have been made yet."
    return VerbResult(
        {"calls": entries, "skipped": reading.skipped},
        _show_calls(entries, "" if reading.problems else nothing),
        # A line that a killed process left unfinished is nothing to fail for; a file that nobody can read is.
        is_healthy=all(problem.level != "error" for problem in reading.problems),
        notes=[problem_line(problem, where.home) for problem in reading.problems],
    )


def _show_calls(entries: Sequence[AuditEntry], nothing: str) -> Iterator[Shown]:
    if entries:
        yield ShownTable([_make_cells(entry) for entry in entries], is_cut=True)
    elif nothing:
        yield ShownLine(nothing, is_note=True)


def _format_utc(moment: datetime) -> str:
    """A time as it is in the log."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


_VERDICTS = {"allow": "allowed", "deny": "denied", "ask": "asked"}
_RULES = {
    "managed": "by the machine's rule",
    "session": "by your rule for this session",
    "local": "by your rule for this project",
    "user": "by your rule",
    "project": "by the project's rule",
}


def _make_cells(entry: AuditEntry) -> tuple[str, ...]:
    # Mooring's own tools belong to no server.
    name = entry.tool if entry.server is None else f"{entry.server}.{entry.tool}"
    # A call that was denied never ran, and nobody knows how long an unfinished one did.
    duration = "" if entry.outcome in ("denied", "unfinished") else f"{entry.seconds * 1000:.0f} ms"
    outcome = entry.outcome.replace("_", " ")
    return format_local(entry.time), safe(name), outcome, duration, safe(_describe_decision(entry))


def _describe_decision(entry: AuditEntry) -> str:
    """Which rule decided, or who; that a call was denied is its outcome, and not said again."""
    if entry.rule:
        return f"{_RULES.get(entry.level or '', 'by a rule')}: {entry.verdict} {entry.rule}"
    if entry.outcome == "denied" and entry.why:
        return entry.why
    verdict = _VERDICTS.get(entry.verdict, entry.verdict)
    return f"{verdict} ({entry.why})" if entry.why else verdict


# --- since when -------------------------------------------------------------------------------------------------------

EXAMPLES = "30m, 1h, 2d, today, yesterday, 2026-11-01 or 2026-11-01T09:30"

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = r"(\d{1,6})\s*(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?|w|weeks?)"
_SPANS = rf"{_SPAN}(?:\s*{_SPAN})*(?:\s+ago)?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2})?"


def parse_since(text: str, now: datetime) -> datetime:
    """The moment that is meant: a span of time before now, a day, or a date with or without a time, in local time.

    Raises:
        ConfigError: it is none of these, or in the future.
    """
    moment = _parse(text.strip().lower(), now)
    if moment is None:
        raise ConfigError(f"{text!r} is not a time; write a span or a date, such as {EXAMPLES}.")
    if moment > now:
        raise ConfigError(f"{text!r} is in the future; write a span or a date, such as {EXAMPLES}.")
    return moment


def _parse(text: str, now: datetime) -> datetime | None:
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if text == "today":
        return midnight
    if text == "yesterday":
        return midnight - timedelta(days=1)
    if re.fullmatch(_SPANS, text):
        return _go_back(text, now)
    if re.fullmatch(_CLOCK, text):
        text = f"{midnight.date()}T{text:0>5}"
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    # Without a zone it is the person's own; what the clocks did on that day decides how far that is from UTC.
    return moment if moment.tzinfo else moment.astimezone()


def _go_back(text: str, now: datetime) -> datetime | None:
    spans = {}
    for count, unit in re.findall(_SPAN, text):
        spans[_UNITS[unit[0]]] = int(count)
    try:
        return now - timedelta(**spans)
    except OverflowError:
        return None
