"""The way to servers behind a URL: which proxy leads there, and whom TLS trusts."""

import asyncio
import os
import ssl
import sys
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct

from mooring.errors import ConfigError
from mooring.wire.http.address import Address

_CA_VARIABLES = ("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""OpenSSL itself reads SSL_CERT_FILE and SSL_CERT_DIR."""
_IS_STRICT = sys.version_info >= (3, 13)
"""Whether a context that is made elsewhere refuses certificates that `trust_system` accepts."""


class Options(Struct, frozen=True, kw_only=True):
    """How to get to a server; what is empty comes from the usual variables. Files are PEM."""

    proxy: str = ""
    ca: str = ""
    certificate: str = ""
    key: str = ""


class Network:
    """What connections to many servers share. `env` is where the usual variables are looked up."""

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = os.environ if env is None else env
        self._contexts: dict[tuple[str, str, str], ssl.SSLContext] = {}

    def proxy(self, to: Address, options: Options) -> str | None:
        """The URL of the proxy that leads there, if one does; none leads to this machine. Raises: ConfigError."""
        parts = urlsplit(to.url)
        if to.socket or _is_loopback(parts.hostname or ""):
            return None
        proxy = options.proxy or self._usual_proxy(parts)
        if not proxy:
            return None
        if "://" not in proxy:
            proxy = f"http://{proxy}"
        if not proxy.startswith(("http://", "https://")):
            raise ConfigError(f"A proxy URL must begin with http://, not {proxy.partition(':')[0]}.")
        _check_proxy(proxy)
        return proxy

    async def tls(self, options: Options) -> ssl.SSLContext | None:
        """Whom to trust and what to show; `None` for the system's own authorities, as the client trusts them anyway.

        Made once for each set of files, off the event loop: it takes a tenth of a second. Raises: ConfigError.
        """
        files = options.ca, options.certificate, options.key
        extra = [path for name in _CA_VARIABLES if (path := self._env.get(name))]
        if not any(files) and not extra and not _IS_STRICT:
            return None
        if files not in self._contexts:
            self._contexts[files] = await asyncio.to_thread(_make_context, options, extra)
        return self._contexts[files]

    def _usual_proxy(self, to: SplitResult) -> str:
        host = to.hostname or ""
        if _is_spared(host, self._variable("no_proxy")):
            return ""
        return self._variable(f"{to.scheme}_proxy") or self._variable("all_proxy")

    def _variable(self, name: str) -> str:
        """A variable in lower case, which wins, or in upper case."""
        value = self._env.get(name, "")
        # Under CGI, HTTP_PROXY is what a request's `Proxy` header says (httpoxy, CVE-2016-5385): anyone can set it.
        is_forgeable = name == "http_proxy" and "REQUEST_METHOD" in self._env
        if value or is_forgeable:
            return value
        return self._env.get(name.upper(), "")


def _check_proxy(proxy: str) -> None:
    """Raises: ConfigError, which doesn't repeat the URL: it may hold a password."""
    with suppress(ValueError):
        parts = urlsplit(proxy)
        _ = parts.port  # checked only when it is read
        if parts.hostname:
            return
    raise ConfigError("A proxy URL looks like http://HOST:PORT or http://USER:PASSWORD@HOST:PORT.")


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return host.endswith(".localhost")


def _is_spared(host: str, spared: str) -> bool:
    """Whether `no_proxy` names this host: by its name, by a domain above it, or by `*` for every host."""
    for name in map(str.strip, spared.split(",")):
        if name == "*":
            return True
        domain = name.lower().removeprefix("*").lstrip(".")
        if domain and f".{host}".endswith(f".{domain}"):
            return True
    return False


def trust_system() -> ssl.SSLContext:
    """A context that trusts the authorities of the system, and checks the same with every version of Python."""
    context = ssl.create_default_context()
    # Since 3.13 Python refuses what breaks a rule of RFC 5280, such as that a certificate names its authority's key.
    # Many companies' certificates don't, and the other tools, most of them Node programs, accept them.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _make_context(options: Options, extra: list[str]) -> ssl.SSLContext:
    context = trust_system()
    path = ""
    try:
        for path in [options.ca] if options.ca else extra:
            kind = "capath" if os.path.isdir(path) else "cafile"
            context.load_verify_locations(**{kind: path})
        if path := options.certificate:
            # Without a password OpenSSL would ask for one on the terminal.
            context.load_cert_chain(path, options.key or None, password="")
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"{path}: no certificate or key can be read from it: {error.strerror or error}.") from error
    return context
