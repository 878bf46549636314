"""An error of a provider, with a status or within a reply, read without knowing whose it is."""

import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from mooring.core.protocol.raw import read

_MOST_WRAPPED = 5
"""How many objects around the message of an error are opened; providers use two."""
_WORD_KEYS = ("type", "code", "status", "reason")


class ApiRefusal(Exception):
    """An error that the provider sent, with a status or within a reply. `failures.py` says what it means."""

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        words: Iterable[str] = (),
        wait: float | None = None,
        is_final: bool = False,
    ) -> None:
        super().__init__(message)
        self.message = message
        """What it says, unabridged; it may repeat the key."""
        self.status = status
        """`None` within a reply."""
        self.words = frozenset(words)
        """The API's own words for its kind, such as `overloaded_error` or `insufficient_quota`."""
        self.wait = wait
        """Seconds to wait before another try, if it says how many."""
        self.is_final = is_final
        """Whether it says that another try makes no sense."""


def read_refusal(status: int, headers: Mapping[str, str], body: bytes, reason: str = "") -> ApiRefusal:
    """The error that an answer with this status is."""
    if status < 400:
        where = headers.get("Location", "elsewhere")
        message = f"it redirects to {where}, which is not followed, because the key would go there too"
        return ApiRefusal(message, status=status, is_final=True)
    found = _read_body(body)
    refusal = make_refusal(found, status)
    return ApiRefusal(
        refusal.message or f"{status} {reason}".strip(),
        status=status,
        words=refusal.words,
        wait=_find_wait(headers) if _find_wait(headers) is not None else refusal.wait,
        is_final=headers.get("x-should-retry", "").strip().lower() == "false",
    )


def make_refusal(error: Any, status: int | None = None) -> ApiRefusal:
    """The error that a provider describes in an object, whoever it is; `status` is HTTP's, or stands in the object."""
    layers = list(_open_layers(error))
    words = {layer[key] for layer in layers for key in _WORD_KEYS if isinstance(layer.get(key), str)}
    details = [detail for layer in layers for detail in _list_details(layer)]
    words |= {detail["reason"] for detail in details if isinstance(detail.get("reason"), str)}
    codes = [int(str(layer["code"])) for layer in layers if re.fullmatch(r"[1-5][0-9]{2}", str(layer.get("code")))]
    message = _find_message(error)
    return ApiRefusal(
        message or "", status=status or next(iter(codes), None), words=words, wait=_find_retry_delay(details)
    )


def _read_body(body: bytes) -> Any:
    try:
        found = read(body)
    except ValueError:
        return None
    # Google sends a list of one.
    return found[0] if isinstance(found, list) and found else found


def _open_layers(error: Any) -> Iterator[dict[str, Any]]:
    for _ in range(_MOST_WRAPPED):
        if not isinstance(error, dict):
            return
        yield error
        error = error.get("error")


def _find_message(error: Any) -> str | None:
    """The message in an error, whoever wrote it."""
    for _ in range(_MOST_WRAPPED):
        if not isinstance(error, dict):
            return None
        error = error.get("error", error.get("message", error.get("detail")))
        if isinstance(error, str):
            return error
    return None


def _list_details(layer: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    details = layer.get("details")
    return [detail for detail in details if isinstance(detail, dict)] if isinstance(details, list) else []


def _find_retry_delay(details: Iterable[Mapping[str, Any]]) -> float | None:
    """How long Google asks to wait: `RetryInfo` has it as "7s"."""
    for detail in details:
        delay = detail.get("retryDelay")
        if isinstance(delay, str) and (match := re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]+)?)s", delay)):
            return float(match[1])
    return None


def _find_wait(headers: Mapping[str, str]) -> float | None:
    """How long the headers ask to wait, in seconds: a number of them, of milliseconds, or a date."""
    milliseconds = headers.get("retry-after-ms", "").strip()
    if re.fullmatch(r"[0-9]{1,12}(?:\.[0-9]+)?", milliseconds):
        return float(milliseconds) / 1000
    told = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]+)?", told):
        return float(told)
    try:
        return max(0.0, parsedate_to_datetime(told).timestamp() - time())
    except (ValueError, OverflowError, TypeError):
        return None
