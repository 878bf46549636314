"""The files below a folder, in a stable order and within bounds: links are not followed, ignored files left out."""

import re
from collections.abc import Callable, Iterator, Sequence
from time import monotonic

from msgspec import Struct

from mooring.core.text.glob import Glob
from mooring.errors import FileError
from mooring.files.no_follow import FolderEntry, list_exact, read_exact

MAX_ALTERNATIVES = 64
_INNERMOST_BRACES = r"\{([^{}]*,[^{}]*)\}"


class PathGlob:
    """A compiled glob: `*` stays inside a folder, `**` stands for any number of folders, `{a,b}` for either."""

    def __init__(self, text: str) -> None:
        self._alternatives = [_compile(one) for one in expand_braces(text)]

    def matches(self, parts: Sequence[str]) -> bool:
        """Whether it matches a path, given as the names of its folders and its own."""
        return any(_match(segments, parts) for segments in self._alternatives)


_Segment = Glob | None
"""A glob over one name, or `None` for `**`."""


def _compile(text: str) -> list[_Segment]:
    segments: list[_Segment] = []
    for name in text.split("/"):
        if name in ("", "."):
            continue
        # Two in a row mean no more than one.
        if name == "**" and segments and segments[-1] is None:
            continue
        segments.append(None if name == "**" else Glob(name))
    return segments


def _match(segments: Sequence[_Segment], parts: Sequence[str]) -> bool:
    """Whether segments match names: a table of how far both have come, so that nothing is tried twice."""
    reached = [True] + [False] * len(parts)
    for segment in segments:
        following = [False] * (len(parts) + 1)
        for index in range(len(parts) + 1):
            if segment is None:
                following[index] = reached[index] or (index > 0 and following[index - 1])
            elif index > 0 and reached[index - 1]:
                following[index] = segment.matches(parts[index - 1]) is True
        reached = following
    return reached[-1]


def expand_braces(text: str) -> list[str]:
    """The globs that one with `{a,b}` in it stands for; as many as are bearable."""
    waiting = [text]
    done: list[str] = []
    while waiting and len(waiting) + len(done) <= MAX_ALTERNATIVES:
        one = waiting.pop()
        found = re.search(_INNERMOST_BRACES, one)
        if found is None:
            done.append(one)
            continue
        waiting += _expand(one, found)
    return [*done, *waiting][:MAX_ALTERNATIVES]


def _expand(text: str, braces: "re.Match[str]") -> Iterator[str]:
    for choice in braces[1].split(",")[:MAX_ALTERNATIVES]:
        yield f"{text[: braces.start()]}{choice}{text[braces.end() :]}"


MAX_BYTES = 64 * 1024
MAX_RULES = 500
"""How many lines of one file are used."""


class IgnoreRule(Struct, frozen=True):
    """One line of a `.gitignore`."""

    glob: PathGlob
    depth: int
    """How many folders below the root its file is: its globs begin there."""
    folders_only: bool
    ignores: bool
    """False for a line that begins with `!`, which takes back what lines before it said."""

    def applies(self, parts: Sequence[str], is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        return self.glob.matches(parts[self.depth :])


def read_ignore_rules(folder: str, depth: int) -> tuple[IgnoreRule, ...]:
    """The rules of a folder's `.gitignore`; none if it has no usable one."""
    try:
        data = read_exact(f"{folder}/.gitignore", MAX_BYTES) or b""
    except FileError:
        return ()
    lines = data.decode(errors="replace").split("\n")[:MAX_RULES]
    rules = (_parse(line, depth) for line in lines)
    return tuple(rule for rule in rules if rule is not None)


def _parse(line: str, depth: int) -> IgnoreRule | None:
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    ignores = not text.startswith("!")
    text = text.removeprefix("!").removeprefix("\\")
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    # Without a slash in it, a name is meant in every folder below.
    glob = text if "/" in text else f"**/{text}"
    return IgnoreRule(PathGlob(glob), depth, folders_only, ignores) if text else None


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
