"""What an agent's own tools would touch on this machine, in the words of the local tools that do the same.

So a rule such as `Bash(git *)`, the freedom to read inside the project, and the refusal to write Mooring's own settings
hold for every agent alike. The schema of the program says what each argument does. What it doesn't cover is unknown:
that is asked about whatever rules and modes say, and a yes is for that one call.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from os.path import join
from typing import Any, Final, TypeAlias

from msgspec import Struct, json
from msgspec.structs import replace

from mooring.agents.local.project_files import ProjectFiles
from mooring.agents.local.toolbox import local_tools
from mooring.agents.local.writing import show_change
from mooring.backends.bridge.patch import find_patched_files
from mooring.backends.bridge.reach import find_glob_starts, is_plain_path, list_readings
from mooring.backends.bridge.statements import is_plain_sql
from mooring.backends.own_tools import ArgumentRole, OwnToolSchema, ProgramSchema
from mooring.conversation.local_tool import LocalTool
from mooring.core.conversation.verdict import LocalAccess
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.tool import Hints
from mooring.errors import FileError
from mooring.process.programs import Guard
from mooring.settings import Settings

_FREE: Final[Mapping[str, str]] = {
    "BashOutput": "it only reads what a command printed",
    "KillShell": "it only ends a command that the agent started",
    "TodoWrite": "it only notes what is to be done",
    "Task": "each call of a sub-agent needs its own permission",
    "AskUserQuestion": "it only asks you",
    "ToolSearch": "it only looks for tools",
}
"""What needs no permission, and why."""
_TEXTS: Final = frozenset(
    {"command", "folder", "path", "glob", "content", "old", "new", "patch", "url", "sql", "query"}
)
"""Roles whose value is a text."""
_LEADING: Final[Mapping[str, ArgumentRole]] = {
    "Bash": "command", "Read": "path", "Edit": "path", "Write": "path", "NotebookEdit": "path", "WebFetch": "url",
    "WebSearch": "query", "Glob": "glob",
}  # fmt: skip
"""The argument without which nothing is known of what a tool would touch."""

Arguments: TypeAlias = Mapping[str, Any]


class ActReport(Struct, frozen=True, kw_only=True):
    """What a program says that it is about to do in a call, in its own request for permission."""

    command: str | None = None
    folder: str | None = None
    """Where the command runs."""
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    url: str | None = None
    diff: str = ""
    """How it shows the change to a person."""


class OwnAccess(Struct, frozen=True):
    """What a call of an agent's own tool would touch, and the name under which rules speak of it."""

    tool: str
    accesses: tuple[LocalAccess, ...]
    """One for each file that it touches; for most tools there is one. What is unknown comes first."""
    aliases: tuple[str, ...] = ()
    hints: Hints = Hints(read_only_hint=False)


class _Given(Struct, frozen=True):
    """The arguments of one call, by what the program does with them."""

    roles: Mapping[ArgumentRole, Sequence[Any]]
    unknown: tuple[str, ...] = ()
    """Why it isn't understood, in words that follow a colon; empty if it is."""

    def list_texts(self, role: ArgumentRole) -> list[str]:
        return [value for value in self.roles.get(role, ()) if value.strip()]

    def find_text(self, role: ArgumentRole) -> str | None:
        return next(iter(self.roles.get(role, ())), None)

    @property
    def paths(self) -> list[str]:
        listed = [path for paths in self.roles.get("paths", ()) for path in ([paths] if _is_text(paths) else paths)]
        return [*self.list_texts("path"), *listed]


