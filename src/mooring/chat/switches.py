"""The servers that a chat switched on and off, or added, until it ends, over what the configuration says."""

from msgspec.structs import replace

from mooring.core.conversation.status import Disabled, Status
from mooring.core.definitions.paths import Workspace
from mooring.errors import ConfigError, MooringError, ServerDisabled
from mooring.inventory.admit import Admitted, NotAdmitted, build_loader


class ServerSwitches:
    """Which servers one chat switched on and off. They are in effect once the configuration is read again."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._on: frozenset[str] = frozenset()
        self._off: frozenset[str] = frozenset()
        self._has_demo = False

    def add_demo(self) -> None:
        """Have the bundled server too."""
        self._has_demo = True

    def switch_on(self, server: str, status: Status) -> None:
        # A server that was switched off here comes back by itself. One that its own file switches off has to be
        # admitted again, this time as one that is on.
        if isinstance(status, Disabled) and server not in self._off:
            self._on |= {server}
        self._off -= {server}

    def switch_off(self, server: str) -> None:
        self._off |= {server}

    def forget(self, server: str) -> None:
        """Leave it to the configuration whether a server is on."""
        self._on -= {server}
        self._off -= {server}

    def apply(self, admitted: Admitted) -> Admitted:
        """The configuration, with the servers that were switched on and off here."""
        if self._on:
            workspace = replace(self._workspace, switched_on=self._on)
            switched = build_loader(workspace, None)()
            admitted = replace(admitted, wanted=switched.wanted, aliases=switched.aliases, refused=switched.refused)
        if self._has_demo:
            demo = build_loader(replace(self._workspace, demo=True, configs=(), project=False), None)()
            admitted = replace(admitted, wanted={**demo.wanted, **admitted.wanted})
        if self._off:
            admitted = _refuse(admitted, self._off)
        return admitted


def explain_refusal(server: str, refused: NotAdmitted) -> MooringError:
    """Why a server stays off that was to be enabled; "enable it" would be no help."""
    if isinstance(refused.error, ServerDisabled):
        return ConfigError(f"{server} stays disabled: {refused.error.by}.")
    return refused.error


def _refuse(admitted: Admitted, servers: frozenset[str]) -> Admitted:
    """The same with some servers refused, under all of their names."""
    names = set(servers)
    names.update(name for name, alias in admitted.aliases.items() if alias.server in servers)
    refused = dict(admitted.refused)
    # A name that isn't configured any more, or was refused before, stays as it is.
    definitions = {**admitted.wanted, **{name: alias.approved for name, alias in admitted.aliases.items()}}
    by = "in this chat"
    for name in names & definitions.keys():
        refused[name] = NotAdmitted(Disabled(by), ServerDisabled(name, by), definitions[name].config)
    return replace(
        admitted,
        wanted={name: approved for name, approved in admitted.wanted.items() if name not in names},
        aliases={name: alias for name, alias in admitted.aliases.items() if name not in names},
        refused=refused,
    )
