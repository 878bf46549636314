"""`test`: one server, from its definition to its farewell, step by step and timed."""

from collections.abc import Callable
from time import perf_counter
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.actions.deadline import Deadline
from mooring.core.approved import Approved
from mooring.core.config import ServerConfig, Stdio
from mooring.core.hello import EraName
from mooring.core.limits import Limits, Timeout
from mooring.core.where import Where
from mooring.display.text import short_path
from mooring.errors import RpcError, ServerError, Stage, Unresolved
from mooring.host.host import Host
from mooring.permissions import pins
from mooring.servers.attempt import may_install
from mooring.servers.dial import INSTALL_TIMEOUT
from mooring.servers.launch.prepare import Endpoint, Launch
from mooring.servers.server import Server
from mooring.wire.session.session import Session

Name: TypeAlias = Literal["definition", "approval", "values", "start", "reach", "handshake", "tools", "ping", "close"]

PING = 10.0
"""How many seconds an answer to a ping may take."""


class Step(Struct, frozen=True):
    """One step, how long it took, and what is to be known of it."""

    step: Name
    ok: bool
    seconds: float
    detail: str = ""


class Found(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a server turned out to be."""

    protocol_version: str
    era: EraName
    server_info: dict[str, str]
    tools: int
    rejected: int
    held: int = 0
    """How many of the tools are held back, because they are not what was approved."""


async def test(
    host: Host, name: str, show: Callable[[Step], None], deadline: Deadline, *, where: Where, began: float
) -> Found:
    """Connect to one server and show each step as it is done; `began` is when the configuration was read first.

    Raises:
        UnknownServer, ServerDisabled, NotApproved, ConfigError: it cannot be started.
        ServerError: it could be, and failed; TimedOut where it was not in time.
    """
    config = host.definition(name)
    if isinstance(config, ServerConfig):
        show(Step("definition", True, perf_counter() - began, _describe(config, where.home)))
    server = host.server(name)
    show(Step("approval", True, 0.0, _describe_approval(server.approved)))
    async with deadline.covering(server.name, "to being tried"):
        return await _try(server, show, where, deadline.seconds)


def _describe(config: ServerConfig, home: str) -> str:
    origin = config.origin
    if origin.path is None:
        return f"{config.transport}, as given"
    return f"{config.transport}, from {origin.tool}, {origin.scope}: {short_path(origin.path, home)}"


def _describe_approval(approved: Approved) -> str:
    if approved.config.origin.path is None:
        return "not needed: you named it"
    return "not needed: your own configuration" if approved.own else "approved for this project"


async def _try(server: Server, show: Callable[[Step], None], where: Where, seconds: float | None) -> Found:
    trial = _Trial(server.config, show)

    def values_known(ready: Launch | Endpoint) -> None:
        trial.done("values", " ".join(map(str, ready.omitted)))

    try:
        limits = _limits(server, seconds)
        async with server.try_once(limits, on_ready=values_known, on_stage=trial.passed) as session:
            trial.opened(session)
            if session.era == "handshake":
                trial.done("ping", await _ping(session))
            held, _ = pins.check_tools(where, server.approved, session.tools.items)
            found = _found(session, len(held.names))
    except ServerError as error:
        trial.failed(error)
        raise
    trial.done("close")
    return found


async def _ping(session: Session) -> str:
    """Ask for a sign of life; a refusal is one too."""
    try:
        await session.ping(Timeout(PING, PING))
    except RpcError as error:
        return str(error)
    return ""


class _Trial:
    """Shows each step of one attempt, with the time since the one before."""

    def __init__(self, config: ServerConfig, show: Callable[[Step], None]) -> None:
        self._show = show
        self._since = perf_counter()
        self._passed: list[tuple[Name, float]] = []
        self._told: dict[Name, str] = {}
        way: Name = "start" if isinstance(config.connection, Stdio) else "reach"
        self._steps: dict[Stage, Name] = {
            "spawn": way, "connect": way, "handshake": "handshake", "list": "tools", "call": "ping",
        }  # fmt: skip

    def done(self, step: Name, detail: str = "", *, at: float | None = None, ok: bool = True) -> None:
        at = at or perf_counter()
        self._show(Step(step, ok, at - self._since, detail))
        self._since = at

    def passed(self, stage: Stage) -> None:
        """The connection came through a stage; one that is begun again in another way starts over."""
        if stage == "connect":
            self._passed.clear()
        self._passed.append((self._steps[stage], perf_counter()))

    def opened(self, session: Session) -> None:
        """Show how it came to be. Raises: ServerError where it has no tools because they cannot be listed."""
        tools, info = session.tools, session.hello.server_info
        who = f"{info.name} {info.version}".strip()
        self._told["handshake"] = f"protocol {session.hello.protocol_version}, {session.era} era: {who or 'nameless'}"
        if tools.note and not tools.items:
            raise ServerError(session.server, tools.note, stage="list")
        unusable = f", {len(tools.rejected)} that cannot be used" if tools.rejected else ""
        self._told["tools"] = f"{len(tools.items)}{unusable}{f'. {tools.note}' if tools.note else ''}"
        self._show_passed()

    def failed(self, error: ServerError) -> None:
        step: Name = "values" if isinstance(error, Unresolved) else self._steps[error.stage]
        self._show_passed(but=step)
        self.done(step, str(error), ok=False)

    def _show_passed(self, but: Name | None = None) -> None:
        for step, at in self._passed:
            if step != but:
                self.done(step, self._told.get(step, ""), at=at)
        self._passed.clear()


def _limits(server: Server, seconds: float | None) -> Limits:
    # A person who names no time wants to see a first `npx` or `docker` start through, whatever it downloads.
    if seconds is None and may_install(server.config):
        return replace(server.limits, connect=max(server.limits.connect, INSTALL_TIMEOUT))
    return server.limits


def _found(session: Session, held: int) -> Found:
    info = session.hello.server_info
    return Found(
        protocol_version=session.hello.protocol_version,
        era=session.era,
        server_info={"name": info.name, "version": info.version},
        tools=len(session.tools.items),
        rejected=len(session.tools.rejected),
        held=held,
    )
