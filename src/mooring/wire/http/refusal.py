"""What went wrong with a request over HTTP, as one of our errors and in few words."""

import re
import socket
import ssl
from email.utils import parsedate_to_datetime
from os import strerror
from time import time

import aiohttp
from msgspec import DecodeError

from mooring.core.protocol.raw import read
from mooring.errors import HttpError, NeedsLogin, ServerError
from mooring.wire.http.challenge import parse_challenge
from mooring.wire.http.connections import HttpAnswer
from mooring.wire.http.post import JSON

_UNDONE = frozenset({400, 401, 402, 403, 404, 405, 406, 407, 411, 413, 414, 415, 421, 426, 428, 429, 431})
"""With these, a server says that it has done nothing."""
_REASONS = ("error_description", "message", "error", "detail")
"""Where a JSON body gives its reason, the most telling first: OAuth, JSON-RPC, plain APIs, FastAPI."""
_SHOWN = 200


def make_refusal(server: str, response: HttpAnswer, words: bytes) -> ServerError:
    """The error that a status which isn't an answer stands for; `words` is how the body begins."""
    status = response.status
    challenge = parse_challenge(response.headers.getall("WWW-Authenticate", ()))
    if status == 401 or (status == 403 and challenge["error"] == "insufficient_scope"):
        return NeedsLogin(
            server,
            status,
            scheme=challenge.scheme,
            resource_metadata=challenge["resource_metadata"],
            scope=challenge["scope"],
            error=challenge["error"],
            description=challenge["error_description"],
        )
    return HttpError(
        server,
        status,
        _summarize(response, words),
        may_have_run=status not in _UNDONE,
        retry_after=_parse_retry_after(response.headers.get("Retry-After", "")),
    )


def describe_error(error: BaseException) -> str:
    """What went wrong, in the system's words."""
    if isinstance(error, aiohttp.ClientHttpProxyError):
        # aiohttp's words for it hold the proxy's URL, and with it a password.
        return _describe_proxy(error.status)
    # aiohttp wraps the system's error and puts its own words around it.
    cause: BaseException = getattr(error, "os_error", None) or error
    number = _system_number(cause)
    if number:
        return strerror(number)
    if isinstance(cause, ssl.SSLError):
        return _describe_tls_error(cause)
    text = getattr(cause, "strerror", None) or str(cause) or type(cause).__name__
    return first_line(text)


def _describe_proxy(status: int) -> str:
    if status == 407:
        return "its proxy requires a login; write the proxy as http://USER:PASSWORD@HOST:PORT"
    return f"its proxy answered with HTTP status {status}"


def _describe_tls_error(error: ssl.SSLError) -> str:
    # What a server that speaks plain HTTP answers is no version of TLS.
    if error.reason in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE"):
        return "it speaks no TLS; write http:// in its URL"
    # "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: … (_ssl.c:1006)"
    words = re.sub(r"^\[[^]]*\] | \(_ssl\.c:\d+\)$", "", str(error))
    return first_line(words) or type(error).__name__


def first_line(text: str) -> str:
    """The first line of a text, cut where it would no longer fit into a sentence."""
    lines = text.strip().splitlines()
    if not lines:
        return ""
    return lines[0][:_SHOWN].rstrip(".")


def _parse_retry_after(value: str) -> float | None:
    """How many seconds `Retry-After` asks for: it is a number of them or a date."""
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time())
    except (ValueError, OverflowError, TypeError):  # a year or an offset that no clock has
        return None


def _summarize(response: HttpAnswer, words: bytes) -> str:
    """What a refusal says, in one line. HTML is never quoted."""
    # nginx, in HTML.
    if b"plain HTTP request was sent to HTTPS port" in words:
        return "it expects TLS; write https:// in its URL"
    text = ""
    if response.content_type == JSON:
        text = _find_reason(words)
    elif response.content_type == "text/plain":
        text = words.decode("utf-8", "replace")
    return first_line(text) or response.reason or "no reason given"


def _find_reason(words: bytes) -> str:
    try:
        found = read(words)
    except DecodeError:
        return ""
    # Twice, because the reason may itself be an object: {"error": {"message": …}}.
    for _ in range(2):
        if isinstance(found, dict):
            found = next((found[key] for key in _REASONS if found.get(key)), None)
    return found if isinstance(found, str) else ""


def _system_number(error: BaseException) -> int | None:
    # The numbers of these two are not the system's: `strerror` would name another error.
    if isinstance(error, ssl.SSLError | socket.gaierror):
        return None
    return error.errno if isinstance(error, OSError) else None
