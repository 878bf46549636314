"""How a face opens a host: on everything that is configured, or on the one server that was named for it alone.

Only this file opens one. Actions are given the open host, so that a chat, a program or a background host can run them
too.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from functools import partial
from typing import Literal, TypeAlias, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from mooring.core.conversation.question import Ask, Question
from mooring.core.conversation.status import Unapproved
from mooring.core.conversation.verdict import BYPASSED, CommandPermissions, Rule
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Http, Origin, ServerConfig, Stdio
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.definitions.template import Template, literal
from mooring.core.text.suggestions import nearest
from mooring.errors import ConfigError, InputMissing, MooringError, ServerError, UnknownServer, UnknownTool
from mooring.host.host import Host
from mooring.host.options import HostOptions
from mooring.inventory.admit import Admitted
from mooring.process.programs import Guard
from mooring.settings import find_project_folders, load
from mooring.tools.catalog.catalog import Catalog, ToolSource
from mooring.verbs.use.deadline import CONNECTING, SLACK, Deadline

T = TypeVar("T")
Transport: TypeAlias = Literal["auto", "http", "sse"]

RESERVED_SHARE = 0.05
"""The share of the whole time that a start leaves: the server's own error says more than that the time is up."""

LATELY = 600.0
"""Seconds for which a listing of all servers believes that a server failed, and a list without a time to live.

Without it, each `mooring tools` would wait the whole deadline for every server that hangs, and start again every server
that sends a time to live of zero, as the newest SDKs do unasked.
"""

_ADHOC = Origin("mooring", "cli", None)


def _ignore_problem(_: Problem) -> None:
    return


class Setup(Struct, frozen=True, kw_only=True):
    """What the command line says about the servers to talk to."""

    workspace: Workspace
    adhoc: ServerConfig | None = None
    """The one server to talk to, if the person named it by its command or address."""
    env: Mapping[str, str] = {}
    """Variables that the person passes to the server they name, on top of those in its definition."""
    timeout: float | None = None
    """Seconds for everything, from start to result."""
    guard: Guard | None = None
    permissions: CommandPermissions = CommandPermissions()
    ask: Ask | None = None
    """Puts questions to the person, if somebody is there."""
    unanswered: list[Question] = field(default_factory=list)
    """What servers asked while nobody was there."""
    warn: Callable[[str, str], None] = lambda server, what: None
    """Called with a server and a sentence on the value it has to start without."""
    tell: Callable[[Problem], None] = _ignore_problem
    """Called once everything is done, with what went wrong besides the work."""

    def __repr__(self) -> str:
        # Short, and without env: its values may be secrets.
        return f"<Setup of {self.adhoc_name or self.workspace.cwd}>"

    @property
    def adhoc_name(self) -> str:
        """The name of the ad hoc server, which the person doesn't have to type; empty if there is none."""
        return self.adhoc.name if self.adhoc is not None else ""


async def run_on_host(
    setup: Setup,
    work: Callable[[Host, Deadline], Awaitable[T]],
    *,
    named: str | None = None,
    start_required: bool = False,
) -> T:
    """Run `work` on a host on which no server starts by itself, except required ones with `start_required`.

    `named` is the server, or the `server.tool`, that the person named. The deadline covers everything, including the
    reading of the configuration.

    Raises: ConfigError; UnknownServer if variables are passed to a server that doesn't exist; what the work raises.
    """
    deadline = Deadline(setup.timeout)
    adhoc = [setup.adhoc] if setup.adhoc is not None else None
    options = HostOptions(
        workspace=setup.workspace,
        servers=adhoc,
        # A call that a person types is itself the permission; a deny still refuses it, and the machine's rules may ask.
        policy=setup.permissions.mode or "allow",
        rules=setup.permissions.rules,
        bypass_reason=BYPASSED if setup.permissions.mode else "you typed it",
        ask=setup.ask,
        on_unanswered=setup.unanswered.append,
        guard=setup.guard,
        # What is configured nowhere leaves nothing in the catalog on disk.
        remember=adhoc is None,
        adapt=partial(_adapt, setup=setup, named=named or setup.adhoc_name, start_required=start_required),
        warn=setup.warn,
        start_reserve=(setup.timeout or 0.0) * RESERVED_SHARE,
    )
    async with open_host(options, setup.tell) as host:
        for problem in find_idle_denies(host, setup.permissions.rules):
            setup.tell(problem)
        try:
            return await work(host, deadline)
        except ServerError as error:
            if adhoc is None:
                name_as_typed(host, error, named)
            raise


