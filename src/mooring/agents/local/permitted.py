"""Which of the files that a search or a listing comes across may be opened, or even named."""

from collections.abc import Iterator

from msgspec.structs import replace

from mooring.agents.local.project_files import ProjectFiles
from mooring.conversation.local_tool import LocalCall
from mooring.core.conversation.verdict import LocalAccess
from mooring.display.text import count_noun
from mooring.files.no_follow import FolderEntry

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
