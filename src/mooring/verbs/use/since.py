"""`--since`: what a person types for a moment in the past, as a time."""

import re
from datetime import datetime, timedelta

from mooring.errors import ConfigError

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
