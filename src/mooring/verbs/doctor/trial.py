"""Really tries servers, through the same steps as `mcp test`: where each of them fails, and what to do about it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from urllib.parse import urlsplit

from msgspec import Struct

from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.failure import find_failed_stage, find_http_status
from mooring.display.text import address_server, quote_argument
from mooring.errors import (
    ConfigError,
    ConnectError,
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
from mooring.host.host import Host
from mooring.inventory.admit import Admitted
from mooring.verbs.config.get import find_missing_variables
from mooring.verbs.doctor.definitions import cannot_start, lacks_type, suggest_export
from mooring.verbs.doctor.fixes import (
    find_plain_url,
    lead_with_command,
    make_fix,
    suggest_edit,
    suggest_retry,
    suggest_url,
)
from mooring.verbs.doctor.programs import suggest_program
from mooring.verbs.doctor.remembered import describe_evidence
from mooring.verbs.doctor.report import Finding
from mooring.verbs.use.advice import advise_on_failure, can_edit_timeout, lacks_token
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import name_as_typed
from mooring.verbs.use.test import Found, TrialStep, test
from mooring.wire.http.address import parse_address
from mooring.wire.http.network import Network, Options

AT_ONCE = 16
"""How many servers are tried at the same time: programs that start together slow each other down."""
MOST_LINES = 5
"""How many of the last lines that a program wrote are evidence."""
_SERVER_FAULT = 500
"""From this HTTP status on, nothing is wrong with the request."""


class TriedServer(Struct, frozen=True):
    """What became of one server that was tried."""

    steps: tuple[TrialStep, ...] = ()
    found: Found | None = None
    error: MooringError | None = None

    @property
    def missing(self) -> str:
        """What had no value when it started, in words."""
        return next((step.detail for step in self.steps if step.step == "variables" and step.partial), "")


def list_triable(admitted: Admitted, names: Sequence[str], env: Mapping[str, str], *, asks: bool) -> tuple[str, ...]:
    """Which of these servers may be started and lack nothing without which they never could be.

    If somebody can be asked for inputs, those are not lacking.
    """
    approved = {name: admitted.find_approved(name) for name in names}
    return tuple(name for name, each in approved.items() if each and (asks or not cannot_start(each.config, env)))


async def try_servers(
    host: Host, names: Sequence[str], deadline: Deadline, where: Paths, on_pending: Callable[[Sequence[str]], None]
) -> dict[str, TriedServer]:
    """Try servers, several at once; `on_pending` gets the names of those that are under way or wait."""
    slots = asyncio.Semaphore(AT_ONCE)
    pending = dict.fromkeys(names)
    tried: dict[str, TriedServer] = {}

    async def try_next(name: str) -> None:
        async with slots:
            tried[name] = await _try_server(host, name, deadline, where)
        del pending[name]
        on_pending(tuple(pending))

    on_pending(tuple(pending))
    async with asyncio.TaskGroup() as tasks:
        for name in names:
            tasks.create_task(try_next(name))
    return {name: tried[name] for name in names}


async def _try_server(host: Host, name: str, deadline: Deadline, where: Paths) -> TriedServer:
    steps: list[TrialStep] = []
    try:
        found = await test(host, name, steps.append, deadline, where=where, began=perf_counter())
    except MooringError as error:
        # Not only its own errors: what an approved definition leads to may have changed since, for one.
        if isinstance(error, ServerError):
            name_as_typed(host, error, name)
        return TriedServer(tuple(steps), error=error)
    return TriedServer(tuple(steps), found)


# --- what it means --------------------------------------------------------------------------------------------------


def check_tried(name: str, config: ServerConfig, tried: TriedServer, where: Paths) -> Iterator[Finding]:
    """What to fix about a server, now that it was tried."""
    path = config.origin.path
    if tried.missing:
        fix = _suggest_value(config, where.env)
        yield Finding(name, tried.missing.rstrip("."), path, None, fix, True, "variables")
    if tried.error is not None:
        yield _report_failure(name, config, tried.error, where)
    if tried.found is not None and tried.found.transport is not None and lacks_type(config):
        what = f"Its URL has no type, and it speaks {tried.found.transport}"
        fix = f"mooring mcp edit -t {tried.found.transport} {quote_argument(name)}"
        yield Finding(name, what, path, None, fix, False)


def _suggest_value(config: ServerConfig, env: Mapping[str, str]) -> str:
    missing = find_missing_variables(config, env)
    if missing:
        return suggest_export(missing[0].variable, config)
    return make_fix(f"mooring mcp get {quote_argument(config.name)}", "shows where the value should come from")


def _report_failure(name: str, config: ServerConfig, error: MooringError, where: Paths) -> Finding:
    # A server that waits for the person's decision is not broken.
    is_unhealthy = not isinstance(error, NotApproved)
    return Finding(
        name,
        _describe(name, error),
        config.origin.path,
        None,
        _suggest_fix(config, error, where),
        is_unhealthy,
        find_failed_stage(error),
        tuple(_list_evidence(error)),
    )


def _describe(name: str, error: MooringError) -> str:
    if isinstance(error, SpawnError):
        return error.reason.rstrip(".")
    text = str(error).removesuffix(error.hint).strip()
    # Its last lines are among the evidence.
    if isinstance(error, ServerDied) and error.stderr:
        text = text.partition(". Its last output: ")[0]
    return address_server(name, text).rstrip(".")


def _list_evidence(error: MooringError) -> Iterator[str]:
    if not isinstance(error, ServerError):
        return
    yield from describe_evidence(error.exit_code, find_http_status(error))
    yield from (f"| {line}" for line in error.stderr[-MOST_LINES:])


def _suggest_fix(config: ServerConfig, error: MooringError, where: Paths) -> str:
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
    look = make_fix(f"mooring mcp get {quote_argument(config.name)}", "shows how it is started")
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
            return look


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