@asynccontextmanager
async def open_for_clients(
    setup: Setup, names: Sequence[str], *, must_record: bool = False, awaits_client: bool = False
) -> AsyncIterator[Host]:
    """An open host on the servers of these names, or on all, whose calls are made by other programs.

    Nobody typed those calls, so that the person's rules and mode decide, and each client is asked for itself. Changed
    files take effect while it is open. With `must_record`, a call that cannot be recorded is refused, and `setup.tell`
    gets each problem as soon as there is one: the end may be months away. With `awaits_client`, servers that start by
    themselves wait for the first of the programs, to start in its era.

    Raises: ConfigError; UnknownServer, ServerDisabled, NotApproved if a named server cannot be used.
    """
    adhoc = [setup.adhoc] if setup.adhoc is not None else None
    known: dict[str, None] = {}
    options = HostOptions(
        workspace=setup.workspace,
        servers=adhoc,
        policy=setup.permissions.mode,
        rules=setup.permissions.rules,
        guard=setup.guard,
        reload=True,
        must_record=must_record,
        tell_at_once=setup.tell if must_record else _ignore_problem,
        awaits_client=awaits_client,
        remember=adhoc is None,
        adapt=partial(_adapt_for_clients, setup=setup, names=names, known=known),
        warn=setup.warn,
    )
    async with open_host(options, _ignore_problem if must_record else setup.tell) as host:
        for name in names:
            if name.casefold() not in map(str.casefold, known):
                raise UnknownServer(name, nearest(name, known))
            host.find_name(name)
        for problem in find_idle_denies(host, setup.permissions.rules):
            setup.tell(problem)
        yield host


@asynccontextmanager
async def open_host(options: HostOptions, tell: Callable[[Problem], None] = _ignore_problem) -> AsyncIterator[Host]:
    """An open host, closed before its guard; `tell` gets what went wrong besides the work, at the end."""
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
    """Connect these servers, or all, at once, and return what failed, by server. Raises: as `Host.server`.

    With neither names nor `refresh`, servers that were asked recently are not asked again.
    """
    within = None if deadline.seconds is None else deadline.seconds_left + SLACK
    # A person who names a server, or wants fresh lists, is not answered from memory.
    trusted = LATELY if servers is None and not refresh else 0.0
    errors = await host.ready(within, servers=servers, refresh=refresh, trusted=trusted)
    reworded = {name: deadline.reword(error, CONNECTING) for name, error in errors.items()}
    return reworded if servers is not None else {name: _advise_to_name(error) for name, error in reworded.items()}


def _advise_to_name(error: MooringError) -> MooringError:
    """The same error; nobody is asked for the input of a server that they didn't name."""
    if isinstance(error, InputMissing):
        return InputMissing(error.server, error.input, error.variables, named=False)
    return error


async def connect_server(host: Host, deadline: Deadline, name: str, *, refresh: bool = True) -> None:
    """Connect one server. Raises: as `Host.server`; ServerError, TimedOut if it was not in time."""
    errors = await connect_servers(host, deadline, [name], refresh=refresh)
    for error in errors.values():
        raise error


def find_config_errors(host: Host) -> tuple[Problem, ...]:
    """What is wrong with the configuration; troubles that came up since are reported when the host is closed."""
    errors = [problem for problem in host.problems if problem.level == "error"]
    return tuple(problem for problem in errors if problem not in host.troubles)


def find_idle_denies(host: Host, rules: Iterable[Rule]) -> Iterator[Problem]:
    """What to say about rules that deny tools of no server that is known: they may be misspelled."""
    if not rules:
        return
    # Loaded here: hardly any command is given rules.
    from mooring.permissions import rule as parsing

    known = list(host.status())
    for rule in parsing.find_idle_denies(rules, known):
        server, _ = parsing.parse_pair(rule.tool) or (rule.tool, "")
        near = nearest(server, known, 1)
        hint = f"did you mean {near[0]}?" if near else "`mooring mcp list` shows the known ones"
        yield Problem(None, f"The deny rule {rule.tool} matches no known server", hint, level="warning")


def name_as_typed(host: Host, error: ServerError, named: str | None) -> None:
    """Name a server in an error as the person did: by the name that was typed, if it has several."""
    own = error.server
    typed = None if named is None else _find_typed(host, named)
    text = str(error)
    if typed is not None and typed != own and host.server(typed).name == own:
        # As a word of its own: an address or a path in the message may hold the name as well.
        pattern = rf"(?<![\w./@:-]){re.escape(own)}(?![\w/@-])"
        text = re.sub(pattern, lambda _: typed, text)
        error.server = typed
    # What cannot be started is named by its command alone.
    if error.server and error.server not in text:
        text = f"{error.server}: {text}"
    error.args = (text, *error.args[1:])


def _find_typed(host: Host, named: str) -> str | None:
    """The configured name of the server in `server` or `server.tool`."""
    candidates = [named, *(named[:index] for index, letter in enumerate(named) if letter == ".")]
    known = {name.casefold(): name for name in host.servers}
    return next((known[each.casefold()] for each in candidates if each.casefold() in known), None)


