"""How a command opens a host: on all that is configured, or on the one server that was named for it alone."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from mooring.actions.deadline import SLACK, Deadline
from mooring.actions.direct import Target
from mooring.core.approved import Approved
from mooring.core.config import Http, Origin, ServerConfig, Stdio
from mooring.core.problem import Problem
from mooring.core.template import literal
from mooring.core.where import Viewpoint
from mooring.errors import ConfigError, MooringError, UnknownServer, UnknownTool
from mooring.host.host import Host
from mooring.host.options import HostOptions
from mooring.inventory.admit import Admitted
from mooring.permissions.judge import Said
from mooring.process.programs import Guard
from mooring.servers.connect import name_of, words
from mooring.tools.catalog.catalog import Catalog, ToolSource

BEGIN = 0.95
"""The part of all the time that a server may take to begin: its own error tells more than the end of the whole."""

LATELY = 600.0
"""For so many seconds a list of everything believes that a server failed, and a list that was given no time to live."""


def _nobody(_: Problem) -> None:
    return


class Setup(Struct, frozen=True, kw_only=True):
    """What the command line says of the servers to talk to."""

    request: Viewpoint
    adhoc: ServerConfig | None = None
    """The one server, where it was named by its command or address."""
    env: Mapping[str, str] = {}
    """What the person gives to the server they name, on top of what its definition says."""
    timeout: float | None = None
    """Seconds for everything, from the start to the result."""
    guard: Guard | None = None
    said: Said = Said()
    """What it says of permissions."""
    warn: Callable[[str, str], None] = lambda server, what: None
    """Told what a server has to go without."""
    tell: Callable[[Problem], None] = _nobody
    """Hears what went wrong beside the work, once all is done."""

    def __repr__(self) -> str:
        return f"<Setup of {self.alone or self.request.cwd}>"

    @property
    def alone(self) -> str:
        """The name of the one server, where it needs not be named."""
        return self.adhoc.name if self.adhoc is not None else ""


async def connected(
    host: Host, setup: Setup, servers: Iterable[str] | None = None, *, refresh: bool = True
) -> dict[str, MooringError]:
    """Connect these servers, or all, side by side, and say what failed, by server. Raises: as `Host.server`.

    With neither names nor `refresh`, what was learned of a server lately is not asked for once more.
    """
    deadline = Deadline(setup.timeout)
    within = None if setup.timeout is None else setup.timeout + SLACK
    trusted = 0.0 if refresh or servers is not None else LATELY
    errors = await host.ready(within, servers=servers, refresh=refresh, trusted=trusted)
    return {name: deadline.worded(error, "to being connected") for name, error in errors.items()}


@asynccontextmanager
async def opened(setup: Setup, named: str = "", *, required: bool = False) -> AsyncIterator[Host]:
    """A host on which nothing starts by itself, but what is `required` where that is wanted.

    `named` is the server, or the `server.tool`, that the person named.

    Raises: ConfigError; UnknownServer where something is given to a server that nobody knows.
    """
    adhoc = [setup.adhoc] if setup.adhoc is not None else None
    charter = HostOptions(
        request=setup.request,
        servers=adhoc,
        policy=setup.said.mode or "allow",  # whoever types a call has allowed it; what is denied stays so
        rules=tuple(setup.said.rules),
        guard=setup.guard,
        remember=adhoc is None,
        adapt=partial(_adapted, setup=setup, named=named or setup.alone, required=required),
        warn=setup.warn,
    )
    host = Host(charter)
    try:
        async with setup.guard or nullcontext(), host:
            yield host
    finally:
        for problem in host.troubles:
            setup.tell(problem)


def amiss(host: Host) -> tuple[Problem, ...]:
    """What is wrong with the configuration; what went wrong since is told at the end."""
    return tuple(problem for problem in host.problems if problem.level == "error" and problem not in host.troubles)


def adhoc(target: Target) -> ServerConfig:
    """The definition of a server that is named by its command or its address. Raises: ConfigError."""
    origin = Origin("mooring", "cli", None)
    if target.url is not None:
        from mooring.wire.http.network import address  # only where there is an address

        headers = {name: literal(value) for name, value in target.headers.items()}
        reached = Http(literal(target.url), headers, transport=target.transport)
        return ServerConfig(name=address(target.url).name, origin=origin, connection=reached)
    command, *args = argv = words(target.command)
    env = {name: literal(value) for name, value in target.env.items()}
    program = Stdio(literal(command), tuple(map(literal, args)), env)
    return ServerConfig(name=name_of(argv), origin=origin, connection=program)


def _adapted(admitted: Admitted, *, setup: Setup, named: str, required: bool) -> Admitted:
    given = _named(admitted, named) if setup.env and setup.adhoc is None else ""
    wanted = {
        name: for_once(approved, setup.timeout, setup.env if name == given else {}, required=required)
        for name, approved in admitted.wanted.items()
    }
    return replace(admitted, wanted=wanted)


def for_once(approved: Approved, timeout: float | None, env: Mapping[str, str], *, required: bool = False) -> Approved:
    """The same server for one command: started when it is needed, with what was given for it, in the time there is."""
    config = replace(approved.config, lifecycle="lazy", required=approved.config.required and required)
    if timeout is not None:
        config = replace(config, start_timeout=timeout * BEGIN)
    if env:
        config = replace(config, connection=_given(config, env))
    return replace(approved, config=config)


def _given(config: ServerConfig, env: Mapping[str, str]) -> Stdio:
    if not isinstance(config.connection, Stdio):
        raise ConfigError(f"{config.name} is reached by its address; -e is for servers that are programs.")
    added = {name: literal(value) for name, value in env.items()}
    return replace(config.connection, env={**config.connection.env, **added})


def _named(admitted: Admitted, named: str) -> str:
    """The server that the person means, by the name under which it is started."""
    known = (*admitted.wanted, *admitted.aliases, *admitted.refused)
    catalog = Catalog(ToolSource(name, (), None, known=False) for name in known)
    if not named:
        raise ConfigError("-e gives a variable to one server; name the server.")
    try:
        name = catalog.server(named)
    except UnknownServer:
        try:
            name = catalog.find(named).server
        except UnknownTool:
            raise ConfigError("-e gives a variable to one server; write the tool as SERVER.TOOL.") from None
    return admitted.aliases.get(name, name)
