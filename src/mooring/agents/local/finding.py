"""`Glob` and `LS`: which files there are."""

import asyncio
import os
from typing import Annotated

from msgspec import Meta, Struct

from mooring.agents.local.project_files import ProjectFiles
from mooring.agents.local.walk import FoundFile, PathGlob, PermittedFiles, Walk
from mooring.conversation.local_tool import LocalCall, LocalTool, text_result
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.result import Result
from mooring.errors import FileError
from mooring.files.no_follow import FolderEntry, list_exact

MAX_FOUND = 500
MAX_LISTED = 2_000
_CUT = "[There are more files than can be looked at: search in a folder below.]"


class GlobArguments(Struct, forbid_unknown_fields=True):
    """What `Glob` takes."""

    pattern: Annotated[str, Meta(description="A glob over paths, such as src/**/*.{ts,tsx}")]
    path: Annotated[str, Meta(description="The folder to look in; the working folder if it is left out")] = "."


class ListArguments(Struct, forbid_unknown_fields=True):
    """What `LS` takes."""

    path: Annotated[str, Meta(description="The folder; the working folder if it is left out")] = "."
    ignore: Annotated[list[str], Meta(description="Globs over names to leave out")] = []


class SearchingTool(LocalTool):
    """A tool that looks through one folder."""

    only_reads = True
    # Whoever denies `Read` of a folder means that nobody looks into it.
    aliases = ("Read",)

    def __init__(self, workspace: ProjectFiles) -> None:
        self.workspace = workspace

    def assess(self, arguments: Struct) -> LocalAccess:
        path: str = arguments.path  # type: ignore[attr-defined]  # each of these tools has one
        return self.workspace.assess_reading(self.workspace.resolve(path), asks_for_each=True)


class GlobTool(SearchingTool):
    label = "Glob"
    description = (
        f"Find files by their paths, the latest changed first, {MAX_FOUND} at most. "
        "What .gitignore names is left out, and links are not followed."
    )
    parameters = GlobArguments

    async def run(self, call: LocalCall) -> Result:
        return await asyncio.to_thread(self._find, call)

    def _find(self, call: LocalCall) -> Result:
        folder, pattern = call.access.subject, call.arguments.pattern
        check_folder(folder, self.workspace)
        permitted = PermittedFiles(self.workspace, call)
        walk = Walk(folder, permitted.may_enter)
        glob = PathGlob(_make_relative(pattern, folder))
        found: list[FoundFile] = []
        for file in walk:
            if not glob.matches(file.parts):
                # A folder that is a link would have what is looked for in it.
                if file.is_link:
                    permitted.record_link(file.path)
            elif permitted.may_open(file.path, is_link=file.is_link):
                found.append(file)
        latest = sorted(found, key=_find_time, reverse=True)[:MAX_FOUND]
        lines = [self.workspace.shorten(file.path) for file in latest]
        if len(found) > MAX_FOUND:
            lines.append(f"[{MAX_FOUND} of {len(found):,} files: use a narrower pattern.]")
        if walk.is_cut:
            lines.append(_CUT)
        return text_result("\n".join([*(lines or ["No file matches."]), *permitted.notes]))


class ListTool(SearchingTool):
    label = "LS"
    description = "List what is in a folder: folders end in /, and links are marked with @."
    parameters = ListArguments

    async def run(self, call: LocalCall) -> Result:
        return await asyncio.to_thread(self._list, call)

    def _list(self, call: LocalCall) -> Result:
        folder = call.access.subject
        permitted = PermittedFiles(self.workspace, call)
        ignored = [PathGlob(glob) for glob in call.arguments.ignore[:100]]
        wanted = (entry for entry in sorted(check_folder(folder, self.workspace)) if not _matches(entry, ignored))
        entries = [entry for entry in wanted if permitted.may_name(folder, entry)]
        lines = [_show_entry(entry) for entry in entries[:MAX_LISTED]]
        if len(entries) > MAX_LISTED:
            lines.append(f"[{MAX_LISTED:,} of {len(entries):,} entries.]")
        lines += permitted.notes
        return text_result("\n".join(lines) or f"[{self.workspace.shorten(folder)} is empty.]")


def check_folder(real: str, workspace: ProjectFiles) -> list[FolderEntry]:
    """What is in a folder. Raises: FileError if there is none, or it is something else."""
    try:
        entries = list_exact(real)
    except FileError as error:
        raise FileError(workspace.shorten(real), error.reason) from None
    if entries is None:
        raise FileError(workspace.shorten(real), "does not exist")
    return entries


def _make_relative(pattern: str, folder: str) -> str:
    """A pattern that begins with the folder's own path, as what is below it."""
    return pattern.removeprefix(folder).lstrip("/") if pattern.startswith(f"{folder.rstrip('/')}/") else pattern


def _find_time(file: FoundFile) -> float:
    try:
        return os.lstat(file.path).st_mtime
    except OSError:
        return 0.0


def _matches(entry: FolderEntry, globs: list[PathGlob]) -> bool:
    return any(glob.matches([entry.name]) for glob in globs)


def _show_entry(entry: FolderEntry) -> str:
    match entry.kind:
        case "folder":
            return f"{entry.name}/"
        case "link":
            return f"{entry.name}@"
        case "file" | "other":
            return entry.name
