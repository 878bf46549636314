"""Pure: what has to happen so that the servers that run become those that are wanted."""

from collections.abc import Mapping

from msgspec import Struct

from mooring.core.definitions.approved import Approved


class Plan(Struct, frozen=True):
    """Server names, each in exactly one group, sorted."""

    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    replace: tuple[str, ...] = ()
    """Servers whose program or address changed."""
    update: tuple[str, ...] = ()
    """The same program or address with other filters, timeouts or lifecycle: nothing is restarted for that."""
    keep: tuple[str, ...] = ()


def make_plan(running: Mapping[str, Approved], wanted: Mapping[str, Approved]) -> Plan:
    """How to get from the running servers to the wanted ones while leaving alone whatever stays the same."""
    replace: list[str] = []
    update: list[str] = []
    keep: list[str] = []
    for name in sorted(running.keys() & wanted.keys()):
        before, after = running[name], wanted[name]
        if not before.is_same_program(after):
            replace.append(name)
        elif (before.options, before.rules) != (after.options, after.rules):
            update.append(name)
        else:
            keep.append(name)
    return Plan(
        start=tuple(sorted(wanted.keys() - running.keys())),
        stop=tuple(sorted(running.keys() - wanted.keys())),
        replace=tuple(replace),
        update=tuple(update),
        keep=tuple(keep),
    )
