"""Files and folders that a person names: which one is meant, and what of it a model is given."""

import os
from base64 import b64encode
from collections.abc import Sequence

from msgspec import Struct

from mooring.agents.local.project_files import ProjectFiles
from mooring.agents.local.walk import list_left_out
from mooring.core.conversation.mention import TypedMention, find_mentions
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.definitions.paths import KERNEL_FOLDERS, Workspace, is_below
from mooring.core.protocol.content import Block, Image, Text, find_picture_type
from mooring.core.protocol.units import MIB
from mooring.core.text.suggestions import find_slip
from mooring.errors import ConfigError, Denied, FileError
from mooring.files.no_follow import FolderEntry, list_exact, read_exact
from mooring.files.reading import list_folder, read_part
from mooring.permissions.policy import Policy

MAX_FILE = 10 * MIB
MAX_ENTRIES = 1_000
"""How many names of a folder are given."""
_HEAD_BYTES = 32
_MOST_COMPARED = 10_000
"""How many names of a folder are looked at for one that may have been meant."""


class NamedPath(Struct, frozen=True):
    """A file or a folder."""

    real: str
    """Without links in it."""
    shown: str
    """As it was typed."""
    is_folder: bool


def find_path(workspace: Workspace, spellings: Sequence[str]) -> NamedPath | None:
    """The file or folder that is meant, in the first of these spellings that names one; `None` if none does.

    Raises: FileError if it is one of Mooring's own.
    """
    found = (_find_exact_path(workspace, spelling) for spelling in spellings)
    return next((path for path in found if path is not None), None)


def _find_exact_path(workspace: Workspace, typed: str) -> NamedPath | None:
    path = _join_home(workspace, typed)
    try:
        if not os.path.lexists(path):
            return None
        real = os.path.realpath(path)
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return None
    _check_allowed(workspace, real, typed)
    return NamedPath(real, typed, os.path.isdir(real))


def check_no_path_meant(workspace: Workspace, typed: str) -> None:
    """Refuse what can only be a path, if there is no such file. Raises: ConfigError.

    Prose has names such as `@decorator`, `@types/node` and `@/components` that are no paths.
    """
    first, slash, rest = typed.lstrip("/").partition("/")
    root = "/" if typed.startswith("/") else ""
    folder = _join_home(workspace, f"{root}{first}")
    if slash and rest and os.path.isdir(folder):
        raise make_missing_error(workspace, typed)
    # A word with a dot may be a file's name; one letter off an existing one, it certainly was meant to be.
    if not slash and "." in typed.strip(".") and _find_similar(workspace, typed):
        raise make_missing_error(workspace, typed)


def make_missing_error(workspace: Workspace, typed: str) -> ConfigError:
    """There is no such file; which one may have been meant."""
    similar = _find_similar(workspace, typed)
    advice = f"Did you mean {similar}?" if similar else "Write \\@ in front of a word that is no file."
    return ConfigError(f"There is no file {typed}. {advice}")


def find_pictures(workspace: Workspace, text: str) -> list[str]:
    """The image files that a text names with `@`. Looks at the disk."""
    return [path for mention in find_mentions(text) if (path := _find_picture(workspace, mention)) is not None]


def _find_picture(workspace: Workspace, mention: TypedMention) -> str | None:
    try:
        found = find_path(workspace, mention.spellings)
        head = None if found is None or found.is_folder else read_part(found.real, 0, _HEAD_BYTES)
    except FileError:
        return None  # whoever attaches it says why not
    is_picture = head is not None and find_picture_type(head[0]) is not None
    return found.real if found is not None and is_picture else None


