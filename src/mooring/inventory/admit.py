"""Which of everything configured may be started, under which names, and why the rest may not."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.approved import Approved
from mooring.core.config import Broken, ServerConfig
from mooring.core.problem import Problem
from mooring.core.status import Disabled, Failed, Status, Unapproved
from mooring.core.where import Viewpoint
from mooring.errors import ConfigError, MooringError, NotApproved, ServerDisabled
from mooring.permissions import trust
from mooring.settings import Settings
from mooring.settings import load as load_settings

if TYPE_CHECKING:  # reading the files of thirty tools costs more than a host that is given its servers
    from mooring.discovery.choose import Choice
    from mooring.inventory.load import Inventory

Given: TypeAlias = Mapping[str, Any] | Iterable[ServerConfig]
"""Servers in the common shape, `{"echo": {"command": …}}`, or as values."""

_WHY = {
    "rejected": "was rejected for this project",
    "changed": "changed since you decided about it",
}


class NotAdmitted(Struct, frozen=True):
    """How a server that may not be started stands, and what to tell whoever asks for it."""

    status: Status
    error: MooringError
    config: ServerConfig | Broken | None = None


class Admitted(Struct, frozen=True):
    """Everything configured, sorted out."""

    settings: Settings
    root: str
    """The project's folder."""
    wanted: Mapping[str, Approved] = {}
    aliases: Mapping[str, str] = {}
    """Other names of servers in `wanted`: the very same thing is started once."""
    refused: Mapping[str, NotAdmitted] = {}
    problems: tuple[Problem, ...] = ()
    looked: tuple[str, ...] = ()
    """Everywhere a file was looked for: whatever changes there may change this."""

    def same(self, other: "Admitted") -> bool:
        """Whether both say the same of every server."""
        mine, theirs = (
            (each.wanted, each.aliases, {name: refused.status for name, refused in each.refused.items()}, each.problems)
            for each in (self, other)
        )
        return mine == theirs


def admit(inventory: "Inventory") -> Admitted:
    """Sort out what may be started; the first of several names of the same thing stands for it."""
    wanted: dict[str, Approved] = {}
    aliases: dict[str, str] = {}
    refused: dict[str, NotAdmitted] = {}
    for choice in inventory.choices:
        judged = _judged(inventory, choice)
        if isinstance(judged, NotAdmitted):
            refused[choice.name] = judged
        elif (twin := _twin(judged, choice, wanted)) is not None:
            aliases[choice.name] = twin
        else:
            wanted[choice.name] = judged
    return Admitted(inventory.settings, inventory.root, wanted, aliases, refused, inventory.problems, inventory.looked)


def given(configs: Iterable[ServerConfig], folder: str, settings: Settings) -> Admitted:
    """Definitions that a program gave: all of them may be started. Raises: ConfigError where they are no such."""
    try:
        found: list[Any] = list(configs)
    except TypeError:
        found = [None]
    if not all(isinstance(config, ServerConfig) for config in found):
        raise ConfigError("Servers are given as a mapping in the shape of mcpServers, or as ServerConfig values.")
    return Admitted(settings, folder, {config.name: trust.given(config, folder) for config in found})


def keeping(admitted: Admitted, running: Mapping[str, Approved]) -> Admitted:
    """The same, and with it the servers of files that cannot be read just now: somebody may be writing them."""
    unread = {problem.path for problem in admitted.problems if problem.level == "error" and problem.server is None}
    known = {*admitted.wanted, *admitted.aliases, *admitted.refused}
    saved = {
        name: approved
        for name, approved in running.items()
        if name not in known and approved.config.origin.path in unread
    }
    return replace(admitted, wanted={**admitted.wanted, **saved})


def _judged(inventory: "Inventory", choice: "Choice") -> Approved | NotAdmitted:
    config = choice.definition.config
    if config.disabled_by is not None:
        return NotAdmitted(Disabled(config.disabled_by), ServerDisabled(config.name, config.disabled_by), config)
    if isinstance(config, Broken):
        words = f"{config.name} {config.problem.message} ({config.problem.path or 'as given'})."
        return NotAdmitted(Failed(config.problem.message), ConfigError(words), config)
    approved = trust.admit(inventory.ledger, inventory.root, config)
    if approved is None:
        why = _WHY.get(choice.standing, "comes from the project and is not approved")
        return NotAdmitted(Unapproved(choice.standing), NotApproved(config.name, why), config)
    return approved


def _twin(approved: Approved, choice: "Choice", wanted: Mapping[str, Approved]) -> str | None:
    return next((name for name in choice.aliases if name in wanted and wanted[name].same_program(approved)), None)


def looking(request: Viewpoint, servers: Given | None) -> Callable[[], Admitted]:
    """How to find out what is configured."""
    if servers is None:
        return lambda: _configured(request)
    if isinstance(servers, Mapping):
        found = _understood(servers, request)
    else:
        found = given(servers, request.cwd, load_settings(request.where, None))
    return lambda: found


def _configured(request: Viewpoint) -> Admitted:
    from mooring.inventory.load import load  # not needed by a host that is given its servers

    return admit(load(request))


def _understood(servers: Mapping[str, Any], request: Viewpoint) -> Admitted:
    from mooring.inventory.load import given as read

    return admit(read(servers, request))