class OwnTools:
    """Assesses calls of one agent's own tools in one folder."""

    def __init__(self, where: Paths, cwd: str, guard: Guard, schema: ProgramSchema, settings: Settings) -> None:
        self._schema = schema
        self._workspace = ProjectFiles(where, cwd, settings["writableFolders"])
        tools = local_tools(where, cwd, guard, settings=settings)
        self._local: Mapping[str, LocalTool] = {tool.label: tool for tool in tools}
        self._assessors: Mapping[str, Callable[[_Given], Sequence[LocalAccess]]] = {
            "Bash": self._assess_command,
            "Read": self._assess_reading,
            "LS": self._assess_looking,
            "Glob": self._assess_looking,
            "Grep": self._assess_looking,
            "Edit": self._assess_change,
            "Write": self._assess_change,
            "NotebookEdit": self._assess_change,
            "WebFetch": self._assess_page,
            "WebSearch": _assess_search,
        }

    def is_understood(self, name: str, arguments: Arguments) -> bool:
        """Whether the schema covers all of a call, and it does what a local tool does or nothing. Reads no file."""
        tool = self._schema.tools.get(name)
        if tool is None or (tool.like not in _FREE and tool.like not in self._assessors):
            return False
        return not _read_arguments(tool, arguments).unknown

    def assess(self, name: str, arguments: Arguments | None, report: ActReport | None = None) -> OwnAccess:
        """What a call would touch: by its arguments, if they are known, and by what the program says about it.

        May read files, so it is called in a thread.

        Raises: MooringError if it can't be made at all: its path or its address is none.
        """
        tool = self._schema.tools.get(name)
        if tool is None:
            why = f"Mooring doesn't know this tool of {self._schema.program}"
            return OwnAccess(name, (_assess_unknown(why, arguments or {}), *self._assess_report(report, ())))
        if arguments is None:
            judged: tuple[LocalAccess, ...] = (
                _assess_unknown(f"{self._schema.program} doesn't say what the model wrote for it", {}),
            )
        else:
            judged = self._assess_arguments(tool, arguments)
        accesses = (*judged, *self._assess_report(report, judged))
        if not accesses:
            accesses = (_assess_unknown(f"{self._schema.program} doesn't say what it would do", arguments or {}),)
        local = self._local.get(tool.like)
        if tool.like in _FREE:
            return OwnAccess(tool.like, accesses, hints=Hints(read_only_hint=True))
        if local is None:
            return OwnAccess(tool.like, accesses)
        return OwnAccess(tool.like, accesses, local.aliases, local.hints)

    # --- what the arguments say ---------------------------------------------------------------------------------------

    def _assess_arguments(self, tool: OwnToolSchema, arguments: Arguments) -> tuple[LocalAccess, ...]:
        given = _read_arguments(tool, arguments)
        unknown = [_assess_unknown(why, arguments) for why in given.unknown[:1]]
        if tool.like in _FREE:
            return (*unknown, LocalAccess(is_free=True, why=_FREE[tool.like]))
        assess = self._assessors.get(tool.like)
        if assess is None:
            return (*unknown, _assess_other(arguments))
        return (*unknown, *assess(given))

    def _assess_command(self, given: _Given) -> Sequence[LocalAccess]:
        folder = given.find_text("folder")
        commands = given.list_texts("command")
        return [access for command in commands for access in self._assess_command_in(command, folder)]

    def _assess_command_in(self, command: str, folder: str | None) -> list[LocalAccess]:
        """A command, and the folder that it runs in unless that is the working folder: a rule is about the command."""
        access = self._assess_as("Bash", {"command": command})
        places = [self._workspace.resolve(reading) for reading in list_readings(folder or ".")]
        elsewhere = [place for place in places if place.real != self._workspace.cwd]
        if not elsewhere:
            return [access]
        preview = "\n".join([access.preview, *(f"Folder: {place.real}" for place in elsewhere)])
        found = [self._workspace.assess_reading(place) for place in elsewhere]
        return [replace(each, preview=preview, grant=None, verbatim="", limit="") for each in (access, *found)]

    def _assess_reading(self, given: _Given) -> Sequence[LocalAccess]:
        return self._assess_paths(given.paths)

    def _assess_looking(self, given: _Given) -> Sequence[LocalAccess]:
        """A search: without a folder it is in the working folder, and its globs may lead out of there."""
        folders = given.paths or ["."]
        starts: list[str] = []
        for glob in given.list_texts("glob"):
            starts += find_glob_starts(glob) or ()
        outside = [_join_start(folder, start) for folder, start in product(folders, starts)]
        return self._assess_paths([*folders, *outside])

    def _assess_paths(self, paths: Iterable[str]) -> list[LocalAccess]:
        readings = dict.fromkeys(reading for path in paths for reading in list_readings(path))
        return [self._workspace.assess_reading(self._workspace.resolve(reading)) for reading in readings]

    def _assess_change(self, given: _Given) -> Sequence[LocalAccess]:
        changed: list[LocalAccess] = []
        for path in given.paths:
            changed += self._assess_file_change(path, given)
        for patch in given.list_texts("patch"):
            for path in find_patched_files(patch).paths:
                changed += [self._assess_patch(reading, patch) for reading in list_readings(path)]
        return changed

    def _assess_patch(self, path: str, patch: str) -> LocalAccess:
        return self._workspace.assess_writing(self._workspace.resolve(path), patch, None)

    def _assess_file_change(self, path: str, given: _Given) -> list[LocalAccess]:
        content, old, new = (given.find_text(role) for role in ("content", "old", "new"))
        if content is not None:
            return [self._assess_new_content(reading, content) for reading in list_readings(path)]
        if old is not None and new is not None:
            is_everywhere = bool(given.roles.get("everywhere", (False,))[0])
            change = {"old_string": old, "new_string": new, "replace_all": is_everywhere}
            return [self._assess_as("Edit", {"file_path": reading, **change}) for reading in list_readings(path)]
        described = "\n".join(_show(value) for value in given.roles.get("change", ()))
        return [self._assess_patch(reading, described) for reading in list_readings(path)]

    def _assess_new_content(self, written: str, content: str) -> LocalAccess:
        """A file that is written whole. Not as `Write` does: an agent may have read the file before, or not."""
        path = self._workspace.resolve(written)
        access = self._workspace.assess_writing(path, "", None)
        if access.refused:
            return access
        try:
            before = self._workspace.read(path.real)
        except FileError:
            # Too large to compare, or no file at all: the agent's own tool finds out.
            return replace(access, preview=content)
        after = content.encode(errors="replace")
        return self._workspace.assess_writing(path, show_change(path.real, before, after), before, after)

    def _assess_page(self, given: _Given) -> Sequence[LocalAccess]:
        return [self._assess_as("WebFetch", {"url": url}) for url in given.list_texts("url")]

    def _assess_as(self, label: str, arguments: Arguments) -> LocalAccess:
        tool = self._local[label]
        return tool.assess(tool.parse(arguments))

    # --- what the program says ----------------------------------------------------------------------------------------

    def _assess_report(self, report: ActReport | None, judged: Sequence[LocalAccess]) -> list[LocalAccess]:
        """What a program says that it will touch, as far as the arguments didn't say so."""
        if report is None:
            return []
        known = {identity for access in judged for identity in list_covered(access)}
        return [access for access in self._read_report(report) if identify(access) not in known]

    def _read_report(self, report: ActReport) -> Iterable[LocalAccess]:
        if report.command is not None:
            yield from self._assess_command_in(report.command, report.folder)
        elif report.folder is not None:
            yield from self._assess_paths([report.folder])
        if report.url is not None:
            yield self._assess_as("WebFetch", {"url": report.url})
        # These are resolved already, so nothing in them stands for something else.
        for path in report.reads:
            yield self._workspace.assess_reading(self._workspace.resolve(_as_literal(path)))
        for path in report.writes:
            yield self._assess_patch(_as_literal(path), report.diff or f"Path: {path}")


