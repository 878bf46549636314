"""What a host keeps on disk, and what it forgets."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from test_host import until

import mooring
from support import DEMO, Actor, Home


async def test_a_host_that_remembers_nothing_leaves_nothing_but_the_log_of_its_calls(
    home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json")
    for _ in range(2):
        async with mooring.open(
            request=home.request(), policy="allow", servers={"actor": actor.entry}, remember=False
        ) as host:
            assert host.tools == ()
            await host.call("actor.complain")
    assert not (home.home / ".cache").exists()
    left = [path.name for path in (home.home / ".local").rglob("*") if path.is_file() and not path.name.startswith(".")]
    assert left == ["audit.jsonl"]


def kept(folder: Path) -> list[Path]:
    return list(folder.glob("mooring-*/**/*.txt"))


async def test_results_of_a_host_that_remembers_nothing_are_gone_with_it(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    async with mooring.open(request=home.request(), policy="allow", servers={"demo": DEMO}, remember=False) as host:
        await host.ready()
        async with host.conversation(tokens=10) as tools:
            outcome = await tools.call("mcp__demo__echo", {"text": "long " * 1000})
        whole = kept(tmp_path)[0]
        assert str(whole) in outcome.text
        assert whole.read_text().count("long") == 1000
    assert kept(tmp_path) == []
    assert not (home.home / ".cache").exists()


async def test_a_server_that_was_forgotten_is_asked_again(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    async with mooring.open(request=home.request(), policy="allow", servers={"actor": actor.entry}) as host:
        await host.ready()
    async with mooring.open(request=home.request(), policy="allow", servers={"actor": actor.entry}) as host:
        assert host.tools
        host.forget("actor")
        assert host.tools == ()
    async with mooring.open(request=home.request(), policy="allow", servers={"actor": actor.entry}) as host:
        assert host.tools == ()
        assert await host.ready() == {}
        assert host.tools


async def test_a_connected_server_that_was_forgotten_lists_its_tools_again_and_keeps_working(
    home: Home, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "actor.json")
    async with mooring.open(request=home.request(), policy="allow", servers={"actor": actor.entry}) as host:
        await host.ready()
        known = {entry.tool for entry in host.tools}
        actor.tell(tools=["another"])
        host.forget("actor")
        assert {entry.tool for entry in host.tools} == known
        await until(lambda: "another" in {entry.tool for entry in host.tools})
        assert (await host.call("actor.another")).text == "another"
    assert len(actor.done("starts")) == 1


async def test_waiting_for_servers_can_be_given_up_without_a_trace(home: Home, tmp_path: Path) -> None:

    actor = Actor(tmp_path / "actor.json", late=30)
    async with mooring.open(request=home.request(), policy="allow", servers={"actor": actor.entry}) as host:
        waiting = asyncio.create_task(host.ready())
        await asyncio.sleep(0.1)
        waiting.cancel()
        await asyncio.wait({waiting})
        assert waiting.cancelled()


async def test_only_what_is_wrong_is_an_error_of_a_server_that_cannot_be_tried(home: Home) -> None:
    off = {"command": "x", "enabled": False}
    async with mooring.open(request=home.request(), policy="allow", servers={"a": off, "b": off, "c": {}}) as host:
        assert list(await host.ready()) == ["c"]
