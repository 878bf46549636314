"""The reference servers from npm and PyPI: what they list, and one thing that each of them does."""

import asyncio
import json
import subprocess

import pytest
from fleet import EVERYTHING, FILESYSTEM, GIT, MEMORY, THINKING, TIME, TOOLS, names

import mooring

COMMANDS = {
    "everything": EVERYTHING,
    "filesystem": [*FILESYSTEM, "."],
    "memory": MEMORY,
    "thinking": THINKING,
    "git": GIT,
    "time": TIME,
}


@pytest.mark.parametrize("name", COMMANDS)
async def test_a_published_server_lists_exactly_its_tools_and_breaks_no_rule(name, tmp_path):
    async with mooring.connect(COMMANDS[name], cwd=str(tmp_path)) as session:
        assert names(session.tools) == TOOLS[name]
        assert (session.tools.rejected, session.tools.note) == ((), "")
        assert all(tool.schema["type"] == "object" for tool in session.tools.items)
        assert session.hello.protocol_version == ("2026-07-28" if name in ("git", "time") else "2025-11-25")
        await session.ping()
        odd = session.anomalies
        assert (odd.noise, odd.malformed, odd.unknown, odd.refused) == (0, 0, 0, 0)


async def test_the_filesystem_server_writes_and_reads_in_its_folder_and_nowhere_else(tmp_path):
    folder = tmp_path / "allowed"
    folder.mkdir()
    async with mooring.connect([*FILESYSTEM, str(folder)]) as session:
        log = str(folder / "log.txt")
        text = "wind SW 5 — " * 10_000
        assert not (await session.call_tool("write_file", {"path": log, "content": text})).is_error
        assert (folder / "log.txt").read_text() == text
        assert (await session.call_tool("read_text_file", {"path": log})).text == text
        assert (await session.call_tool("list_directory", {"path": str(folder)})).text == "[FILE] log.txt"
        refused = await session.call_tool("read_text_file", {"path": str(tmp_path / "other.txt")})
        assert refused.is_error
        assert "Access denied" in refused.text


async def test_the_filesystem_server_works_in_the_roots_that_it_is_told(tmp_path):
    asked = asyncio.Event()

    def roots():
        asked.set()
        return [mooring.Root(f"file://{tmp_path}")]

    async with mooring.connect(FILESYSTEM, client=mooring.Client(roots=roots)) as session:
        await asked.wait()
        (tmp_path / "note").write_text("ahoy")
        while (found := await session.call_tool("read_text_file", {"path": str(tmp_path / "note")})).is_error:  # noqa: ASYNC110
            await asyncio.sleep(0.02)  # it reads the answer about the roots in its own time
        assert found.text == "ahoy"


async def test_the_memory_server_keeps_what_it_is_told_and_tells_who_subscribed(tmp_path):
    kept, graph = tmp_path / "memory.jsonl", "memory://knowledge-graph"
    updates = asyncio.Queue()
    client = mooring.Client(on_update=updates.put_nowait)
    env = {"MEMORY_FILE_PATH": str(kept)}
    async with mooring.connect(MEMORY, env=env, client=client) as session:
        assert [resource.uri for resource in (await session.list_resources()).items] == [graph]
        await session.subscribe(graph)
        boat = {"name": "Gudrun", "entityType": "boat", "observations": ["is moored"]}
        created = await session.call_tool("create_entities", {"entities": [boat]})
        assert created.structured == {"entities": [boat]}
        assert await updates.get() == graph
        [contents] = (await session.read_resource(graph)).contents
        assert json.loads(contents.text)["entities"] == [boat]
    assert "Gudrun" in kept.read_text()
    async with mooring.connect(MEMORY, env=env) as session:
        found = await session.call_tool("search_nodes", {"query": "moored"})
        assert found.structured["entities"][0]["name"] == "Gudrun"


async def test_the_thinking_server_counts_thoughts_in_a_structured_result():
    async with mooring.connect(THINKING) as session:
        for number in (1, 2):
            thought = {"thought": "Tides turn.", "thoughtNumber": number, "totalThoughts": 2}
            result = await session.call_tool("sequentialthinking", {**thought, "nextThoughtNeeded": number < 2})
        assert result.structured == {
            "thoughtNumber": 2,
            "totalThoughts": 2,
            "nextThoughtNeeded": False,
            "branches": [],
            "thoughtHistoryLength": 2,
        }
        assert session.tools.items[0].result_schema["required"] == list(result.structured)


@pytest.fixture
def repository(tmp_path):
    subprocess.run(["git", "init", "--quiet", "--initial-branch=harbour", str(tmp_path)], check=True)
    (tmp_path / "chart").write_text("here be shoals\n")
    return str(tmp_path)


async def test_the_git_server_tells_the_state_of_a_repository(repository):
    async with mooring.connect([*GIT, "--repository", repository]) as session:
        before = await session.call_tool("git_status", {"repo_path": repository})
        assert "On branch harbour" in before.text
        added = await session.call_tool("git_add", {"repo_path": repository, "files": ["chart"]})
        assert not added.is_error
        staged = await session.call_tool("git_diff_staged", {"repo_path": repository})
        assert "+here be shoals" in staged.text
        lost = await session.call_tool("git_status", {"repo_path": f"{repository}/elsewhere"})
        assert lost.is_error


async def test_the_time_server_converts_between_zones():
    async with mooring.connect(TIME) as session:
        asked = {"source_timezone": "Asia/Tokyo", "time": "16:30", "target_timezone": "UTC"}
        told = json.loads((await session.call_tool("convert_time", asked)).text)
        assert told["target"]["datetime"].endswith("T07:30:00+00:00")
        assert told["time_difference"] == "-9.0h"
        now = json.loads((await session.call_tool("get_current_time", {"timezone": "UTC"})).text)
        assert now["timezone"] == "UTC"