def identify(access: LocalAccess) -> tuple[Any, ...]:
    """What of an access decides whether it may be made. Its preview may say the same in other words."""
    what = access.kind, access.subject, access.is_free, access.is_edit
    return *what, access.insists, bool(access.unless_named), access.refused


def list_covered(access: LocalAccess) -> tuple[tuple[Any, ...], ...]:
    """What a yes to an access covers: also the same by its own path, where a link led to it."""
    return identify(access), identify(replace(access, unless_named=""))


def _read_arguments(tool: OwnToolSchema, arguments: Arguments) -> _Given:
    roles: dict[ArgumentRole, list[Any]] = {}
    unknown: list[str] = []
    for name, value in arguments.items():
        role = tool.arguments.get(name)
        if role is None or not _fits(role, value):
            unknown.append(f"Mooring doesn't know what {name!r} does here")
        elif value is not None:
            roles.setdefault(role, []).append(value)
    given = _Given(roles, tuple(unknown))
    return _Given(roles, (*unknown, *_find_doubts(tool, given)))


def _find_doubts(tool: OwnToolSchema, given: _Given) -> Iterable[str]:
    """Why values that have the right types still can't be judged."""
    leading = _LEADING.get(tool.like)
    is_patch = "patch" in given.roles
    if leading is not None and not is_patch and not any(_list_leading(given, leading)):
        yield "it doesn't say what it is about"
    if not all(map(is_plain_path, (*given.paths, *given.list_texts("folder")))):
        yield "programs differ in how they read its path"
    if not all(map(is_plain_sql, given.list_texts("sql"))):
        yield "its statements may do more than read and change the tables of its plan"
    if any(find_glob_starts(glob) is None for glob in given.list_texts("glob")):
        yield "where its pattern leads can't be told"
    if not all(find_patched_files(patch).is_understood for patch in given.list_texts("patch")):
        yield "its patch has lines that programs read in different ways"


def _list_leading(given: _Given, role: ArgumentRole) -> list[str]:
    return given.paths if role == "path" else given.list_texts(role)


def _fits(role: ArgumentRole, value: Any) -> bool:
    if value is None:
        return True
    if role == "off":
        return value is False
    if role == "paths":
        paths = value if isinstance(value, list) else [value]
        return bool(paths) and all(map(_is_text, paths))
    return role not in _TEXTS or _is_text(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _join_start(folder: str, start: str) -> str:
    return start if start.startswith("~") else join(folder, start)


def _as_literal(path: str) -> str:
    return f"./{path}" if path.startswith("~") else path


def _show(value: Any) -> str:
    return value if isinstance(value, str) else json.encode(value).decode()


def _assess_search(given: _Given) -> Sequence[LocalAccess]:
    queries = given.list_texts("query")
    return [LocalAccess(kind="text", subject=query, why="it searches the web", grant="") for query in queries]


def _assess_other(arguments: Arguments) -> LocalAccess:
    """A tool that does what none of ours does."""
    why = "it is one of the agent's own tools, and no rule allows it"
    return LocalAccess(kind="text", subject=_write(arguments), why=why)


def _assess_unknown(why: str, arguments: Arguments) -> LocalAccess:
    """A call that isn't judged, or not all of it: no rule and no mode allows it."""
    shown = json.format(json.encode(arguments, order="sorted"), indent=2).decode()
    return LocalAccess(kind="text", subject=_write(arguments), why=why, insists=why, preview=shown)


def _write(arguments: Arguments) -> str:
    return json.encode(arguments, order="sorted").decode()
