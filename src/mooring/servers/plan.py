"""Pure: what must happen for the servers that run to become those that are wanted."""

from collections.abc import Mapping

from msgspec import Struct

from mooring.core.approved import Approved


class Plan(Struct, frozen=True):
    """Names, each in one of the groups, sorted."""

    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    """Another program or address than before."""
    amend: tuple[str, ...] = ()
    """The same one, offered otherwise: other filters, deadlines or lifecycle."""
    keep: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return bool(self.start or self.stop or self.replace or self.amend)


def plan(running: Mapping[str, Approved], wanted: Mapping[str, Approved]) -> Plan:
    """How to get from the one to the other, leaving alone whatever stays the same."""
    both = sorted(running.keys() & wanted.keys())
    same = [name for name in both if running[name].same_program(wanted[name])]
    return Plan(
        start=tuple(sorted(wanted.keys() - running.keys())),
        stop=tuple(sorted(running.keys() - wanted.keys())),
        replace=tuple(name for name in both if name not in same),
        amend=tuple(name for name in same if _offered(running[name]) != _offered(wanted[name])),
        keep=tuple(name for name in same if _offered(running[name]) == _offered(wanted[name])),
    )


def _offered(approved: Approved) -> tuple[object, ...]:
    config = approved.config
    return (
        config.tools_allow,
        config.tools_deny,
        config.start_timeout,
        config.call_timeout,
        config.lifecycle,
        config.required,
        config.always_load,
        approved.target,
    )
