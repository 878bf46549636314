"""The files below a folder, in a stable order and within bounds: links are not followed, ignored files left out."""

from collections.abc import Callable, Iterator
from time import monotonic

from msgspec import Struct

from mooring.agents.local.ignored import IgnoreRule, read_ignore_rules
from mooring.errors import FileError
from mooring.files.exact import FolderEntry, list_exact

MAX_ENTRIES = 200_000
MAX_SECONDS = 20.0
MAX_COMPARISONS = 3_000_000
"""How often a name is compared with a line of a `.gitignore`; after that, nothing more is left out."""
MAX_DEPTH = 200
_REPOSITORIES = (".git", ".hg", ".svn")


class FoundFile(Struct, frozen=True):
    """A file, by the names of the folders that lead to it."""

    parts: tuple[str, ...]
    path: str
    is_link: bool


class _Level(Struct, frozen=True):
    """A folder that is yet to be looked into."""

    path: str
    parts: tuple[str, ...]
    rules: tuple[IgnoreRule, ...]


class Walk:
    """One look through a folder. Blocks on the disk: call it in a thread."""

    def __init__(self, root: str, may_enter: Callable[[str], bool], *, with_ignored: bool = False) -> None:
        """`may_enter` is asked about each folder below the root."""
        self._root = root
        self._may_enter = may_enter
        self._with_ignored = with_ignored
        self._entries = 0
        self._comparisons = 0
        self._until = monotonic() + MAX_SECONDS
        self.is_cut = False
        """Whether there is more than was looked at."""

    def __iter__(self) -> Iterator[FoundFile]:
        waiting = [_Level(self._root, (), ())]
        while waiting and not self.is_cut:
            level = waiting.pop()
            folders: list[_Level] = []
            for found in self._look_into(level):
                if isinstance(found, FoundFile):
                    yield found
                else:
                    folders.append(found)
            # The last one is taken next: reversed, they are looked into in their order.
            waiting += reversed(folders)

    def _look_into(self, level: _Level) -> Iterator[FoundFile | _Level]:
        try:
            entries = list_exact(level.path) or []
        except FileError:
            # One folder that cannot be listed does not cost the others.
            return
        rules = self._find_rules(level, entries)
        for entry in sorted(entries):
            if self._is_over():
                return
            parts = (*level.parts, entry.name)
            is_folder = entry.kind == "folder"
            if self._is_left_out(entry.name, parts, is_folder, rules):
                continue
            path = f"{level.path.rstrip('/')}/{entry.name}"
            if is_folder and len(parts) < MAX_DEPTH and self._may_enter(path):
                yield _Level(path, parts, rules)
            elif entry.kind in ("file", "link"):
                yield FoundFile(parts, path, entry.kind == "link")

    def _find_rules(self, level: _Level, entries: list[FolderEntry]) -> tuple[IgnoreRule, ...]:
        has_file = any(entry.name == ".gitignore" and entry.kind == "file" for entry in entries)
        if self._with_ignored or not has_file:
            return level.rules
        return (*level.rules, *read_ignore_rules(level.path, len(level.parts)))

    def _is_left_out(self, name: str, parts: tuple[str, ...], is_folder: bool, rules: tuple[IgnoreRule, ...]) -> bool:
        if is_folder and name in _REPOSITORIES:
            return True
        self._comparisons += len(rules)
        if self._comparisons > MAX_COMPARISONS:
            return False
        # The last line that applies decides.
        deciding = next((rule for rule in reversed(rules) if rule.applies(parts, is_folder)), None)
        return deciding is not None and deciding.ignores

    def _is_over(self) -> bool:
        self._entries += 1
        if self._entries > MAX_ENTRIES or monotonic() > self._until:
            self.is_cut = True
        return self.is_cut
