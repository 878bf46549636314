"""What OpenCode says in its requests for permission that a call is about to do."""

from collections.abc import Mapping, Sequence
from os.path import join
from typing import Any, Final

from mooring.backends.bridge.bridge import McpTool
from mooring.backends.bridge.own_tools import ActReport
from mooring.backends.opencode.reading import ReadCall
from mooring.backends.opencode.said import PermissionWanted
from mooring.discovery.values import as_mapping

_ASIDES: Final = frozenset({"external_directory", "doom_loop"})
"""Permissions that OpenCode wants beside that of the tool itself, any number of times."""
_PERMISSIONS: Final[Mapping[str, str]] = {
    "write": "edit",
    "apply_patch": "edit",
    "list_mcp_resources": "read",
    "list_mcp_resource_templates": "read",
    "read_mcp_resource": "read",
}
"""The permission that a tool wants, where it isn't of the same name."""
_CHANGING: Final = frozenset({"edit", "write", "apply_patch"})


def is_aside(wanted: PermissionWanted) -> bool:
    """Whether a permission is wanted beside that of the tool itself."""
    return wanted.permission in _ASIDES


def is_expected(wanted: PermissionWanted, call: ReadCall) -> bool:
    """Whether a permission is one that this tool wants."""
    own = call.name if isinstance(call.tool, McpTool) else _PERMISSIONS.get(call.name, call.name)
    return is_aside(wanted) or wanted.permission == own


def read_report(wanted: PermissionWanted, call: ReadCall, worktree: str = "") -> ActReport | None:
    """What a request says about the call; `None` if it says nothing that can be judged.

    `worktree` is the folder from which OpenCode names the file that it is about to read.
    """
    said = wanted.metadata
    paths = tuple(_list_paths(said))
    match wanted.permission:
        case "bash":
            return ActReport(command=_find_text(said, "command"))
        case "external_directory" if call.name == "bash":
            # Which folders its words look like; where it runs is among the arguments.
            return ActReport(command=_find_text(said, "command"))
        case "edit":
            return ActReport(writes=paths, diff=_find_text(said, "diff") or "")
        case "external_directory" if call.name in _CHANGING:
            return ActReport(writes=paths)
        case "external_directory" | "glob" | "grep":
            return ActReport(reads=paths)
        case "read" if call.name == "read" and worktree:
            return ActReport(reads=tuple(join(worktree, path) for path in wanted.patterns))
        case "webfetch":
            return ActReport(url=_find_text(said, "url"))
        case _:
            return None


def _list_paths(said: Mapping[str, Any]) -> list[str]:
    files = said.get("files")
    entries: Sequence[Any] = files if isinstance(files, list) else ()
    named = [as_mapping(entry).get(key) for entry in entries for key in ("filePath", "movePath")]
    # With several files, `filepath` is a list of them for people.
    found = named or [said.get("filepath"), said.get("path")]
    return [path for path in found if isinstance(path, str) and path]


def _find_text(said: Mapping[str, Any], name: str) -> str | None:
    value = said.get(name)
    return value if isinstance(value, str) else None
