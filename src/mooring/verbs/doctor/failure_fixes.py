"""The fix for each way in which a server can fail: from an error of just now, or from what is on record of one."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from mooring.core.definitions.config import ServerConfig, Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.failure import Failure
from mooring.display.text import quote_argument, quote_command
from mooring.errors import (
    ConfigError,
    ConnectError,
    HandshakeError,
    HttpError,
    InputMissing,
    MooringError,
    NotApproved,
    ServerDied,
    ServerError,
    SpawnError,
    TimedOut,
    TlsError,
)
from mooring.verbs.config.secrets import name_secret
from mooring.verbs.doctor.definitions import suggest_export
from mooring.verbs.doctor.fixes import (
    find_plain_url,
    keeps_own_secrets,
    lead_with_command,
    make_fix,
    suggest_edit,
    suggest_retry,
    suggest_url,
    takes_references,
)
from mooring.verbs.doctor.programs import suggest_docker_start, suggest_program
from mooring.verbs.use.advice import advise_on_failure, can_edit_timeout, lacks_token
from mooring.verbs.use.evidence import is_model_key
from mooring.wire.http.address import parse_address
from mooring.wire.http.network import Network, Options

_SERVER_FAULT = 500
"""From this HTTP status on, nothing is wrong with the request."""
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_LACK = re.compile(
    r"(?i)\b(requires?|required|missing|unset|undefined|(not|please|must) (be )?(set|defined|provided?))\b"
)
"""What programs write about a variable that they were not given."""
_NO_DOCKER = re.compile(r"(?i)connect to the docker (daemon|api) at .*daemon (is )?running")
_START_DOCKER = "once you have started Docker"
_TRUST = "trust the server with it"


def suggest_failure_fix(config: ServerConfig, error: MooringError, where: Paths) -> str:
    """What to do about a server that could not be connected."""
    name = quote_argument(config.name)
    match error:
        case NotApproved():
            return f"mooring mcp approve {name}"
        case SpawnError(fix=fix) if fix:
            return suggest_program(config, error.command, where.env.get("PATH", ""))
        case InputMissing():
            return make_fix(f"mooring tools {name}", "asks for it in a terminal")
        case ServerError():
            return suggest_reach(config, error, where.env) or _suggest_otherwise(config, error, where)
        case _:
            return lead_with_command(error.hint or "shows its definition", f"mooring mcp get {name}")


def _suggest_otherwise(config: ServerConfig, error: ServerError, where: Paths) -> str:
    """The fix for an error that has nothing to do with how the server is reached."""
    match error:
        case _ if error.hint:
            return lead_with_command(error.hint, suggest_retry(config.name))
        case HttpError(status=status) if status >= _SERVER_FAULT:
            words = "the server itself fails: try again later, or tell whoever runs it"
            return make_fix(suggest_retry(config.name), words)
        case _ if error.unset:
            return suggest_export(error.unset[0], config)
        case _ if lacks_token(error):
            words = advise_on_failure(config, error, where).rstrip(".")
            return make_fix(suggest_edit(config, "--token '${TOKEN}'"), words)
        case TimedOut() if can_edit_timeout(config):
            return make_fix(suggest_edit(config, "--timeout 120"), "it may need longer")
        case TimedOut():
            command = f"mooring mcp doctor --timeout 120 {quote_argument(config.name)}"
            return make_fix(command, "it may need longer")
        case _:
            return (
                _suggest_docker(config, error, where.env)
                or _suggest_variable(config, error, where.env)
                or make_fix(suggest_edit(config), _name_doubt(config))
            )


def _name_doubt(config: ServerConfig) -> str:
    what = "how it is started" if isinstance(config.connection, Stdio) else "its address"
    return f"opens its entry, to correct {what}, and tries it again"


def _suggest_docker(config: ServerConfig, error: ServerError, env: Mapping[str, str]) -> str:
    """How to start Docker, if a server runs in it and that is what its program misses."""
    if not any(_NO_DOCKER.search(line) for line in (*error.stderr, *str(error).splitlines())):
        return ""
    start = suggest_docker_start(env.get("PATH", ""))
    return f"{start} && {suggest_retry(config.name)}" if start else make_fix(suggest_retry(config.name), _START_DOCKER)


# --- a variable that its program asks for -----------------------------------------------------------------------------


def _suggest_variable(config: ServerConfig, error: ServerError, env: Mapping[str, str]) -> str:
    """How to give a program a variable that it says it lacks; empty if it names none."""
    variable = next(_list_lacking(config, error), None)
    if variable is None or not takes_references(config):
        return ""
    if variable in env:
        return make_fix(_suggest_reference(config, variable, variable), f"if you {_TRUST}: it passes on your variable")
    if keeps_own_secrets(config):
        name = name_secret(config.name, variable)
        reference = _suggest_reference(config, variable, f"keyring:{name}")
        return make_fix(f"mooring secret set {quote_argument(name)} && {reference}", f"if you {_TRUST}")
    command = f"export {variable}=… && {_suggest_reference(config, variable, variable)}"
    return make_fix(command, f"if you {_TRUST}; put the export into your shell's profile")


def _suggest_reference(config: ServerConfig, variable: str, reference: str) -> str:
    return suggest_edit(config, f"-e {quote_command((f'{variable}=${{{reference}}}',))}")


def _list_lacking(config: ServerConfig, error: ServerError) -> Iterator[str]:
    connection = config.connection
    if error.stage == "call" or not isinstance(connection, Stdio):
        return
    given = {*connection.env, *connection.pass_env}
    for line in (*error.stderr, *str(error).splitlines()):
        if not _LACK.search(line):
            continue
        # Nobody should be led to hand a server the key of their model.
        yield from (name for name in _VARIABLE.findall(line) if name not in given and not is_model_key(name))


# --- what is on record ------------------------------------------------------------------------------------------------


def rebuild_error(failure: Failure) -> ServerError:
    """An error like the one that is on record, as far as a fix depends on it."""
    server, text = failure.server, failure.error
    match failure.stage:
        case _ if failure.within is not None:
            return TimedOut(server, "", failure.within, stage="connect")
        case _ if failure.status is not None:
            return HttpError(server, failure.status, text)
        case "network":
            return ConnectError(server, text)
        case "tls":
            return TlsError(server, text)
        case "command":
            return ServerDied(server, "anything", stage="spawn", exit_code=failure.exit_code, stderr=(text,))
        case _:
            return HandshakeError(server, text)


# --- how a server is reached ------------------------------------------------------------------------------------------


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
    if not url or not _has_proxy(url, env):
        return []
    names = (f"{urlsplit(url).scheme}_proxy", "all_proxy")
    return [spelling for name in names for spelling in (name.upper(), name) if env.get(spelling)]


def _has_proxy(url: str, env: Mapping[str, str]) -> bool:
    try:
        address = parse_address(url)
    except ConfigError:
        return False
    try:
        return Network(env).proxy(address, Options()) is not None
    except ConfigError:  # a proxy that is not http
        return True


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
