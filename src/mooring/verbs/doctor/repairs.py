"""`doctor --fix`: changes that are safe, each in one sentence, and each only in what Mooring itself writes.

Another tool's file, an approval, a rule or anything else that a person decided is never touched.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.discovery.format import document_kind
from mooring.display.text import safe
from mooring.errors import ConfigError
from mooring.files.cleanup import find_leftovers, find_loose, move_aside, remove_leftover, tighten
from mooring.inventory.load import Inventory
from mooring.inventory.overlay import is_overlay_damaged, overlay_path
from mooring.permissions import pins, trust
from mooring.syntax.edit import edit_bytes, put_value
from mooring.verbs.config.add import update_config
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.doctor.definitions import lacks_type
from mooring.verbs.doctor.report import Repair
from mooring.verbs.doctor.storage import list_own_folders

if TYPE_CHECKING:  # what connects to servers is loaded only if they are tried
    from mooring.verbs.doctor.trial import TriedServer


class PlannedRepair(Struct, frozen=True):
    """A change, and what makes it."""

    repair: Repair
    make: Callable[[], object]


def plan_repairs(
    inventory: Inventory, where: Paths, tried: "Mapping[str, TriedServer] | None" = None
) -> tuple[PlannedRepair, ...]:
    """What can be fixed; nothing is changed yet."""
    return (
        *_plan_damaged_record(where),
        *_plan_leftovers(where),
        *_plan_rights(where),
        *_plan_types(inventory, where, tried or {}),
    )


def make_repair(planned: PlannedRepair) -> Repair:
    """Make one change; what keeps it from being made is part of the result. Raises: Denied."""
    refuse_below_mooring("mooring mcp doctor --fix")
    try:
        planned.make()
    except ConfigError as error:
        return replace(planned.repair, error=str(error))
    return replace(planned.repair, done=True)


def _plan_damaged_record(where: Paths) -> Iterator[PlannedRepair]:
    """The record of switched-off servers: while it is damaged, all of them are off.

    The records of approvals, rules and approved tools hold back or ask as long as they are damaged. Without them,
    something could start or run that the person had refused, so only the person moves them.
    """
    path = overlay_path(where)
    if is_overlay_damaged(where):
        what = f"moves the damaged record of disabled servers aside, to {safe(path)}.damaged; servers are on again"
        yield PlannedRepair(Repair(what, path), partial(move_aside, path))


def _plan_leftovers(where: Paths) -> Iterator[PlannedRepair]:
    for folder in (*list_own_folders(where), where.config):
        for path in find_leftovers(folder):
            what = "removes a file that a process left behind"
            yield PlannedRepair(Repair(what, path), partial(remove_leftover, path))


def _plan_rights(where: Paths) -> Iterator[PlannedRepair]:
    for folder in list_own_folders(where):
        for path in find_loose(folder):
            yield PlannedRepair(Repair("takes the rights of other users away", path), partial(tighten, path))


def _plan_types(inventory: Inventory, where: Paths, tried: "Mapping[str, TriedServer]") -> Iterator[PlannedRepair]:
    """A URL without a type gets the one that it turned out to have."""
    for name, outcome in tried.items():
        config = inventory.find(name).definition.config
        transport = outcome.found.transport if outcome.found else None
        if transport is None or not isinstance(config, ServerConfig) or not lacks_type(config):
            continue
        if config.origin.path is None or _has_pins(inventory, config, where):
            continue
        what = f'adds "type": "{transport}" to {safe(name)}'
        make = partial(_put_type, config, config.origin.path, transport, where)
        yield PlannedRepair(Repair(what, config.origin.path), make)


def _has_pins(inventory: Inventory, config: ServerConfig, where: Paths) -> bool:
    """Whether tools of exactly this definition are approved: for another definition they would be approved anew."""
    approved = trust.admit(inventory.approvals, inventory.root, config)
    key = pins.make_key(approved) if approved else None
    return key is not None and pins.load(where, key) != (None, None)


def _put_type(config: ServerConfig, path: str, transport: str, where: Paths) -> None:
    kind = document_kind(path)

    def change(text: str) -> str:
        return put_value(text, kind, (*config.origin.key, "type"), transport)

    update_config(path, lambda data: edit_bytes(data, change), where)
