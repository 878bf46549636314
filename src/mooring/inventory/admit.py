"""Which of the configured servers may be started, under which names, and why the others may not."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.conversation.status import Disabled, Failed, RejectedServer, Status, Unapproved
from mooring.core.definitions.approved import Approved, ForeignServers
from mooring.core.definitions.config import Broken, ServerConfig
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.errors import ApprovalState, ConfigError, MooringError, NotApproved, ServerDisabled
from mooring.permissions import trust
from mooring.settings import Settings
from mooring.settings import load as load_settings

if TYPE_CHECKING:  # loading the formats of thirty tools costs more than opening a host with servers passed in
    from mooring.discovery.choose import Choice
    from mooring.inventory.load import Inventory

GivenServers: TypeAlias = Mapping[str, Any] | Iterable[Any]
"""Servers that a program passes in: by name, each an entry in the common shape, a `ServerConfig` or an object that is a
server; the whole content of a file that has such a mapping; or a list of values and objects that know their names."""

_WHY = {"rejected": "was rejected for this project", "changed": "changed since you decided about it"}


class NotAdmitted(Struct, frozen=True):
    """The status of a server that may not be started, and the error for whoever asks for it."""

    status: Status
    error: MooringError
    config: ServerConfig | Broken | None = None


class Alias(Struct, frozen=True):
    """Another name of a server that starts the very same program; its rules and its pins are its own."""

    server: str
    """The name in `Admitted.wanted` that stands for the program."""
    approved: Approved
    """The definition under this name."""


class Admitted(Struct, frozen=True):
    """Everything configured, sorted into what may be started and what may not."""

    settings: Settings
    root: str
    """The project's folder."""
    wanted: Mapping[str, Approved] = {}
    aliases: Mapping[str, Alias] = {}
    """Other names of servers in `wanted`: two definitions that say the very same start one program."""
    refused: Mapping[str, NotAdmitted] = {}
    problems: tuple[Problem, ...] = ()
    looked: tuple[str, ...] = ()
    """Every path at which a file was looked for: a change there may change this."""

    def find_approved(self, name: str) -> Approved | None:
        """The definition of a server that may be started, by any of its names."""
        alias = self.aliases.get(name)
        return alias.approved if alias else self.wanted.get(name)

    def is_same_as(self, other: "Admitted") -> bool:
        """Whether both say the same about every server."""
        return self._compared() == other._compared()

    def _compared(self) -> tuple[object, ...]:
        # Not the errors: two exceptions are never equal, even if they say the same.
        statuses = {name: refused.status for name, refused in self.refused.items()}
        return self.wanted, self.aliases, statuses, self.problems


def admit(inventory: "Inventory") -> Admitted:
    """Sort out what may be started; the first of several names of the same program stands for it."""
    wanted: dict[str, Approved] = {}
    aliases: dict[str, Alias] = {}
    refused: dict[str, NotAdmitted] = {}
    alike: dict[Hashable, list[Approved]] = {}
    for choice in inventory.choices:
        judged = _judge(inventory, choice)
        if isinstance(judged, NotAdmitted):
            refused[choice.name] = judged
            continue
        # Two names of one program are always among those with one key: no others have to be compared.
        candidates = alike.setdefault(_twin_key(judged, choice), [])
        twin = next((twin for twin in candidates if twin.is_same_program(judged)), None)
        if twin is not None:
            aliases[choice.name] = Alias(twin.name, judged)
        else:
            wanted[choice.name] = judged
            candidates.append(judged)
    return Admitted(inventory.settings, inventory.root, wanted, aliases, refused, inventory.problems, inventory.looked)


