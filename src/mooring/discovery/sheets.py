"""The files that hold a format's servers: its own, those in the folders of plugins, and those that a manifest names."""

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, groupby, product
from typing import Any, TypeAlias

from mooring.core.definitions.problem import Problem
from mooring.discovery.documents import Documents
from mooring.discovery.format import Folder, Folders, Format, Place, Sheet, Switch
from mooring.discovery.mentions import find_mentions, read_switch

_Spot: TypeAlias = tuple[Place, str, Folder]
"""A place, the path it is at, and the folder that this path is in."""
_NO_FOLDER = Folder()


class SheetFinder:
    """Finds the sheets of formats, and the folders of plugins that several formats share only once."""

    def __init__(self, documents: Documents, formats: Sequence[Format]) -> None:
        self._documents = documents
        self._tools = frozenset(format.tool for format in formats)
        self._folders: dict[int, tuple[Folder, ...]] = {}

    def find(self, format: Format) -> tuple[Sheet, ...]:
        """The files of a format that exist and can be read, highest first."""
        sheets: list[Sheet] = []
        for place, path, folder in self._spots(format):
            document = self._documents.read(place, path)
            if document is None:
                continue
            sheet = Sheet(place, path, document, folder)
            if place.may_name_files:
                sheets.extend(self._read_manifest(sheet))
            else:
                sheets.append(sheet)
        return tuple(sheets)

    def _spots(self, format: Format) -> list[_Spot]:
        # Plain places are taken together, because a nearer folder of the project comes first whichever place it is.
        spots: list[_Spot] = []
        for folders, places in groupby(format.places, key=lambda place: place.folders):
            if folders:
                spots.extend(self._spots_inside(folders, places))
            else:
                spots.extend(self._plain_spots(places))
        return spots

    def _plain_spots(self, places: Iterable[Place]) -> list[_Spot]:
        # Two places may lead to one file: ATOMIC_CODING_AGENT_DIR replaces both of Atomic's folders. It is read once,
        # in the rank of the last.
        once: dict[tuple[str, tuple[str, ...] | None, str], Place] = {}
        for place, path in self._documents.paths(places):
            key = (place.scope, place.key, path)
            once[key] = once.pop(key, place)
        return [(place, path, self._surrounding_folder(place, path)) for (*_, path), place in once.items()]

    def _surrounding_folder(self, place: Place, path: str) -> Folder:
        """The folder of a file, where folders are switched off by name as Gemini CLI's extensions are."""
        if not place.off or not os.path.lexists(path):
            return _NO_FOLDER
        name = os.path.basename(os.path.dirname(path))
        return Folder(disabled_by=find_mentions(self._documents, place.off).find_name(name))

    def _spots_inside(self, folders: Folders, places: Iterable[Place]) -> Iterator[_Spot]:
        """Each place in each of the folders that another file names."""
        if id(folders) not in self._folders:
            self._folders[id(folders)] = self._find_folders(folders)
        for place, folder in product(places, self._folders[id(folders)]):
            yield place, place.path.replace("{each}", folder.path, 1), folder

    def _find_folders(self, folders: Folders) -> tuple[Folder, ...]:
        # A tool that is switched off as a source is not asked for its plugins either.
        if folders.tool not in self._tools:
            return ()
        registries = self._read_switches(folders.registries)
        if not registries:
            return ()
        from mooring.discovery.plugins import find_folders, resolve_folders  # only where plugins are installed

        listed = find_folders(folders.tool, registries, self._documents.context)
        off = find_mentions(self._documents, folders.off)
        answers = [value for _, value in self._read_switches(folders.answers)]
        return tuple(resolve_folders(listed, off, answers))

    def _read_switches(self, switches: Iterable[Switch]) -> list[tuple[str, Any]]:
        return list(chain.from_iterable(read_switch(self._documents, switch) for switch in switches))

    def _read_manifest(self, sheet: Sheet) -> Iterator[Sheet]:
        from mooring.discovery.plugins import ManifestFile, read_manifest  # only where plugins are installed

        for part in read_manifest(sheet):
            match part:
                case Sheet():
                    yield part
                case Problem():
                    self._documents.problems.append(part)
                case ManifestFile(path, place):
                    document = self._documents.read(place, path)
                    if document is not None:
                        yield Sheet(place, path, document, sheet.folder)
