"""The mode `edits`: files inside the project are changed unasked, and everything else is as in `ask`."""

import pytest
from desk import Desk, Reader, desk_in, desk_with, host_in

from mooring.agents.local.toolbox import local_tools
from mooring.core.conversation.verdict import Rule
from support import Home

NOTEBOOK = '{"cells": [{"cell_type": "code", "id": "a", "metadata": {}, "source": []}], "nbformat": 4}'
ASKED = (
    "~/notes.md", "../beside.txt", "away/x.txt", ".mcp.json", ".envrc", ".vscode/tasks.json", ".git/config",
    "sub/AGENTS.md", "CLAUDE.md",
)  # fmt: skip


async def test_every_tool_that_changes_files_works_unasked_inside_the_project(home: Home) -> None:
    home.write("project/a.ipynb", NOTEBOOK)
    async with desk_in(home, policy="edits") as desk:
        await desk.text("Write", file_path="deep/new.py", content="one\n")
        await desk.text("Edit", file_path="deep/new.py", old_string="one", new_string="two")
        await desk.text("NotebookRead", notebook_path="a.ipynb")
        await desk.text("NotebookEdit", notebook_path="a.ipynb", cell_id="a", new_source="x = 1")
        assert desk.person.asked == []
    assert (home.project / "deep/new.py").read_text() == "two\n"
    assert "x = 1" in (home.project / "a.ipynb").read_text()


@pytest.mark.parametrize("path", ASKED)
async def test_a_path_that_always_asks_still_does(home: Home, path: str) -> None:
    (home.project / "away").symlink_to(home.home)
    async with desk_in(home, policy="edits") as desk:
        await desk.failure("Write", file_path=path, content="x")
        assert len(desk.person.asked) == 1
        await desk.failure("Edit", file_path=path, old_string="", new_string="x")
        assert len(desk.person.asked) == 2
    assert not (home.cwd / path).exists()


async def test_commands_and_pages_are_asked_about(home: Home) -> None:
    async with desk_in(home, policy="edits") as desk:
        await desk.failure("Bash", command="touch made")
        await desk.failure("WebFetch", url="https://example.com", prompt="x")
        assert len(desk.person.asked) == 2
    assert not (home.project / "made").exists()


async def test_a_rule_that_denies_or_asks_holds_and_the_mode_is_no_answer_for_another_conversation(home: Home) -> None:
    async with host_in(home) as host:
        rules = (Rule("Write", "ask", "docs/**"), Rule("Edit", "deny", "secret.py"))
        edits = desk_with(host, home, Reader(), *rules, policy="edits")
        beside = desk_with(host, home, Reader())
        async with edits as one, beside as two:
            await one.failure("Write", file_path="docs/a.md", content="x")
            assert len(one.person.asked) == 1
            await one.failure("Write", file_path="secret.py", content="x")
            assert len(one.person.asked) == 1
            await one.text("Write", file_path="free.py", content="x")
            await _is_asked_about(two)


async def _is_asked_about(desk: Desk) -> None:
    await desk.failure("Write", file_path="other.py", content="x")
    assert len(desk.person.asked) == 1


async def test_a_home_folder_is_no_project(home: Home) -> None:
    """Whoever starts in the home folder would otherwise allow everything in it."""
    home.write("home/.git/HEAD", "ref: refs/heads/main\n")
    async with host_in(home) as host:
        person = Reader()
        tools = local_tools(home.where, str(home.home), host.guard, ask=person, settings=host.settings)
        async with host.conversation(ask=person, more=tools, policy="edits") as registry:
            assert (await registry.call("Write", {"file_path": "notes.md", "content": "x"})).is_error
        assert len(person.asked) == 1
