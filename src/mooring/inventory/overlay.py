"""What the person switched on or off without touching the file that defines it, everywhere or in one project.

It is kept in their state folder (`overlay.json`): another tool's file keeps its own state, and a repository has no say.
"""

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.units import MIB
from mooring.discovery.scan import RankedDefinition
from mooring.display.text import suggest_new_record
from mooring.errors import FileError
from mooring.files.record import CHANGED, DAMAGED, read_own_record, write_own_record

MAX_BYTES = MIB
DISABLED_BY = "`mooring mcp disable`"
UNREADABLE = "the record of disabled servers, which cannot be read"


class Overlay(Struct, frozen=True):
    """Which servers are on or off by their names; what is said for a project wins there."""

    version: int = 1
    user: dict[str, bool] = {}
    projects: dict[str, dict[str, bool]] = {}

    def list_switches(self, project: str) -> dict[str, bool]:
        return {**self.user, **self.projects.get(project, {})}


def load_overlay(where: Paths) -> tuple[Overlay | None, Problem | None]:
    """What is on record, or `None` and a problem if that cannot be read: then every server is off.

    Which ones the person disabled is unknown, and none of those may start because a byte on a disk changed.
    """
    path = overlay_path(where)
    try:
        return _read(path), None
    except FileError as error:
        message = f"The record of disabled servers {error.reason}, so all servers are disabled"
        return None, Problem(path, message, error.fix or suggest_new_record(path))


def check_overlay(where: Paths) -> None:
    """Check that switches can be saved: a record that cannot be read is never written over. Raises: FileError."""
    _read_for_update(overlay_path(where))


def is_overlay_damaged(where: Paths) -> bool:
    """Whether there is a record that nobody can read; one of a newer version is not damaged."""
    try:
        _read(overlay_path(where))
    except FileError as error:
        return error.reason in (DAMAGED, CHANGED)
    return False


def save_switch(where: Paths, name: str, on: bool, project: str, *, everywhere: bool) -> None:
    """Switch a server on or off in a project, or everywhere, which includes this project. Raises: FileError."""
    path = overlay_path(where)
    with files.locked(path):
        overlay = _read_for_update(path)
        if everywhere:
            overlay = _forget_in(overlay, name, project)
            overlay = replace(overlay, user={**overlay.user, name: on})
        else:
            switches = {**overlay.projects.get(project, {}), name: on}
            overlay = replace(overlay, projects={**overlay.projects, project: switches})
        write_own_record(path, overlay)


def forget_switch(where: Paths, name: str, project: str) -> None:
    """Let a server be as its file says again, everywhere and in a project. Raises: FileError."""
    path = overlay_path(where)
    with files.locked(path):
        before = _read_for_update(path)
        after = _forget_in(replace(before, user=_drop(before.user, name)), name, project)
        if after != before:
            write_own_record(path, after)


def apply_overlay(
    definitions: Sequence[RankedDefinition], overlay: Overlay | None, off: Iterable[str]
) -> tuple[RankedDefinition, ...]:
    """The definitions, with those of the names switched off; what was named on the command line is on."""
    if overlay is None:
        return tuple(_switch_off(each, UNREADABLE) for each in definitions)
    names = frozenset(off)
    return tuple(_switch_off(each, DISABLED_BY) if each.name in names else each for each in definitions)


def overlay_path(where: Paths) -> str:
    """The file in which the switches are kept."""
    return f"{where.state}/overlay.json"


def _switch_off(definition: RankedDefinition, by: str) -> RankedDefinition:
    config = definition.config
    if config.origin.scope == "cli" or not config.enabled:
        return definition
    return replace(definition, config=replace(config, disabled_by=by))


def _forget_in(overlay: Overlay, name: str, project: str) -> Overlay:
    if project not in overlay.projects:
        return overlay
    return replace(overlay, projects={**overlay.projects, project: _drop(overlay.projects[project], name)})


def _drop(switches: dict[str, bool], name: str) -> dict[str, bool]:
    return {other: on for other, on in switches.items() if other != name}


def _read(path: str) -> Overlay:
    return read_own_record(path, Overlay, MAX_BYTES) or Overlay()


def _read_for_update(path: str) -> Overlay:
    try:
        return _read(path)
    except FileError as error:
        raise FileError(path, error.reason, error.fix or suggest_new_record(path)) from None
