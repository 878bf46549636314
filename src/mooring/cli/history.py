"""`mooring history`: prints the calls that were made."""

from collections import deque
from datetime import UTC, datetime

import click

from mooring.cli.base import OK, UNHEALTHY, Globals, print_columns, print_json
from mooring.display.text import problem_line, safe
from mooring.permissions.audit import AuditEntry, CallOutcome, LogReading, read_log
from mooring.verbs.use.since import parse_since


def run(
    options: Globals, lines: int, server: str | None, tool: str | None, outcome: CallOutcome | None, since: str | None
) -> int:
    """Every call: what was called, who allowed it, how it ended."""
    start = "" if since is None else _format_utc(parse_since(since, datetime.now().astimezone()))
    where = options.workspace().where
    reading = LogReading(where)
    found = read_log(where, server=server, tool=tool, outcome=outcome, since=start, reading=reading)
    # Of the entries, only the last ones are ever held.
    entries = list(deque(found, maxlen=lines))
    if options.json:
        print_json({"calls": entries, "skipped": reading.skipped})
    elif entries:
        print_columns([_make_cells(entry) for entry in entries])
    elif not reading.problems:
        click.echo(
            "No calls match." if any((server, tool, outcome, since)) else "No calls have been made yet.", err=True
        )
    for problem in reading.problems:
        click.echo(problem_line(problem, where.home), err=True)
    # A line that a killed process left unfinished is nothing to fail for; a file that nobody can read is.
    return UNHEALTHY if any(problem.level == "error" for problem in reading.problems) else OK


def _format_utc(moment: datetime) -> str:
    """A time as it is in the log."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def _format_local(time: str) -> str:
    """A time of the log on the person's own clock."""
    try:
        return datetime.fromisoformat(time).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:  # somebody else wrote the line
        return safe(time)


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
    return _format_local(entry.time), safe(name), outcome, duration, safe(_describe_decision(entry))


def _describe_decision(entry: AuditEntry) -> str:
    """Which rule decided, or who; that a call was denied is its outcome, and not said again."""
    if entry.rule:
        return f"{_RULES.get(entry.level or '', 'by a rule')}: {entry.verdict} {entry.rule}"
    if entry.outcome == "denied" and entry.why:
        return entry.why
    verdict = _VERDICTS.get(entry.verdict, entry.verdict)
    return f"{verdict} ({entry.why})" if entry.why else verdict
