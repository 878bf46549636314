"""Where an agent works: which path a name means, whether it is inside the project, and what a rule is compared with."""

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from mooring import files
from mooring.agents.history import KeepFile
from mooring.agents.local.guarded import GuardedFiles
from mooring.conversation.local_tool import LocalTool
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.definitions.paths import Paths, is_below
from mooring.core.protocol.raw import is_too_deep
from mooring.core.text.digest import compute_digest
from mooring.core.text.glob import literal
from mooring.errors import FileError
from mooring.files.no_follow import read_exact
from mooring.settings import find_project_folders

MAX_FILE = 16 * 1024 * 1024
"""How large a file may be that is read or written as a whole."""
LONGEST_PATH = 4_096
LONGEST_GRANT = 500
"""A rule may have a thousand characters; a longer pattern than this is for nobody to read again."""


class LocalPath(Struct, frozen=True):
    """A path that a model wrote, and where it leads."""

    real: str
    """Without links in it; there may be no such file."""
    written: str
    """Absolute, but with the links."""
    exit: str = ""
    """The link by which it leads out of the project, if one does."""


class ProjectFiles:
    """One conversation's view of the disk. What it has read, it remembers; no other conversation shares that."""

    def __init__(
        self,
        where: Paths,
        cwd: str,
        writable: Iterable[str] = (),
        keep: KeepFile = lambda path, before, after: None,
    ) -> None:
        """`writable` are folders outside of the project in which files are written as inside."""
        self.where = where
        self.cwd = os.path.realpath(cwd)
        self.project = os.path.realpath(find_project_folders(where, self.cwd)[-1])
        self.home = os.path.realpath(where.home)
        self.guarded = GuardedFiles(where)
        self._writable = [*self._resolve_folders([where.env.get("TMPDIR") or "/tmp", *writable])]
        self.keep = keep
        self._read: dict[str, str] = {}
        """A digest of each file as the model has seen it, by its real path."""

    # --- paths ----------------------------------------------------------------------------------------------------

    def resolve(self, written: str) -> LocalPath:
        """Where a path leads. Raises: FileError if it is none."""
        if not written.strip() or "\0" in written or len(written) > LONGEST_PATH:
            raise FileError(written[:100].replace("\0", "\\0"), "is not a usable path")
        if written == "~" or written.startswith("~/"):
            written = self.where.home + written[1:]
        # Links are followed before `..`, as the system does.
        path = os.path.join(self.cwd, written)
        try:
            real = os.path.realpath(path)
            return LocalPath(real, os.path.normpath(path), files.find_exit(path, real, self.project))
        except (OSError, ValueError):
            raise FileError(written, "is not a usable path") from None

    def is_inside(self, real: str) -> bool:
        """Whether a path is in the project. A project that holds the home folder is no project but everything."""
        if is_below(self.home, self.project):
            return False
        return is_below(real, self.project)

    def explain_exit(self, path: LocalPath) -> str:
        """That a path leads out of the project by a link, and where to; empty if it doesn't."""
        if not path.exit:
            return ""
        return f"the link {self.shorten(path.exit)} leads out of the project, to {path.real}"

    def _resolve_folders(self, folders: Iterable[str]) -> Iterator[str]:
        for folder in folders:
            path = self.where.home + folder[1:] if folder == "~" or folder.startswith("~/") else folder
            real = os.path.realpath(path)
            # One that holds the home folder is no place for drafts, but everything.
            if os.path.isabs(path) and not is_below(self.home, real):
                yield real

    def shorten(self, real: str) -> str:
        """A path as a model and a person read it best."""
        return os.path.relpath(real, self.cwd) if is_below(real, self.cwd) else real

    # --- what a call would touch ----------------------------------------------------------------------------------

    def assess_reading(self, path: LocalPath, *, asks_for_each: bool = False) -> LocalAccess:
        """What the gate has to know of a tool that reads a file, or looks through a folder.

        `asks_for_each` is for tools of ours, which ask about each file that they come across. Other programs don't, so
        that a folder above what is always asked about is asked about as well.
        """
        is_inside = self.is_inside(path.real)
        find = self.guarded.find_privacy if asks_for_each else self.guarded.find_privacy_below
        insists = find(path.real)
        # Whoever allowed a tool, or everything, did not know what a repository links to.
        leaves = self.explain_exit(path)
        outside = leaves or f"{path.real} is outside of the project"
        return LocalAccess(
            kind="path",
            subject=path.real,
            spellings=(path.written,),
            project=self.project,
            home=self.home,
            is_free=is_inside and not insists,
            why="it reads inside the project" if is_inside else outside,
            insists=insists,
            unless_named=leaves,
            grant=limit_grant(literal(path.real)),
            preview=f"Path: {path.real}" + (f"\nLink: {path.exit}" if leaves else ""),
        )

    def assess_writing(
        self, path: LocalPath, preview: str, before: bytes | None, after: bytes | None = None
    ) -> LocalAccess:
        """What the gate has to know of a tool that changes a file; `after` is `None` if it is not known."""
        is_inside = self.is_inside(path.real)
        executed = find_executed(self.project, path.real, before, after) if is_inside else None
        unless_named = "" if executed is None else executed.why
        leaves = self.explain_exit(path)
        outside = f"it changes a file, and {leaves or f'{path.real} is outside of the project'}"
        is_writable = is_inside or any(is_below(path.real, folder) for folder in self._writable)
        if leaves or not is_writable:
            unless_named = outside
        place = literal(self.project) + "/**" if is_inside and executed is None else literal(path.real)
        return LocalAccess(
            kind="path",
            subject=path.real,
            spellings=(path.written,),
            project=self.project,
            home=self.home,
            is_edit=is_inside,
            why="it changes a file" if is_inside else outside,
            insists=self.guarded.find_reason(path.real),
            unless_named=unless_named,
            name="" if executed is None else executed.name,
            refused=self.guarded.find_refusal(path.real),
            grant=limit_grant(place),
            preview=preview,
            digest=compute_digest(before),
        )

    # --- files ----------------------------------------------------------------------------------------------------

    def read(self, real: str) -> bytes | None:
        """All of a file; `None` if there is none. Raises: FileError."""
        return read_exact(real, MAX_FILE)

    def remember(self, real: str, data: bytes) -> None:
        """Note that the model knows this file as it is now."""
        self._read[real] = compute_digest(data)

    def has_read(self, real: str) -> bool:
        return real in self._read

    def check_unchanged(self, real: str, current: bytes | None, access: LocalAccess) -> None:
        """See that a file is still what the model has read, and what the person was asked about. Raises: FileError."""
        digest = compute_digest(current)
        # Where the file is gone, nothing that the model doesn't know can be lost.
        if current is not None and self._read.get(real, digest) != digest:
            raise FileError(self.shorten(real), "was changed since it was read: read it again")
        if access.digest != digest:
            raise FileError(self.shorten(real), "was changed while its change waited for permission: read it again")


