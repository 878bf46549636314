"""Really tries servers, through the same steps as `mcp test`: where each of them fails, and what to do about it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter

from msgspec import Struct

from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.failure import find_failed_stage, find_http_status
from mooring.display.text import address_server, quote_argument
from mooring.errors import MooringError, NotApproved, ServerDied, ServerError, SpawnError
from mooring.host.host import Host
from mooring.inventory.admit import Admitted
from mooring.verbs.config.get import find_missing_variables
from mooring.verbs.doctor.definitions import cannot_start, lacks_type, suggest_export
from mooring.verbs.doctor.failure_fixes import suggest_failure_fix
from mooring.verbs.doctor.fixes import make_fix
from mooring.verbs.doctor.remembered import describe_evidence
from mooring.verbs.doctor.report import Finding
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import name_as_typed
from mooring.verbs.use.test import Found, TrialStep, test

AT_ONCE = 16
"""How many servers are tried at the same time: programs that start together slow each other down."""
MOST_LINES = 5
"""How many of the last lines that a program wrote are evidence."""


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
        suggest_failure_fix(config, error, where),
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
