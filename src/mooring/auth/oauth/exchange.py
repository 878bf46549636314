"""One HTTP request of a login and its answer, as values: whoever drives the login sends them."""

from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import urlencode

import msgspec
from msgspec import Struct

from mooring.errors import LoginFailed

T = TypeVar("T")

FORM = "application/x-www-form-urlencoded"
JSON = "application/json"
_SHOWN = 200


class LoginRequest(Struct, frozen=True):
    """A request to a server that takes part in a login."""

    method: str
    url: str
    headers: Mapping[str, str] = {}
    body: bytes | None = None
    head_only: bool = False
    """Only the status and the headers of the answer matter: its body may be a stream without an end."""

    def __repr__(self) -> str:
        # The body holds codes and secrets, and the URL may.
        return f"<LoginRequest {self.method} {hide_query(self.url)}>"


class LoginReply(Struct, frozen=True):
    """The answer to it. Names of headers are in small letters."""

    status: int
    headers: Mapping[str, str] = {}
    body: bytes = b""

    def __repr__(self) -> str:
        return f"<LoginReply {self.status}>"


class OAuthError(Struct, frozen=True):
    """What a server says when it refuses (RFC 6749, section 5.2). Its words are not safe to show."""

    error: str = ""
    error_description: str = ""


def get_json(url: str) -> LoginRequest:
    return LoginRequest("GET", url, {"Accept": JSON})


def post_json(url: str, content: Mapping[str, Any]) -> LoginRequest:
    return LoginRequest("POST", url, {"Accept": JSON, "Content-Type": JSON}, msgspec.json.encode(content))


def post_form(url: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None) -> LoginRequest:
    return LoginRequest(
        "POST", url, {"Accept": JSON, "Content-Type": FORM, **(headers or {})}, urlencode(fields).encode()
    )


def read_reply(reply: LoginReply, kind: type[T], what: str) -> T:
    """The JSON of an answer. Raises: LoginFailed; `what` says in the message what it should have been."""
    try:
        return msgspec.json.decode(reply.body, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise LoginFailed(f"{what} cannot be read: it is not the JSON that was expected") from None


def read_refusal(reply: LoginReply) -> OAuthError:
    """What a refusal says, empty where it says nothing."""
    try:
        return msgspec.json.decode(reply.body, type=OAuthError)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return OAuthError()


def describe_refusal(reply: LoginReply) -> str:
    """A refusal in a few words: its HTTP status, and what the server says."""
    refusal = read_refusal(reply)
    words = refusal.error_description or refusal.error
    status = f"HTTP status {reply.status}"
    return f"{status}, {_shorten(words)}" if words else status


def hide_query(url: str) -> str:
    """A URL without its query, which may hold a code or a secret."""
    return url.partition("?")[0]


def _shorten(words: str) -> str:
    line = " ".join(words.split())
    return line[:_SHOWN].rstrip(".")
