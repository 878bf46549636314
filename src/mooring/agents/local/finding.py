"""`Glob`, `LS` and `Grep`: which files there are, and which of them contain a pattern."""

import asyncio
import os
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field, json

from mooring.agents.local.project_files import FileTool, ProjectFiles
from mooring.agents.local.walk import FoundFile, PathGlob, PermittedFiles, Walk
from mooring.conversation.local_tool import LocalCall, text_result
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.protocol.result import Result
from mooring.errors import ConfigError, FileError
from mooring.files.no_follow import FolderEntry, list_exact
from mooring.process.child import OutputReader, feed_input
from mooring.process.programs import Guard
from mooring.process.surroundings import surround

MAX_FOUND = 500
MAX_LISTED = 2_000
_CUT = "[There are more files than can be looked at: search in a folder below.]"


class GlobArguments(Struct, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="A glob over paths, such as src/**/*.{ts,tsx}")]
    path: Annotated[str, Meta(description="The folder to look in; the working folder if it is left out")] = "."


class ListArguments(Struct, forbid_unknown_fields=True):
    path: Annotated[str, Meta(description="The folder; the working folder if it is left out")] = "."
    ignore: Annotated[list[str], Meta(description="Globs over names to leave out")] = []


class SearchingTool(FileTool):
    """A tool that looks through one folder."""

    only_reads = True
    # Whoever denies `Read` of a folder means that nobody looks into it.
    aliases = ("Read",)
    path_field = "path"

    def assess(self, arguments: Struct) -> LocalAccess:
        return self.workspace.assess_reading(self.find_path(arguments), asks_for_each=True)


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


SECONDS = 30.0
MAX_ANSWER = 16 * 1024 * 1024
MAX_LINES = 2_000
"""How many lines or files are shown, unless a call asks for fewer."""
MAX_CONTEXT = 100
_WORKER = "from mooring.agents.local.grep_worker import main; main()"
_INHERITED = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "__PYVENV_LAUNCHER__", "LC_ALL", "LC_CTYPE", "LANG")

TYPES = {
    "c": "*.{c,h}", "cpp": "*.{cc,cpp,cxx,hh,hpp,hxx,h}", "cs": "*.cs", "css": "*.{css,scss,sass,less}", "go": "*.go",
    "html": "*.{html,htm}", "java": "*.java", "js": "*.{js,jsx,mjs,cjs}", "json": "*.{json,jsonc}",
    "kotlin": "*.{kt,kts}", "lua": "*.lua", "md": "*.{md,mdx,markdown}", "php": "*.php", "py": "*.{py,pyi}",
    "ruby": "*.rb", "rust": "*.rs", "sh": "*.{sh,bash,zsh}", "sql": "*.sql", "swift": "*.swift", "toml": "*.toml",
    "ts": "*.{ts,tsx,mts,cts}", "txt": "*.txt", "vue": "*.vue", "xml": "*.xml", "yaml": "*.{yaml,yml}",
}  # fmt: skip
"""The files of each type that a call can name, as ripgrep has them."""


class GrepArguments(Struct, forbid_unknown_fields=True):
    pattern: Annotated[str, Meta(description="A regular expression, as Python has them")]
    path: Annotated[str, Meta(description="The folder or file to search; the working folder if it is left out")] = "."
    glob: Annotated[str, Meta(description="Which files: *.py, src/**/*.{ts,tsx}")] = ""
    type: Annotated[str, Meta(description="Which files, by their type: py, js, ts, rust, go, …")] = ""
    output_mode: Annotated[
        Literal["files_with_matches", "content", "count"], Meta(description="Paths, lines, or how many lines match")
    ] = "files_with_matches"
    numbers: Annotated[bool, Meta(description="Show line numbers")] = field(default=True, name="-n")
    ignore_case: Annotated[bool, Meta(description="Ignore upper and lower case")] = field(default=False, name="-i")
    after: Annotated[int, Meta(ge=0, description="Lines to show after each match")] = field(default=0, name="-A")
    before: Annotated[int, Meta(ge=0, description="Lines to show before each match")] = field(default=0, name="-B")
    around: Annotated[int, Meta(ge=0, description="Lines to show around each match")] = field(default=0, name="-C")
    multiline: Annotated[bool, Meta(description="Let matches go over several lines, and . match newlines")] = False
    head_limit: Annotated[int, Meta(ge=0, description="Only the first so many lines or files")] = 0


class FileMatches(Struct, frozen=True):
    file: int = -1
    count: int = 0
    lines: tuple[tuple[int, bool, str], ...] = ()
    """The number of each line, whether it matches, and its text."""
    error: str = ""


