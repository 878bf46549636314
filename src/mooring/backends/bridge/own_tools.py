"""What an agent's own tools would touch on this machine, in the words of the local tools that do the same.

So a rule such as `Bash(git *)`, the freedom to read inside the project, and the refusal to write Mooring's own settings
hold for every agent alike. What none of the local tools does is always asked about, unless a rule allows it by name.
"""

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product, starmap
from typing import Any, Final, TypeAlias

from msgspec import Struct, json
from msgspec.structs import replace

from mooring.agents.local.toolbox import local_tools
from mooring.agents.local.workspace import Workspace
from mooring.agents.local.writing import show_change
from mooring.core.tool import Hints
from mooring.core.verdict import LocalAccess
from mooring.core.where import Where
from mooring.errors import FileError
from mooring.process.programs import Guard
from mooring.tools.local_tool import LocalTool

# --- how agents write it ----------------------------------------------------------------------------------------------

_TOOLS: Final[Mapping[str, str]] = {
    # Claude's names are those of the local tools. The others are Copilot's and OpenCode's, and the kinds under which
    # Copilot asks for permission (`shell`, `write`, `url`).
    "bash": "Bash", "shell": "Bash", "powershell": "Bash", "writebash": "Bash", "runcommand": "Bash",
    "bashoutput": "BashOutput", "readbash": "BashOutput", "taskoutput": "BashOutput",
    "killshell": "KillShell", "killbash": "KillShell", "stopbash": "KillShell", "taskstop": "KillShell",
    "read": "Read", "view": "Read", "readfile": "Read", "notebookread": "Read",
    "list": "LS", "ls": "LS", "listdir": "LS",
    "glob": "Glob", "grep": "Grep", "rg": "Grep",
    "edit": "Edit", "strreplace": "Edit", "insert": "Edit", "multiedit": "Edit", "applypatch": "Edit", "patch": "Edit",
    "write": "Write", "create": "Write", "writefile": "Write",
    "notebookedit": "NotebookEdit",
    "webfetch": "WebFetch", "fetch": "WebFetch", "url": "WebFetch",
    "websearch": "WebSearch",
    "todowrite": "TodoWrite", "todoread": "TodoWrite", "updatetodo": "TodoWrite",
    "task": "Task", "agent": "Task", "readagent": "Task", "listagents": "Task",
    "askuserquestion": "AskUserQuestion", "askuser": "AskUserQuestion", "question": "AskUserQuestion",
    "toolsearch": "ToolSearch",
}  # fmt: skip
"""The local tool that does the same as a tool of an agent. Names are without case and punctuation."""
_EDITORS: Final = ("strreplaceeditor", "editor")
"""Tools that are several in one; their argument `command` says which."""

_COMMAND: Final = ("command", "fullCommandText", "full_command_text", "cmd", "input")
_PATH: Final = (
    "file_path", "filePath", "path", "filepath", "file_name", "fileName", "notebook_path", "notebookPath", "file",
)  # fmt: skip
_URL: Final = ("url", "uri")
_PATTERN: Final = ("pattern", "regex", "glob", "query")
_CONTENT: Final = ("content", "contents", "file_text", "fileText")
_OLD: Final = ("old_string", "oldString", "old_str", "oldStr")
_NEW: Final = ("new_string", "newString", "new_str", "newStr")
_DIFF: Final = ("diff", "patchText", "patch", "input")
_PATCHED: Final = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
"""A file that a patch in the form of Codex changes; Copilot and OpenCode take that form too."""

_FREE: Final[Mapping[str, str]] = {
    "BashOutput": "it only reads what a command printed",
    "KillShell": "it only ends a command that the agent started",
    "TodoWrite": "it only notes what is to be done",
    "Task": "each call of a sub-agent needs its own permission",
    "AskUserQuestion": "it only asks you",
    "ToolSearch": "it only looks for tools",
}
"""What needs no permission, and why."""

Arguments: TypeAlias = Mapping[str, Any]


class OwnAccess(Struct, frozen=True):
    """What a call of an agent's own tool would touch, and the name under which rules speak of it."""

    tool: str
    accesses: tuple[LocalAccess, ...]
    """One for each file that it touches; for most tools there is one."""
    aliases: tuple[str, ...] = ()
    hints: Hints = Hints(read_only_hint=False)