class FileTool(LocalTool):
    """A tool that is about one file or folder; if it doesn't say otherwise, it reads that."""

    path_field = "file_path"
    """The argument that names it."""

    def __init__(self, workspace: ProjectFiles) -> None:
        self.workspace = workspace

    def find_path(self, arguments: Struct) -> LocalPath:
        """Where the path of a call leads. Raises: FileError."""
        return self.workspace.resolve(getattr(arguments, self.path_field))

    def assess(self, arguments: Any) -> LocalAccess:
        return self.workspace.assess_reading(self.find_path(arguments))


def limit_grant(pattern: str) -> str | None:
    return pattern if len(pattern) <= LONGEST_GRANT else None


_FOLDERS = {
    ".githooks": "git may run what is in it",
    ".husky": "git runs what is in it",
    ".devcontainer": "editors run what it says",
    ".vscode": "editors run what it says",
}
_NAMES = {
    ".envrc": "shells run it",
    ".pre-commit-config.yaml": "git runs what it says",
    ".pre-commit-config.yml": "git runs what it says",
    "lefthook.yml": "git runs what it says",
    "lefthook.yaml": "git runs what it says",
}
_PACKAGE = "package.json"
_SCRIPTS = ("preinstall", "install", "postinstall", "prepare")
_REPOSITORY = frozenset({"head", "objects", "refs"})
"""A folder that holds these is a repository to git, which then runs what its configuration says."""


class ExecutedFile(Struct, frozen=True):
    """Why a change of a file is asked about, and what a rule has to name to allow it."""

    why: str
    name: str


def find_executed(project: str, real: str, before: bytes | None, after: bytes | None) -> ExecutedFile | None:
    """What a change of a file inside a project has other programs run; `None` if nothing is known.

    `after` is `None` if it is not known what the file will say.
    """
    # Some file systems ignore case, and dots at the end of a name.
    parts = [part.rstrip(". ") for part in os.path.relpath(real, project).casefold().split("/")]
    for folder in _FOLDERS.keys() & set(parts):
        return ExecutedFile(f"{_FOLDERS[folder]} without asking", folder)
    name = parts[-1]
    if name in _NAMES:
        return ExecutedFile(f"{_NAMES[name]} without asking", name)
    if name == _PACKAGE and (after is None or _read_scripts(before) != _read_scripts(after)):
        return ExecutedFile("installing the package would run its scripts", name)
    return _find_repository(project, real)


def _read_scripts(data: bytes | None) -> Any:
    """What is run when a package is installed; the text itself if it cannot be told."""
    if data is None:
        return {}
    try:
        found = None if is_too_deep(data) else json.loads(data)
    except ValueError:
        return data
    scripts = found.get("scripts") if isinstance(found, dict) else None
    if not isinstance(scripts, dict):
        return {} if scripts is None and isinstance(found, dict) else data
    return {name: scripts[name] for name in _SCRIPTS if name in scripts}


def _find_repository(project: str, real: str) -> ExecutedFile | None:
    """A folder that is a repository without a `.git`, or would become one."""
    for folder, name in _list_folders(project, real):
        present = {each for each in ("HEAD", "objects", "refs") if os.path.lexists(os.path.join(folder, each))}
        if {name.casefold(), *(each.casefold() for each in present)} >= _REPOSITORY:
            return ExecutedFile("git would take its folder for a repository, and run what it says", name)
    return None


def _list_folders(project: str, real: str) -> Iterator[tuple[str, str]]:
    """Each folder of the project that a file is in, and what of it is on the way to the file."""
    while len(real) > len(project):
        folder, name = os.path.split(real)
        yield folder, name
        real = folder
