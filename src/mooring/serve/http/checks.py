"""Who may talk to the server, checked before a byte of a body is read; and the token that clients have to show."""

import asyncio
from hashlib import sha256
from hmac import compare_digest
from ipaddress import ip_address
from secrets import token_urlsafe
from typing import Final

from aiohttp import web
from msgspec import Struct

from mooring import files
from mooring.display.text import suggest_new_record
from mooring.errors import FileError
from mooring.files.record import DAMAGED
from mooring.wire.session.dialect import Window

_BYTES: Final = 32


class AccessToken(Struct, frozen=True):
    """A token, and whether it is new: then it has to be shown once."""

    text: str
    is_new: bool

    def __repr__(self) -> str:
        return "<AccessToken>"

    def matches(self, shown: str) -> bool:
        """Whether a client shows this token. It takes as long whatever they show, so that nobody can guess by time."""
        return compare_digest(shown.encode(errors="surrogatepass"), self.text.encode())

    def derive_key(self, purpose: str) -> bytes:
        """A key that is the same for as long as this token is, and tells nothing about it."""
        return sha256(f"{purpose}\0{self.text}".encode()).digest()


def make_token() -> AccessToken:
    """A token that nobody can guess, and that is kept nowhere."""
    return AccessToken(token_urlsafe(_BYTES), True)


def load_token(path: str) -> AccessToken:
    """The token in a file, which is made if there is none.

    Raises:
        FileError: it cannot be read or made, or is damaged. It is never replaced: clients have it.
    """
    with files.locked(path):
        kept = files.read_own(path)
        if kept is not None:
            return AccessToken(_check_token(path, kept.strip()), False)
        made = make_token()
        files.write(path, made.text.encode() + b"\n")
        return made


def _check_token(path: str, kept: bytes) -> str:
    # As a header can carry it, whoever wrote it.
    if not kept.isascii() or not kept.decode().isprintable() or b" " in kept or not kept:
        raise FileError(path, DAMAGED, suggest_new_record(path))
    return kept.decode()


PATH: Final = "/mcp"
SERVER_PATHS: Final = "/servers/"
"""What the path of a single server begins with, where each has its own."""
METHODS: Final = ("POST", "GET", "DELETE")
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_BEARER: Final = "bearer "
_FAILURES: Final = 20
"""How many wrong tokens are answered in a second; the rest are told to come back later, unchecked."""


class RequestRefused(Exception):
    """A request that is not let in: the status, and one sentence on why."""

    def __init__(self, status: int, words: str, **headers: str) -> None:
        super().__init__(words)
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class ListenAddress(Struct, frozen=True):
    """Where the server listens."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only programs on this machine can reach it."""
        if self.host in _LOOPBACK:
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def make_url(self, path: str) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{path}"

    def __str__(self) -> str:
        return self.make_url(PATH)


class AccessChecks:
    """The checks of one server. Each raises RequestRefused."""

    def __init__(self, address: ListenAddress, token: AccessToken | None) -> None:
        self._address = address
        self._token = token
        self._failures = Window(_FAILURES)
        self._known_host: str | None = None
        """The last name that this server answered to: a client sends the same one with every request."""

    def check(self, request: web.BaseRequest) -> None:
        """Let a request in, or not."""
        path = request.rel_url.raw_path
        # Which servers have a path is told only to those who show the token.
        if path != PATH and not path.startswith(SERVER_PATHS):
            raise RequestRefused(404, f"There is nothing here; MCP is at {PATH}.")
        self._check_host(request.headers.get("Host", ""))
        self._check_origin(request)
        self._check_token(request.headers.get("Authorization", ""))
        if request.method not in METHODS:
            raise RequestRefused(405, "Use POST, GET or DELETE.", Allow=", ".join(METHODS))

    def _check_host(self, given: str) -> None:
        """A page in a browser can point a name of its own at this machine, but then the name is in this header."""
        if given == self._known_host:
            return
        host, port = _split_host(given)
        is_here = port in ("", str(self._address.port)) and self._is_own_name(host)
        if not is_here:
            raise RequestRefused(403, "This server does not answer to that name.")
        self._known_host = given

    def _is_own_name(self, host: str) -> bool:
        if host in _LOOPBACK or host == self._address.host.lower():
            return True
        if self._address.is_loopback:
            return False
        try:
            ip_address(host)
        except ValueError:
            return False
        return True

    def _check_origin(self, request: web.BaseRequest) -> None:
        """Only browsers send it. No page but one of this very server has any business here, and there is none."""
        origin = request.headers.get("Origin")
        if origin is not None and origin.lower() != f"http://{request.headers.get('Host', '').lower()}":
            raise RequestRefused(403, "Pages in a browser may not use this server.")

    def _check_token(self, given: str) -> None:
        if self._token is None:
            return
        is_bearer = given[: len(_BEARER)].lower() == _BEARER
        if is_bearer and self._token.matches(given[len(_BEARER) :].strip()):
            return
        if not self._failures.admit(asyncio.get_running_loop().time()):
            raise RequestRefused(429, "Too many wrong tokens; try again in a second.", Retry_After="1")
        raise RequestRefused(
            401, "Send the token of this server as: Authorization: Bearer TOKEN", WWW_Authenticate="Bearer"
        )


def _split_host(given: str) -> tuple[str, str]:
    """The name and the port of a Host header."""
    host, bracket, rest = given.lower().rpartition("]")
    if bracket:
        return host.removeprefix("["), rest.removeprefix(":")
    name, _, port = given.lower().partition(":")
    return name, port