def _judge(inventory: "Inventory", choice: "Choice") -> Approved | NotAdmitted:
    config = choice.definition.config
    if config.disabled_by is not None:
        return NotAdmitted(Disabled(config.disabled_by), ServerDisabled(config.name, config.disabled_by), config)
    if isinstance(config, Broken):
        problem = config.problem
        message = f"{config.name} {problem.message} ({problem.path or 'as given'})."
        return NotAdmitted(Failed(problem.message), ConfigError(message), config)
    approved = trust.admit(inventory.approvals, inventory.root, config)
    if approved is None:
        why = _WHY.get(choice.standing, "comes from the project and is not approved")
        is_rejected = choice.standing == "rejected"
        state: ApprovalState = "rejected" if is_rejected else "undecided"
        status = RejectedServer() if is_rejected else Unapproved(choice.standing)
        return NotAdmitted(status, NotApproved(config.name, why, state), config)
    return approved


def _twin_key(approved: Approved, choice: "Choice") -> Hashable:
    """What two names of one server have in common besides the program.

    A server has one set of filters, timeouts and so on. Names whose entries differ in those are two servers: otherwise
    a tool that one entry blocks could be called under its name, because the other does not block it.
    """
    # The first of the names that the choice found alike stands for all of them.
    return choice.names[0], approved.folder, approved.own, approved.options


def find_foreign(wanted: Mapping[str, Approved], aliases: Mapping[str, Alias]) -> ForeignServers:
    """The names, other names included, of servers that came with the project, and the person's rules for each."""
    by_name = {**wanted, **{name: alias.approved for name, alias in aliases.items()}}
    return {name: frozenset(approved.rules) for name, approved in by_name.items() if not approved.own}


def admit_given(configs: Iterable[ServerConfig], folder: str, settings: Settings) -> Admitted:
    """Definitions that a program passes in: all of them may be started.

    Raises:
        ConfigError: they are not definitions.
    """
    message = "Servers are given as a mapping in the shape of mcpServers, as ServerConfig values, or as server objects."
    try:
        found: list[Any] = list(configs)
    except TypeError:
        raise ConfigError(message) from None
    if not all(isinstance(config, ServerConfig) for config in found):
        raise ConfigError(message)
    return Admitted(settings, folder, {config.name: trust.approve_given(config, folder) for config in found})


def keep_unreadable(admitted: Admitted, running: Mapping[str, Approved]) -> Admitted:
    """The same, and with it the running servers whose files cannot be read just now.

    Somebody may be writing the file at this moment, and a server that is in use should not stop for that.
    """
    unread = {problem.path for problem in admitted.problems if problem.level == "error" and problem.server is None}
    listed = {*admitted.wanted, *admitted.aliases, *admitted.refused}
    wanted = dict(admitted.wanted)
    for name, approved in running.items():
        if name not in listed and approved.config.origin.path in unread:
            wanted[name] = approved
    return replace(admitted, wanted=wanted)


def build_loader(workspace: Workspace, servers: GivenServers | None) -> Callable[[], Admitted]:
    """The function that finds out what may be started, each time anew; servers passed in stay the same.

    Raises:
        ConfigError: the servers passed in are not definitions.
    """
    if servers is None:
        return lambda: _load_configured(workspace)
    named = servers if isinstance(servers, Mapping) else _name_objects(servers)
    if isinstance(named, Mapping):
        from mooring.inventory.load import load_given  # brings the formats of all tools along

        admitted = admit(load_given(named, workspace))
    else:
        admitted = admit_given(named, workspace.cwd, load_settings(workspace.where, None))
    return lambda: admitted


def _name_objects(servers: Any) -> Mapping[str, Any] | Any:
    """Server objects by the names that they give themselves; anything else as it is.

    Raises: ConfigError if two of them have one name.
    """
    # Values alone are by far the most common, and need nothing that knows other objects.
    given = servers if isinstance(servers, list | tuple) else [servers]
    if all(isinstance(server, ServerConfig) for server in given):
        return servers
    from mooring.servers.in_process import is_server_object

    named: dict[str, Any] = {}
    for server in given:
        if not isinstance(server, ServerConfig) and not is_server_object(server):
            return servers
        if server.name in named:
            raise ConfigError(f"Two servers are called {server.name!r}. Pass them as a mapping with names of your own.")
        named[server.name] = server
    return named


def _load_configured(workspace: Workspace) -> Admitted:
    from mooring.inventory.load import load  # not needed by a host with servers passed in as values

    return admit(load(workspace))