class GrepTool(SearchingTool):
    label = "Grep"
    description = (
        "Search the contents of files for a regular expression. What .gitignore names, binary files and links are left "
        "out. Use output_mode content for the lines themselves."
    )
    parameters = GrepArguments

    def __init__(self, workspace: ProjectFiles, guard: Guard) -> None:
        super().__init__(workspace)
        self._guard = guard

    async def run(self, call: LocalCall) -> Result:
        arguments: GrepArguments = call.arguments
        chosen = await asyncio.to_thread(self._choose_files, call)
        if not chosen.paths:
            return text_result("No file to search.\n" + "\n".join(chosen.notes))
        request = _make_request(arguments, chosen.paths)
        try:
            async with asyncio.timeout(SECONDS):
                answers = await self._search(request)
        except TimeoutError:
            raise ConfigError(f"Grep: the search took longer than {SECONDS:g} s; use a simpler pattern.") from None
        return self._describe(arguments, answers, chosen)

    def _choose_files(self, call: LocalCall) -> "_ChosenFiles":
        real, arguments = call.access.subject, call.arguments
        if os.path.isfile(real):
            return _ChosenFiles([real] if _is_text(real) else [], [])
        check_folder(real, self.workspace)
        permitted = PermittedFiles(self.workspace, call)
        walk = Walk(real, permitted.may_enter)
        globs = [PathGlob(glob) for glob in _list_globs(arguments)]
        fitting: list[str] = []
        for file in walk:
            if file.is_link:
                permitted.record_link(file.path)
            elif _is_text(file.path) and all(glob.matches(file.parts) for glob in globs):
                fitting.append(file.path)
        readable = [path for path in fitting if permitted.may_open(path)]
        notes = [*permitted.notes]
        if walk.is_cut:
            notes.append("[There are more files than can be searched: search in a folder below.]")
        return _ChosenFiles(readable, notes)

    async def _search(self, request: bytes) -> list[FileMatches]:
        environment = {name: value for name, value in self.workspace.where.env.items() if name in _INHERITED}
        child = await self._guard.start([sys.executable, "-I", "-c", _WORKER], surround(environment, "/"))
        collected = bytearray()
        ended = asyncio.get_running_loop().create_future()

        def take(data: bytes) -> None:
            collected.extend(data)
            if len(collected) > MAX_ANSWER and not ended.done():
                ended.set_result(None)
                reader.stop()

        reader = OutputReader(child, take)
        try:
            await feed_input(child, request)
            await asyncio.wait((child.exited, ended), return_when=asyncio.FIRST_COMPLETED)
            reader.drain()
        finally:
            await child.close(0.0, 0.0)
        return list(_parse_answers(bytes(collected)))

    def _describe(self, arguments: GrepArguments, answers: list[FileMatches], chosen: "_ChosenFiles") -> Result:
        if answers and answers[0].error:
            raise ConfigError(f"Grep: {arguments.pattern!r} is not a regular expression: {answers[0].error}.")
        named = [(self.workspace.shorten(chosen.paths[answer.file]), answer) for answer in answers]
        lines = list(_list_lines(arguments, named))
        limit = _find_limit(arguments)
        notes = list(chosen.notes)
        if len(lines) > limit:
            notes.append(f"[The first {limit:,} are shown.]")
        return text_result("\n".join([*lines[:limit], *notes]) or "Nothing matches.")


class _ChosenFiles(Struct, frozen=True):
    paths: list[str]
    notes: list[str]
    """What a model should know about those that are missing."""


def _list_globs(arguments: GrepArguments) -> Iterator[str]:
    if arguments.glob:
        yield arguments.glob if "/" in arguments.glob else f"**/{arguments.glob}"
    if arguments.type:
        if arguments.type not in TYPES:
            raise ConfigError(f"Grep knows no type {arguments.type!r}; use glob, or one of {', '.join(TYPES)}.")
        yield f"**/{TYPES[arguments.type]}"


def _find_limit(arguments: GrepArguments) -> int:
    return min(arguments.head_limit or MAX_LINES, MAX_LINES)


def _make_request(arguments: GrepArguments, paths: list[str]) -> bytes:
    request: dict[str, Any] = {
        "pattern": arguments.pattern,
        "ignoreCase": arguments.ignore_case,
        "multiline": arguments.multiline,
        "content": arguments.output_mode == "content",
        "before": min(arguments.before or arguments.around, MAX_CONTEXT),
        "after": min(arguments.after or arguments.around, MAX_CONTEXT),
        # One more than is shown, so that it can be told whether there are more.
        "limit": _find_limit(arguments) + 1,
        "files": paths,
    }
    return json.encode(request) + b"\n"


def _is_text(path: str) -> bool:
    """Whether a path is text: one that isn't cannot be put into the request, and is hardly ever searched."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _parse_answers(data: bytes) -> Iterator[FileMatches]:
    *lines, _ = data.split(b"\n")
    return (json.decode(line, type=FileMatches) for line in lines)


def _list_lines(arguments: GrepArguments, found: Iterable[tuple[str, FileMatches]]) -> Iterator[str]:
    for path, matches in found:
        match arguments.output_mode:
            case "files_with_matches":
                yield path
            case "count":
                yield f"{path}:{matches.count}"
            case "content":
                yield from _show_lines(path, matches, arguments.numbers)


def _show_lines(path: str, matches: FileMatches, with_numbers: bool) -> Iterator[str]:
    last = 0
    for number, is_match, text in matches.lines:
        if last and number > last + 1:
            yield "--"
        last = number
        mark = ":" if is_match else "-"
        yield f"{path}{mark}{number}{mark}{text}" if with_numbers else f"{path}{mark}{text}"
