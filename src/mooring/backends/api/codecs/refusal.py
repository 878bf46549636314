"""An error of a provider, with a status or within a reply, read without knowing whose it is."""

import re
from collections.abc import Iterable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from mooring.core.protocol.raw import read

_MOST_WRAPPED = 5
"""How many objects around the message of an error are opened; providers use two."""
FLAGGED = "flagged_input"
"""The word for what OpenRouter's moderation refuses, with the same status as a wrong key."""
UNVERIFIED = re.compile(r"verified to stream")
"""How OpenAI says that an account may only use a model without streaming, which needs no proof of who it is."""
_UNTAKEN_MEDIA = re.compile(
    r"no endpoints found that support (?:image|input audio|audio)"  # OpenRouter
    r"|(?:image|audio)(?:_url)?s? (?:inputs? )?(?:(?:is|are) )?(?:not supported|not enabled|only supported)"
    r"|(?:does(?: not|n't)|not) support (?:image|audio|vision|multimodal)"  # Ollama, LM Studio
    r"|not a multimodal model|at most 0 (?:image|audio)"  # vLLM
    r"|(?:unknown variant|unsupported content part type:?) .{0,3}(?:image_url|input_audio)",  # DeepSeek, llama.cpp
    re.IGNORECASE,
)
_MEDIA_STATUSES = frozenset({400, 404, 415, 422, 500, 501})
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
        # Without its query, which may hold a secret.
        where = headers.get("Location", "").partition("?")[0] or "elsewhere"
        message = f"redirects to {where}, which is not followed, because the key would go there too"
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


def refuses_media(refusal: ApiRefusal) -> bool:
    """Whether a model turned out to take neither images nor audio; then the conversation has to go on without them."""
    return refusal.status in _MEDIA_STATUSES and _UNTAKEN_MEDIA.search(refusal.message) is not None


def make_refusal(error: Any, status: int | None = None) -> ApiRefusal:
    """The error that a provider describes in an object, whoever it is; `status` is HTTP's, or stands in the object."""
    layers = list(_open_layers(error))
    words = {layer[key] for layer in layers for key in _WORD_KEYS if isinstance(layer.get(key), str)}
    details = [detail for layer in layers for detail in _list_details(layer)]
    if any(_is_flagged(layer.get("metadata")) for layer in layers):
        words.add(FLAGGED)
    words |= {detail["reason"] for detail in details if isinstance(detail.get("reason"), str)}
    codes = [int(str(layer["code"])) for layer in layers if re.fullmatch(r"[1-5][0-9]{2}", str(layer.get("code")))]
    message = _find_message(error)
    return ApiRefusal(
        message or "", status=status or next(iter(codes), None), words=words, wait=_find_retry_delay(details)
    )


def _is_flagged(metadata: Any) -> bool:
    return isinstance(metadata, dict) and not metadata.keys().isdisjoint({"flagged_input", "reasons"})


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
        error = error.get("error") or _read_metadata(error)


def _find_message(error: Any) -> str | None:
    """The message in an error, whoever wrote it."""
    for _ in range(_MOST_WRAPPED):
        if isinstance(error, list):
            return "; ".join(filter(None, map(_describe_invalid, error)))
        if not isinstance(error, dict):
            return None
        inner = _find_message(_read_metadata(error))
        error = error.get("error", error.get("message", error.get("detail")))
        if isinstance(error, str):
            return f"{error}: {inner}" if inner else error
    return None


def _describe_invalid(problem: Any) -> str | None:
    """A field that FastAPI refuses, as vLLM and Mistral do: where it is, and why."""
    if not isinstance(problem, dict) or not isinstance(problem.get("msg"), str):
        return None
    place = problem.get("loc")
    path = ".".join(map(str, place)) if isinstance(place, list) else ""
    return f"{path}: {problem['msg']}" if path else str(problem["msg"])


def _read_metadata(layer: Mapping[str, Any]) -> Any:
    """The error of the provider behind OpenRouter, which it passes on as a text."""
    metadata = layer.get("metadata")
    raw = metadata.get("raw") if isinstance(metadata, dict) else None
    if not isinstance(raw, str):
        return raw
    return _read_body(raw.encode()) or {"message": raw}


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
