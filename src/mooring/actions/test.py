"""`test`: one server, from its definition to its farewell, step by step and timed."""

from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Literal, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.actions.deadline import Deadline
from mooring.actions.opening import Setup, for_once
from mooring.core.approved import Approved
from mooring.core.config import Broken, Stdio
from mooring.core.event import Event
from mooring.core.hello import EraName
from mooring.core.limits import Limits, Timeout
from mooring.display.text import short_path
from mooring.errors import RpcError, ServerError, Stage, Unresolved
from mooring.inventory.admit import admit, looking
from mooring.inventory.load import Inventory
from mooring.permissions import pins
from mooring.servers.dial import INSTALLING
from mooring.servers.launch.prepare import prepare
from mooring.servers.log import ServerLog
from mooring.servers.reach import context, installs, limits_of, prepared
from mooring.servers.shared import Shared
from mooring.settings import Settings
from mooring.wire.session.client import Client, Root
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


async def test(setup: Setup, inventory: Inventory | None, name: str, show: Callable[[Step], None]) -> Found:
    """Connect to one server and show each step as it is done; without an inventory, to the one of the setup.

    Raises:
        UnknownServer, Disabled, NotApproved, ConfigError: it cannot be started.
        ServerError: it could be, and failed; TimedOut where it was not in time.
    """
    if inventory is None:
        approved, settings = _given(setup, show)
    else:
        approved, settings = _approved(inventory, name, setup.request.where.home, show), inventory.settings
    approved = for_once(approved, setup.timeout, setup.env)
    log = ServerLog(setup.request.where)
    shared = Shared(
        setup.request.where,
        emit=_ignore,
        log=log.write if inventory is not None else _unlogged,
        guard=setup.guard,
        env=settings["env"],
        network=settings["network"],
    )
    try:
        async with Deadline(setup.timeout).covering(approved.name, "to being tried"):
            return await _tried(approved, shared, setup.timeout, show)
    finally:
        await shared.close()
        log.close()


def _given(setup: Setup, show: Callable[[Step], None]) -> tuple[Approved, Settings]:
    """The server that was named by its command or address."""
    began = perf_counter()
    admitted = looking(setup.request, [setup.adhoc] if setup.adhoc is not None else [])()
    approved = admitted.wanted[setup.alone]
    show(Step("definition", True, perf_counter() - began, f"{approved.config.transport}, as given"))
    show(Step("approval", True, 0.0, "not needed: you named it"))
    return approved, admitted.settings


def _approved(inventory: Inventory, name: str, home: str, show: Callable[[Step], None]) -> Approved:
    began = perf_counter()
    choice = inventory.find(name)
    config = choice.definition.config
    admitted = admit(inventory)
    refused = admitted.refused.get(choice.name)
    if isinstance(config, Broken) and refused is not None:
        raise refused.error
    path = short_path(config.origin.path, home) if config.origin.path else "as given"
    found = f"{config.transport}, from {config.origin.tool}, {config.origin.scope}: {path}"
    show(Step("definition", True, perf_counter() - began, found))
    if refused is not None:
        raise refused.error
    approved = admitted.wanted[admitted.aliases.get(choice.name, choice.name)]
    words = "not needed: your own configuration" if approved.own else "approved for this project"
    show(Step("approval", True, 0.0, words))
    return approved


async def _tried(approved: Approved, shared: Shared, seconds: float | None, show: Callable[[Step], None]) -> Found:
    trial = _Trial(approved, show)
    folder = Path(approved.folder)
    client = Client(roots=lambda: [Root(folder.as_uri(), folder.name)], on_stage=trial.passed)
    try:
        ready = await prepare(approved, context(shared))
        trial.done("values", " ".join(map(str, ready.omitted)))
        async with prepared(ready, approved.name, shared, client, _limits(approved, seconds)) as session:
            trial.opened(session)
            if session.era == "handshake":
                trial.done("ping", await _ping(session))
            held, _ = pins.look(shared.where, approved, session.tools.items)
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

    def __init__(self, approved: Approved, show: Callable[[Step], None]) -> None:
        self._show = show
        self._since = perf_counter()
        self._passed: list[tuple[Name, float]] = []
        self._told: dict[Name, str] = {}
        way: Name = "start" if isinstance(approved.config.connection, Stdio) else "reach"
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


def _limits(approved: Approved, seconds: float | None) -> Limits:
    limits = limits_of(approved.config, Limits())
    patient = seconds is None and installs(approved.config)
    return replace(limits, connect=max(limits.connect, INSTALLING)) if patient else limits


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


def _ignore(event: Event) -> None:
    return


def _unlogged(server: str, level: str, text: str) -> None:
    return
