"""What the real OpenCode starts, reads and shows of a repository, of the person's own configuration, and of ours."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from opencode_talk import DEMO, OpenCodeHome, Person, do, open_host, play, talk_on, talking
from tests.models import Call, FakeModel, Say

from mooring.agents.definition import AgentDefinition, ToolSelection
from mooring.core.conversation.event import ToolStarted
from mooring.core.conversation.question import No
from mooring.errors import ConfigError

pytestmark = pytest.mark.timeout(400)


def make_marker(folder: Path, name: str) -> dict[str, Any]:
    """A server of OpenCode that leaves a file behind, with the name of the program that started it."""
    code = f"import os; open({str(folder / 'markers' / name)!r}, 'a').write(open(f'/proc/{{os.getppid()}}/cmdline').read())"
    return {name: {"type": "local", "command": [sys.executable, "-c", code], "enabled": True}}


@pytest.mark.parametrize("way", ["shared", "native"])
def test_no_server_of_the_repository_is_started(tmp_path: Path, way: str) -> None:
    (tmp_path / "markers").mkdir()
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        home.configure(demo=DEMO)
        for file in ("opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"):
            name = file.replace("/", "-").replace(".", "-")
            home.write(f"project/{file}", {"mcp": make_marker(tmp_path, name)})

        async def live() -> None:
            async with talking(home, servers=way) as talk:
                turn = await talk.say(do([Call("demo_add", {"a": 1, "b": 2})]))
                assert turn.find_finished("add").success

        asyncio.run(live())
    assert list((tmp_path / "markers").iterdir()) == []


def test_the_person_s_own_servers_are_started_by_mooring_and_not_by_opencode_too(tmp_path: Path) -> None:
    (tmp_path / "markers").mkdir()
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model, mcp=make_marker(tmp_path, "user"))
        home.configure(demo=DEMO)
        home.write("home/.opencode/opencode.jsonc", {"mcp": make_marker(tmp_path, "home-folder")})

        async def live() -> None:
            async with talking(home) as talk:
                turn = await talk.say(do([Call("demo_add", {"a": 1, "b": 2})]))
                assert turn.find_finished("add").success

        asyncio.run(live())
    starters = "".join(marker.read_text() for marker in (tmp_path / "markers").iterdir())
    assert starters
    assert "serve" not in starters.split("\0")


@pytest.mark.parametrize(
    ("file", "content"),
    [
        (".opencode/plugin/planted.js", "export const Planted = async () => ({})"),
        (".opencode/plugins/planted.ts", "export const Planted = async () => ({})"),
        ("opencode.json", '{"plugin": ["planted"]}'),
        (".opencode/opencode.jsonc", '{"plugins": [{"package": "./planted.js"}]} // it is there'),
        ("opencode.jsonc", "{"),
    ],
)
def test_a_repository_that_brings_a_plugin_is_refused_before_anything_starts(
    tmp_path: Path, nonce: str, file: str, content: str
) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        home.write(f"project/{file}", content)

        async def live() -> None:
            async with open_host(home) as host, talk_on(host, home):
                raise AssertionError("it was started")

        with pytest.raises(ConfigError, match="would run unasked"):
            asyncio.run(live())


def test_servers_that_no_known_file_names_are_found_and_off_too(tmp_path: Path) -> None:
    """A plugin of the person's adds one while OpenCode starts, as an organization's settings would."""
    (tmp_path / "markers").mkdir()
    [entry] = make_marker(tmp_path, "added").values()
    added = f"export const Adds = async () => ({{ config: async (config) => {{ config.mcp = {{ ...config.mcp, added: {json.dumps(entry)} }} }} }})"
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        home.configure(demo=DEMO)
        home.write("home/.config/opencode/plugin/adds.js", added)

        async def live() -> None:
            async with talking(home) as talk:
                turn = await talk.say(do([Call("demo_add", {"a": 1, "b": 2})]))
                assert turn.find_finished("add").success

        asyncio.run(live())
        assert not any(name.startswith("added") for name in model.requests[0].tool_names)


def test_whatever_the_person_allowed_opencode_is_asked_about_all_the_same(tmp_path: Path) -> None:
    allowed = {"*": "allow", "bash": {"*": "allow"}, "demo_*": "allow"}
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model, permission=allowed, agent={"build": {"permission": allowed}})
        home.configure(demo=DEMO)
        person = Person(No())

        async def live() -> None:
            async with talking(home, person) as talk:
                command = Call("bash", {"command": "touch made", "description": "x"})
                turn = await talk.say(do([command, Call("demo_note", {"text": "x"})]))
                assert turn.find_finished("bash").denied
                assert turn.find_finished("note").denied

        asyncio.run(live())
    assert not (home.cwd / "made").exists()
    assert len(person.asked) == 2


def test_the_repository_s_instructions_and_ours_reach_the_model(tmp_path: Path) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        home.configure(demo=DEMO)
        home.write("project/AGENTS.md", "Always speak of herons.")

        async def live() -> None:
            async with talking(home, instructions="Never speak of gulls.") as talk:
                await talk.say(do([Say("Well.")]))

        asyncio.run(live())
        [request] = model.requests
    assert "Always speak of herons." in request.system
    assert "Never speak of gulls." in request.system


def test_a_defined_agent_has_its_own_prompt_and_only_its_tools(tmp_path: Path) -> None:
    reader = AgentDefinition(
        name="adder",
        description="Adds",
        prompt="You add. {env:HOME} stays as it is.",
        tools=ToolSelection(own=frozenset({"Read"}), servers=("demo.add",)),
    )
    task = {"description": "Add", "subagent_type": "adder", "prompt": do([Call("demo_add", {"a": 1, "b": 2})])}
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        home.configure(demo=DEMO)

        async def live() -> None:
            async with talking(home, agents=(reader,)) as talk:
                turn = await talk.say(do([Call("task", task)]))
                [outer] = [started for started in turn.find(ToolStarted) if started.parent is None]
                added = turn.find_finished("add")
                assert (added.parent, added.success) == (outer.id, True)

        asyncio.run(live())
        [request] = [request for request in model.requests if "You add." in request.system][:1]
    assert "{env:HOME} stays as it is." in request.system
    names = set(request.tool_names)
    assert {"demo_add", "read"} <= names
    assert not {"demo_echo", "demo_slow", "bash", "edit", "write", "webfetch"} & names


def test_a_server_that_is_switched_off_is_gone_from_the_next_request_and_comes_back(tmp_path: Path) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        home.configure(demo=DEMO)

        async def live() -> None:
            async with talking(home, servers="native") as talk:
                backend = talk.backend
                await talk.say(do([Say("One.")]))
                await backend.switch("demo", False)
                [status] = await backend.status()
                assert status.status == "disabled"
                await talk.say(do([Say("Two.")]))
                await backend.switch("demo", True)
                await backend.reconnect("demo")
                [status] = await backend.status()
                assert status.status == "connected"
                await talk.say(do([Say("Three.")]))

        asyncio.run(live())
        shown = ["demo_add" in request.tool_names for request in model.requests]
    assert shown == [True, False, True]


def test_a_missing_program_is_said_with_the_command_that_installs_it(tmp_path: Path) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)
        home.own_env["PATH"] = "/nowhere"

        async def live() -> None:
            async with open_host(home) as host, talk_on(host, home):
                raise AssertionError("it was found")

        with pytest.raises(ConfigError, match="npm install -g opencode-ai"):
            asyncio.run(live())


def test_a_model_without_its_provider_is_refused_before_anything_starts(tmp_path: Path) -> None:
    with FakeModel(play, skip_asides=True) as model:
        home = OpenCodeHome(tmp_path, model)

        async def live() -> None:
            async with open_host(home) as host, talk_on(host, home, model="scripted"):
                raise AssertionError("it was taken")

        with pytest.raises(ConfigError, match="provider and a model"):
            asyncio.run(live())
