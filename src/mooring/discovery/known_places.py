"""Every file that discovery reads, whether it exists or not: for whoever has to know what such a file is."""

import os
from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from mooring.core.definitions.paths import Paths
from mooring.discovery.format import Format, Obeyed, Place, Switch, locate, user_file
from mooring.discovery.formats import FORMATS


def list_project_places() -> frozenset[str]:
    """The paths of files inside a project, relative to any of its folders; each may hold one `*`."""
    return frozenset(place.path.removeprefix("./") for place in _list_places() if place.walked)


def list_user_places(where: Paths) -> frozenset[str]:
    """The absolute paths of the person's and the machine's files; each may hold one `*`."""
    outside = [place for place in _list_places() if not place.walked and not place.inline]
    return frozenset(chain.from_iterable(_locate_all(place, where) for place in outside))


def list_obeyed(tool: str | None = None) -> Iterator[Obeyed]:
    """What the tools obey or run besides their servers; with a name, what that one does."""
    for format in FORMATS:
        if tool is None or format.tool == tool:
            yield from format.obeys


def locate_obeyed(obeyed: Obeyed, where: Paths) -> Iterator[str]:
    """The absolute paths of the person's file or folder, also where it would be without variables that move it."""
    if obeyed.user:
        yield from _locate_all(user_file(obeyed.user), where)


def _locate_all(place: Place, where: Paths) -> Iterator[str]:
    # A variable may move a file away from its usual path, where another program may still find it.
    for machine in (where, replace(where, env={})):
        path = locate(place, machine)
        if path is not None:
            yield from path.split(os.pathsep) if place.path_list else (path,)


def _list_places() -> Iterator[Place]:
    for format in FORMATS:
        yield from format.places
        yield from format.exclusive
        yield from (program.place for program in format.unreadable)
        yield from (switch.place for switch in _list_switches(format))


def _list_switches(format: Format) -> Iterator[Switch]:
    yield from chain(format.off, format.on, format.approved_in, format.trust_marks)
    yield from chain(format.policies, format.only_managed_allow)
    for place in format.places:
        yield from place.off
        if place.folders is not None:
            yield from chain(place.folders.registries, place.folders.off, place.folders.answers)
