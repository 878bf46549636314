"""The formats that a form may ask for in a text: what each is called, and whether a text has it. Pure."""

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime

from msgspec import Struct


class TextFormat(Struct, frozen=True):
    """One `format` of JSON Schema."""

    label: str
    """What to type, in words, with its article."""
    example: str
    fits: Callable[[str], bool]


def find_format(name: object) -> TextFormat | None:
    """The format of that name, if it is one that can be checked."""
    return _FORMATS.get(name) if isinstance(name, str) else None


def _is_email(text: str) -> bool:
    return re.fullmatch(r"[^@\s]+@[^@\s]+", text) is not None


def _is_uri(text: str) -> bool:
    return re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]*:(?!//\Z)\S+", text) is not None


def _is_date(text: str) -> bool:
    # Python also reads 20260131 and 2026-W05.
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text) is None:
        return False
    try:
        date.fromisoformat(text)
    except ValueError:  # no such day
        return False
    return True


def _is_date_time(text: str) -> bool:
    # With seconds and a time zone, as RFC 3339 wants it.
    if re.fullmatch(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", text) is None:
        return False
    try:
        datetime.fromisoformat(text[:19])
    except ValueError:  # no such day or hour
        return False
    return True


_FORMATS: Mapping[str, TextFormat] = {
    "email": TextFormat("an email address", "ada@example.com", _is_email),
    "uri": TextFormat("a URL", "https://example.com/page", _is_uri),
    "date": TextFormat("a date", "2026-01-31", _is_date),
    "date-time": TextFormat("a date and time", "2026-01-31T09:30:00Z", _is_date_time),
}
