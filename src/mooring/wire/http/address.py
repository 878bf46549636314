"""Where a server is and what it is sent: the URL and the headers of a definition, checked."""

import re
from urllib.parse import SplitResult, urlsplit, urlunsplit

from msgspec import Struct

from mooring.errors import ConfigError

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
"""All control characters but the tab, which a header's value may hold."""


class Address(Struct, frozen=True):
    """Where a server is: a URL that HTTP understands, and the socket to reach it by where that isn't TCP."""

    url: str
    socket: str = ""

    @property
    def name(self) -> str:
        """What to call the server: never its query or a password."""
        if self.socket:
            return self.socket
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))

    @property
    def secure(self) -> bool:
        return self.url.startswith("https:")


def parse_address(url: str) -> Address:
    """Read a URL: http, https, or `unix:///path/of/socket#/path/of/endpoint`. Raises: ConfigError."""
    if _CONTROL.search(url) or "\t" in url:
        raise ConfigError("A URL contains a control character.")
    try:
        parts = urlsplit(url.strip())
        # Both are checked only when they are read.
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ConfigError(f"A URL cannot be read: {error}.") from error
    if parts.scheme == "unix":
        return _parse_socket(parts)
    if parts.scheme not in ("http", "https") or not host:
        raise ConfigError(
            "The URL of a server must begin with http://, https:// or unix:// and name a host or a socket."
        )
    _check_host(host)
    return Address(urlunsplit(parts._replace(fragment="")))


def _parse_socket(parts: SplitResult) -> Address:
    endpoint = parts.fragment or "/"
    is_path = parts.path.startswith("/") and endpoint.startswith("/")
    if parts.netloc or not is_path:
        raise ConfigError("A URL of a socket looks like unix:///path/of/socket#/path/of/endpoint.")
    return Address(f"http://localhost{endpoint}", parts.path)


def _check_host(host: str) -> None:
    try:
        host.encode("idna")
    except UnicodeError:
        reason = f"A URL names an invalid host: {host[:70]!r}."
    else:
        return
    # Raised out here, so that the UnicodeError is not its context.
    raise ConfigError(reason)