class NamedFiles:
    """Reads what a person named, as far as their rules let a model see it."""

    def __init__(self, workspace: Workspace, policy: Policy) -> None:
        self._workspace = ProjectFiles(workspace.where, workspace.cwd)
        self._policy = policy

    def read(self, path: NamedPath) -> list[Block]:
        """What a model is given of it: text, a picture, the names in a folder, or a sentence about anything else.

        Raises:
            FileError: it is not a file or a folder, is too large, or cannot be read.
        """
        return [Text(self._describe_folder(path))] if path.is_folder else _read_file(path)

    def find_question(self, path: NamedPath) -> LocalAccess | None:
        """What has to be asked about before it is read: a link that leads out of the project. `None` if nothing has.

        To name a file is the answer to a rule that asks; whoever names a link may not know what they name.

        Raises:
            Denied: a rule denies reading it.
            FileError: it leads somewhere else by now.
        """
        place = self._workspace.resolve(path.shown)
        if place.real != path.real:
            raise FileError(path.shown, "leads somewhere else by now: name it again")
        access = self._workspace.assess_reading(place, asks_for_each=True)
        verdict = self._policy.judge_opening(access)
        if verdict.action == "deny":
            raise Denied(f"{path.shown} is not attached: {verdict.why}.")
        is_asked = bool(place.exit) and self._policy.judge_reading(access).action != "allow"
        return access if is_asked else None

    def _assess(self, written: str) -> LocalAccess:
        return self._workspace.assess_reading(self._workspace.resolve(written), asks_for_each=True)

    def _describe_folder(self, path: NamedPath) -> str:
        names = _list_names(path)
        if not names:
            return f"[The folder {path.shown} is empty.]"
        permitted = [name for name in names if self._policy.may_open(self._assess(os.path.join(path.real, name)))]
        notes = [f"[… and more; only {MAX_ENTRIES:,} names are given.]"] if len(names) > MAX_ENTRIES else []
        return "\n".join([*permitted[:MAX_ENTRIES], *notes, *list_left_out(len(names) - len(permitted))])


def list_paths(workspace: Workspace, begun: str) -> list[str]:
    """The paths that one can become that was begun; those of folders end in a slash."""
    folder, name = os.path.split(begun)
    try:
        names = list_folder(_join_home(workspace, folder), _MOST_COMPARED)
    except FileError:
        return []
    # A name with a blank would have to be quoted, and one that controls a terminal must not reach it.
    fitting = [each for each in names if each.startswith(name) and each.isprintable() and " " not in each]
    is_hidden_wanted = name.startswith(".")
    return [os.path.join(folder, each) for each in fitting if is_hidden_wanted or not each.startswith(".")]


def _read_file(path: NamedPath) -> list[Block]:
    data = _read_bytes(path)
    picture = find_picture_type(data)
    if picture is not None:
        return [Image(data=b64encode(data).decode(), mime_type=picture)]
    if b"\0" in data:
        return [Text(f"[{path.shown} is a binary file of {len(data):,} bytes; its content is not attached.]")]
    return [Text(data.decode(errors="replace") or f"[{path.shown} is empty.]")]


def _list_names(path: NamedPath) -> list[str]:
    """The names in a folder, sorted; those of folders end in a slash. Raises: FileError."""
    entries = list_exact(path.real, MAX_ENTRIES + 1) or []
    return sorted(f"{entry.name}/" if _is_folder(path.real, entry) else entry.name for entry in entries)


def _is_folder(folder: str, entry: FolderEntry) -> bool:
    is_link = entry.kind == "link"
    return entry.kind == "folder" or (is_link and os.path.isdir(os.path.join(folder, entry.name)))


def _read_bytes(path: NamedPath) -> bytes:
    try:
        # Exactly what was judged, wherever a link leads by now.
        data = read_exact(path.real, MAX_FILE)
    except FileError as error:
        raise FileError(path.shown, error.reason, error.fix) from None
    if data is None:
        raise FileError(path.shown, "does not exist")
    return data


def _join_home(workspace: Workspace, typed: str) -> str:
    if typed == "~" or typed.startswith("~/"):
        return workspace.where.home + typed[1:]
    return os.path.join(workspace.cwd, typed)


def _check_allowed(workspace: Workspace, real: str, typed: str) -> None:
    if is_below(real, os.path.realpath(workspace.where.state)):
        raise FileError(typed, "is in the folder where Mooring keeps secrets and records, and is never attached")
    if any(is_below(real, folder) for folder in KERNEL_FOLDERS):
        raise FileError(typed, "is a view into the system, not a file on a disk, and is never attached")


def _find_similar(workspace: Workspace, typed: str) -> str | None:
    """A path beside the missing one whose name differs by one slip of the fingers."""
    folder, name = os.path.split(typed)
    try:
        names = list_folder(_join_home(workspace, folder), _MOST_COMPARED)
    except FileError:
        return None
    similar = find_slip(name, [each.removesuffix("/") for each in names])
    return None if similar is None else os.path.join(folder, similar)
