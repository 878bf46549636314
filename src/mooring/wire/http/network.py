"""The way to servers behind a URL: where they are, which proxy leads there, whom TLS trusts."""

import asyncio
import os
import re
import ssl
from collections.abc import Callable, Mapping
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit, urlunsplit

from msgspec import Struct

from mooring.errors import ConfigError

_CA_VARIABLES = ("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""OpenSSL itself reads SSL_CERT_FILE and SSL_CERT_DIR."""
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


class Options(Struct, frozen=True, kw_only=True):
    """How to get to a server; what is empty is taken from the usual variables. Files are PEM."""

    proxy: str = ""
    ca: str = ""
    certificate: str = ""
    key: str = ""


class Address(Struct, frozen=True):
    """Where a server is: a URL that HTTP understands, and the socket to reach it by where that is not TCP."""

    url: str
    socket: str = ""

    @property
    def name(self) -> str:
        """What to call the server: never its query or a password."""
        if self.socket:
            return self.socket
        parts = urlsplit(self.url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path.rstrip("/"), "", ""))

    @property
    def secure(self) -> bool:
        return self.url.startswith("https:")


def address(url: str) -> Address:
    """Read a URL: http, https, or `unix:///path/of/socket#/path/of/endpoint`. Raises: ConfigError."""
    if _CONTROL.search(url) or "\t" in url:
        raise ConfigError("A URL holds a control character.")
    try:
        parts = urlsplit(url.strip())
        port_and_host = parts.port, parts.hostname
    except ValueError as error:
        raise ConfigError(f"A URL cannot be read: {error}.") from error
    if parts.scheme == "unix":
        return _unix(parts)
    if parts.scheme not in ("http", "https") or not port_and_host[1]:
        raise ConfigError("A URL of a server begins with http://, https:// or unix:// and names a host or a socket.")
    _check_host(port_and_host[1])
    return Address(urlunsplit(parts._replace(fragment="")))


def _check_host(host: str) -> None:
    try:
        host.encode("idna")
    except UnicodeError:
        reason = f"A URL names a host that cannot be one: {host[:70]!r}."
    else:
        return
    raise ConfigError(reason)


def checked(headers: Mapping[str, str]) -> dict[str, str]:
    """The same headers. Raises: ConfigError where one could be read as two."""
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name):
            raise ConfigError(f"{name!r} cannot be the name of an HTTP header.")
        if _CONTROL.search(value):
            raise ConfigError(f"The value of the HTTP header {name} holds a line break or another control character.")
    return dict(headers)


class Network:
    """What connections to many servers share. `env` is where the usual variables are looked up."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = os.environ if env is None else env
        self._contexts: dict[tuple[str, str, str], ssl.SSLContext] = {}

    def proxy(self, to: Address, options: Options) -> str | None:
        """The proxy that leads there, if one does. Raises: ConfigError."""
        found = options.proxy or ("" if to.socket else self._usual_proxy(urlsplit(to.url)))
        if not found:
            return None
        found = found if "://" in found else f"http://{found}"
        if not found.startswith(("http://", "https://")):
            raise ConfigError(f"A proxy must be reached by HTTP, not by {urlsplit(found).scheme}.")
        return found

    async def tls(self, options: Options) -> ssl.SSLContext | None:
        """Whom to trust and what to show, `None` for the system's own authorities, which are loaded anyway.

        Made once for each set of files, off the event loop: it takes a while. Raises: ConfigError.
        """
        files, extra = (options.ca, options.certificate, options.key), self._extra_authorities()
        if not any(files) and not extra:
            return None
        if files not in self._contexts:
            self._contexts[files] = await asyncio.to_thread(_context, options, extra)
        return self._contexts[files]

    def _usual_proxy(self, to: SplitResult) -> str:
        host = to.hostname or ""
        if _is_loopback(host) or _is_spared(host, self._variable("no_proxy")):
            return ""
        return self._variable(f"{to.scheme}_proxy") or self._variable("all_proxy")

    def _variable(self, name: str) -> str:
        # Under CGI anyone can set HTTP_PROXY, by a header.
        upper = "" if name == "http_proxy" and "REQUEST_METHOD" in self._env else self._env.get(name.upper(), "")
        return self._env.get(name, "") or upper

    def _extra_authorities(self) -> list[str]:
        return [path for name in _CA_VARIABLES if (path := self._env.get(name, ""))]


def _unix(parts: SplitResult) -> Address:
    endpoint = parts.fragment or "/"
    if parts.netloc or not parts.path.startswith("/") or not endpoint.startswith("/"):
        raise ConfigError("A URL of a socket looks like unix:///path/of/socket#/path/of/endpoint.")
    return Address(f"http://localhost{endpoint}", parts.path)


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return host.endswith(".localhost")


def _is_spared(host: str, spared: str) -> bool:
    names = [name.strip().lower().removeprefix("*").lstrip(".") for name in spared.split(",")]
    everything = "*" in (name.strip() for name in spared.split(","))
    return everything or any(name and f".{host}".endswith(f".{name}") for name in names)


def _context(options: Options, extra: list[str]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    for path in [options.ca] if options.ca else extra:
        _load(path, lambda path: context.load_verify_locations(**{_kind_of(path): path}))
    if options.certificate:
        # Without a password OpenSSL would ask for one on the terminal.
        _load(options.certificate, lambda path: context.load_cert_chain(path, options.key or None, password=""))
    return context


def _kind_of(path: str) -> str:
    return "capath" if os.path.isdir(path) else "cafile"


def _load(path: str, load: Callable[[str], None]) -> None:
    try:
        load(path)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"{path}: no certificate or key can be read from it: {error.strerror or error}.") from error