class OwnTools:
    """Assesses calls of one agent's own tools in one folder."""

    def __init__(self, where: Where, cwd: str, guard: Guard) -> None:
        self._workspace = Workspace(where, cwd)
        self._local: Mapping[str, LocalTool] = {tool.label: tool for tool in local_tools(where, cwd, guard)}
        self._assessors: Mapping[str, Callable[[Arguments], Sequence[LocalAccess]]] = {
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

    def assess(self, name: str, arguments: Arguments) -> OwnAccess:
        """What a call would touch. May read files, so it is called in a thread.

        Raises: MooringError if it can't be made at all: its path or its address is none.
        """
        tool = _find_local_name(name, arguments)
        if tool in _FREE:
            access = LocalAccess(is_free=True, why=_FREE[tool])
            return OwnAccess(tool, (access,), hints=Hints(read_only_hint=True))
        assess = self._assessors.get(tool)
        accesses = () if assess is None else assess(arguments)
        local = self._local.get(tool)
        if local is None or not accesses:
            return OwnAccess(tool or name, (_assess_unknown(arguments),))
        return OwnAccess(tool, tuple(accesses), local.aliases, local.hints)

    def _assess_command(self, arguments: Arguments) -> Sequence[LocalAccess]:
        return [self._assess_as("Bash", {"command": command}) for command in _list_texts(arguments, _COMMAND)]

    def _assess_reading(self, arguments: Arguments) -> Sequence[LocalAccess]:
        return [self._assess_path(path) for path in _list_texts(arguments, _PATH)]

    def _assess_looking(self, arguments: Arguments) -> Sequence[LocalAccess]:
        """A search: without a folder it is in the working folder, and its pattern may lead out of there."""
        folders = _list_texts(arguments, _PATH) or ["."]
        patterns = _list_texts(arguments, _PATTERN)
        starts = filter(None, map(_find_start, patterns))
        outside = starmap(os.path.join, product(folders, starts))
        return [self._assess_path(path) for path in (*folders, *outside)]

    def _assess_path(self, written: str) -> LocalAccess:
        return self._workspace.assess_reading(self._workspace.resolve(written))

    def _assess_change(self, arguments: Arguments) -> Sequence[LocalAccess]:
        diffs = _list_texts(arguments, _DIFF)
        changed = [self._assess_file_change(path, diffs, arguments) for path in _list_texts(arguments, _PATH)]
        patched = dict.fromkeys(path.strip() for diff in diffs for path in _PATCHED.findall(diff))
        return (*changed, *(self._assess_patch(path, diffs) for path in patched))

    def _assess_patch(self, path: str, diffs: Sequence[str]) -> LocalAccess:
        return self._workspace.assess_writing(self._workspace.resolve(path), "\n".join(diffs), None)

    def _assess_file_change(self, path: str, diffs: Sequence[str], arguments: Arguments) -> LocalAccess:
        content, old, new = (_find_text(arguments, names) for names in (_CONTENT, _OLD, _NEW))
        if content is not None:
            return self._assess_new_content(path, content)
        if old is not None and new is not None:
            is_everywhere = bool(arguments.get("replace_all") or arguments.get("replaceAll"))
            change = {"file_path": path, "old_string": old, "new_string": new, "replace_all": is_everywhere}
            return self._assess_as("Edit", change)
        return self._assess_patch(path, diffs)

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
        return replace(access, preview=show_change(path.real, before, content.encode(errors="replace")))

    def _assess_page(self, arguments: Arguments) -> Sequence[LocalAccess]:
        return [self._assess_as("WebFetch", {"url": url}) for url in _list_texts(arguments, _URL)]

    def _assess_as(self, label: str, arguments: Arguments) -> LocalAccess:
        tool = self._local[label]
        return tool.assess(tool.parse(arguments))


def _find_local_name(name: str, arguments: Arguments) -> str:
    """The local tool that does the same; the agent's own name if there is none."""
    folded = _fold(name)
    if folded in _EDITORS:
        folded = _fold(str(arguments.get("command", "")))
    return _TOOLS.get(folded, name)


def _fold(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _list_texts(arguments: Arguments, names: Iterable[str]) -> list[str]:
    """Every text among some arguments. An agent ignores what it does not know, and nobody can tell which that is."""
    values = (arguments.get(name) for name in names)
    return list(dict.fromkeys(value for value in values if isinstance(value, str) and value.strip()))


def _find_text(arguments: Arguments, names: Iterable[str]) -> str | None:
    """The first text among some arguments, even an empty one."""
    values = (arguments.get(name) for name in names)
    return next((value for value in values if isinstance(value, str)), None)


def _find_start(pattern: str) -> str:
    """Where a glob such as `../../**` or `/etc/*` begins; empty if it stays in its folder."""
    fixed = re.split(r"[*?\[{]", pattern)[0]
    return fixed if fixed.startswith(("/", "~")) or ".." in fixed.split("/") else ""


def _assess_search(arguments: Arguments) -> Sequence[LocalAccess]:
    queries = _list_texts(arguments, ("query", "q"))
    return [LocalAccess(kind="text", subject=query, why="it searches the web", grant="") for query in queries]


def _assess_unknown(arguments: Arguments) -> LocalAccess:
    """A tool that does what none of ours does."""
    subject = json.encode(arguments, order="sorted").decode()
    return LocalAccess(kind="text", subject=subject, why="it is one of the agent's own tools, and no rule allows it")
