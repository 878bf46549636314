"""The files below a folder, in a stable order and within bounds; and which of them may be opened, or even named."""

import re
from collections.abc import Callable, Iterator, Sequence
from time import monotonic

from msgspec import Struct
from msgspec.structs import replace

from mooring.agents.local.project_files import ProjectFiles
from mooring.conversation.local_tool import LocalCall
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.text.glob import Glob
from mooring.display.text import count_noun
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

    def __init__(self, root: str, may_enter: Callable[[str], bool]) -> None:
        """`may_enter` is asked about each folder below the root."""
        self._root = root
        self._may_enter = may_enter
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
        if not has_file:
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


MOST_NAMED = 10
"""How many links that lead out of the project are named."""
MOST_LINKS = 10_000
"""How many links of one search are looked at for that."""


class PermittedFiles:
    """Asks about each file that one call comes across, and counts those that it leaves out."""

    def __init__(self, workspace: ProjectFiles, call: LocalCall) -> None:
        self._workspace = workspace
        self._may_open = call.may_open
        self._private = workspace.guarded.list_private()
        # A person who was asked about the folder itself has agreed to what is in it.
        self._is_agreed = bool(call.access.insists)
        self._left_out = 0
        self._looked_at = 0
        self._exits: list[str] = []

    @property
    def notes(self) -> Iterator[str]:
        """What a model is told about what is missing."""
        yield from list_left_out(self._left_out)
        if self._exits:
            named = ", ".join(self._exits[:MOST_NAMED]) + (", …" if len(self._exits) > MOST_NAMED else "")
            yield f"[Links that lead out of the project are not followed, and reading one is asked about: {named}]"

    def may_enter(self, folder: str) -> bool:
        """Whether a folder is looked into, given that the one above was."""
        return self._count(self._is_agreed or not self._private.find(folder))

    def may_open(self, path: str, *, is_link: bool = False) -> bool:
        """Whether a file is opened or named, given that its folder was looked into."""
        if is_link:
            access = self._assess_link(path)
        else:
            # Nothing else has to be found out: its folder is none of those that insist.
            project, home = self._workspace.project, self._workspace.home
            access = LocalAccess(kind="path", subject=path, project=project, home=home, is_free=True)
        return self._count(self._may_open(access))

    def record_link(self, path: str) -> None:
        """Note where a link leads that is not looked into, for `notes`."""
        self._looked_at += 1
        if self._looked_at <= MOST_LINKS:
            self._assess_link(path)

    def _assess_link(self, path: str) -> LocalAccess:
        """What the gate has to know before a link is named. It is not opened here, wherever it leads."""
        place = self._workspace.resolve(path)
        access = replace(self._workspace.assess_reading(place, asks_for_each=True), unless_named="")
        if place.exit and self._may_open(access):
            self._exits.append(self._workspace.shorten(path))
        return access

    def may_name(self, folder: str, entry: FolderEntry) -> bool:
        """Whether a listing of a folder may name what is in it."""
        path = f"{folder.rstrip('/')}/{entry.name}"
        if entry.kind == "folder" and not self.may_enter(path):
            return False
        return self.may_open(path, is_link=entry.kind == "link")

    def _count(self, is_permitted: bool) -> bool:
        self._left_out += not is_permitted
        return is_permitted


def list_left_out(count: int) -> Iterator[str]:
    """What is said about names that are missing from a listing or a search, if any are."""
    if count:
        yield f"[{count_noun(count, 'name')} left out: denied by rules, or asked about.]"
