"""How a face opens a host: on everything that is configured, or on the one server that was named for it alone.

This is the only place that opens one. Actions are given the open host, so that a chat, a program or a background host
can run them too.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.actions.deadline import SLACK, Deadline
from mooring.core.approved import Approved
from mooring.core.config import Http, Origin, ServerConfig, Stdio
from mooring.core.problem import Problem
from mooring.core.template import literal
from mooring.core.where import Viewpoint
from mooring.errors import ConfigError, MooringError, UnknownServer, UnknownTool
from mooring.host.host import Host
from mooring.host.options import HostOptions
from mooring.inventory.admit import Admitted
from mooring.permissions.verdict import BYPASSED, CommandPermissions
from mooring.process.programs import Guard
from mooring.servers.connect import derive_server_name, split_command
from mooring.settings import load
from mooring.tools.catalog.catalog import Catalog, ToolSource

T = TypeVar("T")
Transport: TypeAlias = Literal["auto", "http", "sse"]

STARTING_SHARE = 0.95
"""The part of the whole time that a server may take to start: its own error says more than the end of the whole."""

LATELY = 600.0
"""For so many seconds a list of everything believes that a server failed, and a list that was given no time to live."""


def _ignore_problem(_: Problem) -> None:
    return


def _ignore_lack(server: str, what: str) -> None:
    return


class ServerTarget(Struct, frozen=True, kw_only=True):
    """A server that is configured nowhere: a command and what to add to its environment, or an address."""

    command: str = ""
    env: Mapping[str, str] = {}
    url: str | None = None
    headers: Mapping[str, str] = {}
    transport: Transport = "auto"


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
    permissions: CommandPermissions = CommandPermissions()
    warn: Callable[[str, str], None] = _ignore_lack
    """Called with a server and what it has to go without."""
    tell: Callable[[Problem], None] = _ignore_problem
    """Called with what went wrong beside the work, once all is done."""

    def __repr__(self) -> str:
        return f"<Setup of {self.alone or self.request.cwd}>"

    @property
    def alone(self) -> str:
        """The name of the one server, where it needs not be named."""
        return self.adhoc.name if self.adhoc is not None else ""


async def run_on_host(
    setup: Setup, work: Callable[[Host, Deadline], Awaitable[T]], *, named: str = "", start_required: bool = False
) -> T:
    """Do some work on a host on which nothing starts by itself, except required servers where that is wanted.

    `named` is the server, or the `server.tool`, that the person named. The deadline covers everything, from the
    reading of the configuration on.

    Raises: ConfigError; UnknownServer where something is given to a server that nobody knows; what the work raises.
    """
    deadline = Deadline(setup.timeout)
    adhoc = [setup.adhoc] if setup.adhoc is not None else None
    options = HostOptions(
        request=setup.request,
        servers=adhoc,
        policy=setup.permissions.mode or "allow",  # whoever types a call has allowed it; a deny still refuses it
        rules=setup.permissions.rules,
        bypass_reason=BYPASSED if setup.permissions.mode else "you typed it",
        guard=setup.guard,
        remember=adhoc is None,
        adapt=partial(_adapt, setup=setup, named=named or setup.alone, start_required=start_required),
        warn=setup.warn,
    )
    async with open_host(options, setup.tell) as host:
        return await work(host, deadline)


@asynccontextmanager
async def open_host(options: HostOptions, tell: Callable[[Problem], None] = _ignore_problem) -> AsyncIterator[Host]:
    """An open host, and its guard closed after it; `tell` hears in the end what went wrong beside the work."""
    host = Host(options)
    try:
        async with options.guard or nullcontext(), host:
            yield host
    finally:
        for problem in host.troubles:
            tell(problem)


async def connect_servers(
    host: Host, deadline: Deadline, servers: Iterable[str] | None = None, *, refresh: bool = True
) -> dict[str, MooringError]:
    """Connect these servers, or all, side by side, and say what failed, by server. Raises: as `Host.server`.

    With neither names nor `refresh`, what was learned of a server lately is not asked for once more.
    """
    within = None if deadline.seconds is None else deadline.left + SLACK
    trusted = 0.0 if refresh or servers is not None else LATELY
    errors = await host.ready(within, servers=servers, refresh=refresh, trusted=trusted)
    return {name: deadline.worded(error, "to being connected") for name, error in errors.items()}


def config_errors(host: Host) -> tuple[Problem, ...]:
    """What is wrong with the configuration; what went wrong since is told at the end."""
    return tuple(problem for problem in host.problems if problem.level == "error" and problem not in host.troubles)


def adhoc_config(target: ServerTarget) -> ServerConfig:
    """The definition of a server that is named by its command or its address. Raises: ConfigError."""
    origin = Origin("mooring", "cli", None)
    if target.url is not None:
        from mooring.wire.http.address import parse_address  # only where there is an address

        headers = {name: literal(value) for name, value in target.headers.items()}
        reached = Http(literal(target.url), headers, transport=target.transport)
        return ServerConfig(name=parse_address(target.url).name, origin=origin, connection=reached)
    command, *args = argv = split_command(target.command)
    env = {name: literal(value) for name, value in target.env.items()}
    program = Stdio(literal(command), tuple(map(literal, args)), env)
    return ServerConfig(name=derive_server_name(argv), origin=origin, connection=program)


# --- a configuration for one command --------------------------------------------------------------------------------


def _adapt(admitted: Admitted, *, setup: Setup, named: str, start_required: bool) -> Admitted:
    if setup.adhoc is not None:
        admitted = _in_project(admitted, setup.request)
    receiver = _find_receiver(admitted, named) if setup.env and setup.adhoc is None else ""
    wanted = {
        name: for_one_command(approved, setup, setup.env if name == receiver else {}, start_required)
        for name, approved in admitted.wanted.items()
    }
    return replace(admitted, wanted=wanted)


def _in_project(admitted: Admitted, request: Viewpoint) -> Admitted:
    """A server that a person names inside a project is still called by the project's rules."""
    if not request.project:
        return admitted
    root = files.project_folders(request.cwd)[-1]
    return replace(admitted, root=root, settings=load(request.where, root))


def for_one_command(approved: Approved, setup: Setup, env: Mapping[str, str], start_required: bool = False) -> Approved:
    """The same server for one command: started when it is needed, with what was given for it, in the time there is."""
    config = replace(approved.config, lifecycle="lazy", required=approved.config.required and start_required)
    if setup.timeout is not None:
        config = replace(config, start_timeout=setup.timeout * STARTING_SHARE)
    if env:
        config = replace(config, connection=_add_env(config, env))
    return replace(approved, config=config)


def _add_env(config: ServerConfig, env: Mapping[str, str]) -> Stdio:
    if not isinstance(config.connection, Stdio):
        raise ConfigError(f"{config.name} is reached by its address; -e is for servers that are programs.")
    added = {name: literal(value) for name, value in env.items()}
    return replace(config.connection, env={**config.connection.env, **added})


def _find_receiver(admitted: Admitted, named: str) -> str:
    """The server that the person means by what they named, as it is called where it is started."""
    if not named:
        raise ConfigError("-e gives a variable to one server; name the server.")
    known = (*admitted.wanted, *admitted.aliases, *admitted.refused)
    catalog = Catalog(ToolSource(name, (), None, known=False) for name in known)
    try:
        name = catalog.server(named)
    except UnknownServer:
        try:
            name = catalog.find(named).server
        except UnknownTool:
            raise ConfigError("-e gives a variable to one server; write the tool as SERVER.TOOL.") from None
    return admitted.aliases.get(name, name)
