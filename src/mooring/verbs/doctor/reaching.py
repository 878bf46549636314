"""What to do about an address that cannot be reached, or to which no secure connection can be made."""

from collections.abc import Mapping
from urllib.parse import urlsplit

from mooring.core.definitions.config import ServerConfig
from mooring.display.text import quote_argument
from mooring.errors import ConfigError, ConnectError, HttpError, ServerDied, ServerError, TlsError
from mooring.verbs.doctor.fixes import find_plain_url, make_fix, suggest_retry, suggest_url
from mooring.wire.http.address import Address, parse_address
from mooring.wire.http.network import Network, Options

_AUTHORITY = "NODE_EXTRA_CA_CERTS"
"""Its authorities are trusted besides the system's own; SSL_CERT_FILE would take their place."""
_NOT_HERE = (404, 405)


def suggest_reach(config: ServerConfig, error: ServerError, env: Mapping[str, str]) -> str:
    """The fix for an error of the network, of TLS or of the path; empty if it is none of these."""
    match error:
        case TlsError():
            return _suggest_tls(config, str(error))
        case ConnectError():
            return _suggest_network(config, str(error), env)
        case HttpError(status=status) if status in _NOT_HERE:
            return _suggest_path(config, error.hint.rstrip("."))
        case ServerDied() if find_plain_url(config).startswith("http:"):
            return make_fix(suggest_url(config, _replace_scheme(config, "https")), "if it expects TLS")
        case _:
            return ""


def _suggest_tls(config: ServerConfig, reason: str) -> str:
    name = quote_argument(config.name)
    if "speaks no TLS" in reason:
        return suggest_url(config, _replace_scheme(config, "http"))
    if "has expired" in reason or "not yet valid" in reason:
        return make_fix(f"mooring mcp disable {name}", "until whoever runs it renews its certificate")
    if "mismatch" in reason or "not valid for" in reason:
        return make_fix(suggest_url(config), "with the name that its certificate is for")
    if "certificate verify failed" in reason:
        words = 'the file of its certificate authority; "network": {"ca": "FILE"} in your settings names it for good'
        return make_fix(f"export {_AUTHORITY}=…", words)
    return make_fix(suggest_retry(config.name), "the server refuses a secure connection: tell whoever runs it")


def _suggest_network(config: ServerConfig, reason: str, env: Mapping[str, str]) -> str:
    variables = _find_proxy_variables(config, env)
    if variables and "requires a login" in reason:
        return f"export {variables[0]}=http://USER:PASSWORD@HOST:PORT"
    if variables:
        without = " ".join(f"-u {variable}" for variable in variables)
        command = f"env {without} {suggest_retry(config.name)}"
        return make_fix(command, "it is reached through a proxy; this tries without")
    return make_fix(suggest_url(config), "with the right address, if the server runs and can be reached from here")


def _find_proxy_variables(config: ServerConfig, env: Mapping[str, str]) -> list[str]:
    """The variables that send requests to this address through a proxy, if any does."""
    url = find_plain_url(config)
    address = _parse(url) if url else None
    if address is None or not _has_proxy(address, env):
        return []
    names = (f"{urlsplit(url).scheme}_proxy", "all_proxy")
    return [spelling for name in names for spelling in (name.upper(), name) if env.get(spelling)]


def _has_proxy(address: Address, env: Mapping[str, str]) -> bool:
    try:
        return Network(env).proxy(address, Options()) is not None
    except ConfigError:  # a proxy that is not http
        return True


def _parse(url: str) -> Address | None:
    try:
        return parse_address(url)
    except ConfigError:
        return None


def _suggest_path(config: ServerConfig, words: str) -> str:
    """Where most servers are; which of the usual paths it is, nobody knows before it is tried."""
    url = find_plain_url(config)
    if not url:
        return make_fix(suggest_url(config), words)
    parts = urlsplit(url)
    path = "/sse" if parts.path.rstrip("/") == "/mcp" else "/mcp"
    moved = parts._replace(path=path, fragment="").geturl()
    return make_fix(suggest_url(config, moved), words)


def _replace_scheme(config: ServerConfig, scheme: str) -> str:
    url = find_plain_url(config)
    return urlsplit(url)._replace(scheme=scheme).geturl() if url else ""
