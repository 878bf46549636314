"""What coding tools obey or run, by the rows of their formats: our loaders and the guard read the same ones."""

import os
from collections.abc import Iterator

import pytest
from desk import Reader, allow, desk_with, host_in

from mooring.agents.commands.command_file import list_folders
from mooring.agents.files.read import list_agent_folders
from mooring.agents.instructions import list_places
from mooring.agents.local.guarded import GuardedFiles
from mooring.core.definitions.paths import Workspace
from mooring.discovery.format import Obeyed
from mooring.discovery.formats import FORMATS
from mooring.discovery.known_places import list_obeyed, locate_obeyed
from support import Home

OBEY_NOTHING = {
    "atomic", "claude-desktop", "generic", "lmstudio", "magenta", "mcpm", "mcporter", "vscode",
}  # fmt: skip
"""Tools that are no agents, or whose texts are those of another."""


LOADED = [
    *((tool, "agents") for tool in ("mooring", "opencode", "copilot-cli", "claude-code")),
    *((tool, "skills") for tool in ("mooring", "opencode", "copilot-cli", "claude-code", "shared")),
    ("mooring", "commands"), ("opencode", "paths"), ("copilot-cli", "prompts"), ("claude-code", "commands"),
    *((tool, "instructions") for tool in ("mooring", "opencode", "codex", "claude-code")),
]  # fmt: skip
"""The tools whose texts Mooring's own agent goes by, and which of their rows those are."""


def test_every_format_says_what_its_tool_obeys() -> None:
    assert {format.tool for format in FORMATS if not any(list_obeyed(format.tool))} == OBEY_NOTHING


def test_every_row_is_guarded_however_its_path_is_written(home: Home) -> None:
    guarded = GuardedFiles(home.where)
    for path in _list_rows(home):
        for written in (path, f"{path}/deep/x.md", path.upper(), path.swapcase() + "/x", f"{path}./x"):
            assert guarded.find_reason(written) or guarded.find_refusal(written), written
    assert not guarded.find_reason(f"{home.project}/src/agents/x.md")


def test_whatever_a_loader_reads_is_guarded(home: Home) -> None:
    for path in _list_rows(home):
        relative = os.path.relpath(path, home.folder)
        home.write(relative if path.endswith(".md") else f"{relative}/x.md", "x")
    workspace = Workspace(home.where, str(home.project))
    read = [folder.path for folder in (*list_agent_folders(workspace), *list_folders(workspace))]
    read += [place.path for place in list_places(workspace)]
    guarded = GuardedFiles(home.where)
    assert len(read) > 25
    for path in read:
        assert guarded.find_reason(path) or guarded.find_refusal(path), path


def test_the_loaders_read_what_the_rows_say_and_nothing_else(home: Home) -> None:
    workspace = Workspace(home.where, str(home.project))
    loaded: set[str] = set()
    for tool, kind in LOADED:
        rows = [obeyed for obeyed in list_obeyed(tool) if obeyed.kind == kind]
        assert rows, (tool, kind)
        loaded |= {path for obeyed in rows for path in _list_paths(home, obeyed)}
    for path in _list_rows(home):
        # One at a time: of some, only the first is read that is there.
        assert path not in loaded or path in _read_alone(home, workspace, path), path
        assert loaded.issuperset(_read_alone(home, workspace, path)), path


@pytest.mark.parametrize("mode", ["ask", "bypass"])
async def test_no_mode_and_no_rule_writes_to_what_agents_obey(home: Home, mode: str) -> None:
    home.write("home/.config/mooring/settings.json", {"permissionMode": mode})
    paths = (".github/agents/general-purpose.md", "sub/.kilocode/rules/x.md", "CRUSH.md", ".zed/tasks.json")
    async with host_in(home) as host, desk_with(host, home, Reader(), allow("Write"), allow("Write(./**)")) as desk:
        for path in paths:
            await desk.failure("Write", file_path=path, content="x")
        assert len(desk.person.asked) == len(paths)
        assert desk.person.last.scopes == ("once",)
        await desk.text("Write", file_path=".github/workflows/x.yml", content="x")


def _read_alone(home: Home, workspace: Workspace, path: str) -> list[str]:
    """What the loaders read if only this one is there."""
    written = home.write(os.path.relpath(path, home.folder) + ("" if path.endswith(".md") else "/x.md"), "x")
    found = [folder.path for folder in (*list_agent_folders(workspace), *list_folders(workspace))]
    found += [place.path for place in list_places(workspace)]
    written.unlink()
    if not path.endswith(".md"):
        written.parent.rmdir()
    return found


def _list_rows(home: Home) -> Iterator[str]:
    for obeyed in list_obeyed():
        yield from _list_paths(home, obeyed)


def _list_paths(home: Home, obeyed: Obeyed) -> Iterator[str]:
    if obeyed.project:
        yield f"{home.project}/{obeyed.project}"
    yield from locate_obeyed(obeyed, home.where)