def find_waiting(host: Host) -> tuple[str, ...]:
    """The project's servers that wait for a decision; a rejected one does not, until it changes."""
    return tuple(name for name, refused in host.refused.items() if isinstance(refused.status, Unapproved))


def make_program_config(line: str, env: Mapping[str, str]) -> ServerConfig:
    """The definition of a server that is named by its command. Raises: ConfigError."""
    from mooring.servers.connect import derive_server_name, split_command  # a prompt may be without servers

    command, *args = argv = split_command(line)
    program = Stdio(literal(command), tuple(map(literal, args)), _make_literals(env))
    return ServerConfig(name=derive_server_name(argv), origin=_ADHOC, connection=program)


def make_http_config(url: str, headers: Mapping[str, str], transport: Transport = "auto") -> ServerConfig:
    """The definition of a server that is named by its address. Raises: ConfigError."""
    # Loaded here: a call of a program needs nothing of what speaks HTTP.
    from mooring.wire.http.address import parse_address

    connection = Http(literal(url), _make_literals(headers), transport=transport)
    return ServerConfig(name=parse_address(url).name, origin=_ADHOC, connection=connection)


def _make_literals(values: Mapping[str, str]) -> dict[str, Template]:
    """Values that are taken as they are: the shell has already expanded what the person typed."""
    return {name: literal(value) for name, value in values.items()}


# --- a configuration for one command --------------------------------------------------------------------------------


def _adapt(admitted: Admitted, *, setup: Setup, named: str, start_required: bool) -> Admitted:
    """The admitted servers, adapted to one command."""
    if setup.adhoc is not None:
        admitted = _apply_project_rules(admitted, setup.workspace)
    wanted = {name: _adapt_server(approved, setup, start_required) for name, approved in admitted.wanted.items()}
    # The variables of an ad hoc server are part of its definition already.
    if setup.env and setup.adhoc is None:
        receiver = _find_receiver(admitted, named)
        if receiver in wanted:
            wanted[receiver] = _add_env(wanted[receiver], setup.env)
    return replace(admitted, wanted=wanted)


def _adapt_for_clients(admitted: Admitted, *, setup: Setup, names: Sequence[str], known: dict[str, None]) -> Admitted:
    """The admitted servers that clients may use: those that were named, or all; `known` gets the names of all."""
    known |= dict.fromkeys((*admitted.wanted, *admitted.aliases, *admitted.refused))
    if setup.adhoc is not None:
        return _apply_project_rules(admitted, setup.workspace)
    if not names:
        return admitted
    chosen = {name.casefold() for name in names}
    wanted = {name: approved for name, approved in admitted.wanted.items() if name.casefold() in chosen}
    # The name that stands for a program may be none of those that were chosen.
    for name, alias in admitted.aliases.items():
        if name.casefold() in chosen and alias.server not in wanted:
            wanted[name] = alias.approved
    aliases = {name: alias for name, alias in admitted.aliases.items() if alias.server in wanted}
    return replace(admitted, wanted=wanted, aliases=aliases)


def _apply_project_rules(admitted: Admitted, workspace: Workspace) -> Admitted:
    """The same with the project's settings: its rules hold for an ad hoc server that is called inside it, too."""
    if not workspace.project:
        return admitted
    root = find_project_folders(workspace.where, workspace.cwd)[-1]
    return replace(admitted, root=root, settings=load(workspace.where, root))


def _adapt_server(approved: Approved, setup: Setup, start_required: bool) -> Approved:
    """The same server for one command: started only when it is needed, and within the time of the command."""
    # A command starts only what it needs, even if a definition says "eager" or "required".
    required = approved.config.required and start_required
    config = replace(approved.config, lifecycle="lazy", required=required)
    if setup.timeout is not None:
        config = replace(config, start_timeout=setup.timeout)
    return replace(approved, config=config)


def _add_env(approved: Approved, env: Mapping[str, str]) -> Approved:
    config = approved.config
    if not isinstance(config.connection, Stdio):
        raise ConfigError(f"{config.name} is reached by its address; -e is for servers that are programs.")
    program = replace(config.connection, env={**config.connection.env, **_make_literals(env)})
    return replace(approved, config=replace(config, connection=program))


def _find_receiver(admitted: Admitted, named: str) -> str:
    """The server that the person means by `named`, under its own name if that is an alias."""
    if not named:
        raise ConfigError("-e gives a variable to one server; name the server.")
    known = (*admitted.wanted, *admitted.aliases, *admitted.refused)
    # A catalog without tools takes names apart just as the call will, so that both find the same server.
    catalog = Catalog(ToolSource(name, (), "", known=False) for name in known)
    try:
        name = catalog.server(named)
    except UnknownServer:
        try:
            name = catalog.find(named).server
        except UnknownTool:
            raise ConfigError("-e gives a variable to one server; write the tool as SERVER.TOOL.") from None
    return admitted.aliases[name].server if name in admitted.aliases else name
