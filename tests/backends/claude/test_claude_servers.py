"""The servers of Claude Code: through Mooring or by itself, on every transport, switched, changed and gone."""

import asyncio
import json
import sys
from typing import Any

import pytest
from aiohttp import web
from claude_talk import talk
from tests.backends.program_talk import Person, Talk, make_model, patient, pick
from tests.models import Call, FakeModel, ModelRequest, Reply, Say
from tests.wire.test_sse import Old

from mooring.core.conversation.event import ToolFinished
from mooring.core.conversation.question import Allow
from mooring.errors import MooringError
from mooring.testing.site import ReceivedRequest, Site, event
from support import DEMO, Home

pytestmark = pytest.mark.timeout(200)
WAYS = pytest.mark.parametrize("servers", ["shared", "native"])
ALLOWED = Allow("session")


class NamedOld(Old):
    """A server of the old kind with a stream for each client, that says who it is: Claude Code wants to know."""

    async def open(self, request: ReceivedRequest) -> web.StreamResponse:
        self.endpoint = f"/messages?session={len(self.streams)}"
        return await super().open(request)

    async def _answer(self, request: ReceivedRequest) -> web.StreamResponse:
        if request.request.path != "/messages":
            return await super()._answer(request)
        answer = await self.reply(request)
        if answer is not None:
            # Mooring looks at the server too, for the gate: each has to get its own answers.
            stream = self.streams[int(request.request.query["session"])]
            await stream.write(b"event: message\n" + event(answer))
        return web.Response(status=202, text="Accepted")

    async def reply(self, request: ReceivedRequest) -> bytes | None:
        if request.method != "initialize":
            return await super().reply(request)
        info = {"name": "old", "version": "1"}
        return request.result({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}, "serverInfo": info})


def make_echoer(*servers: str) -> FakeModel:
    """A model that calls the `echo` of each server, as far as it is shown it."""

    def reply(request: ModelRequest) -> Reply:
        if request.results:
            return Say("Done.")
        shown = [name for server in servers if (name := f"mcp__{server}__echo") in request.tool_names]
        return [Call(name, {"text": f"from {name}"}) for name in shown] or Say("There is no such tool.")

    return make_model(reply)


async def read_statuses(conversation: Talk) -> dict[str, str]:
    return {status.name: status.status for status in await conversation.backend.status()}


@WAYS
@patient
async def test_servers_of_every_transport_are_called(home: Home, servers: str) -> None:
    with make_echoer("demo", "web", "old") as model:
        async with Site() as site, NamedOld() as old:
            key = {"X-Key": "canary-key"}
            home.configure(
                demo=DEMO,
                web={"type": "http", "url": site.url, "headers": key},
                old={"type": "sse", "url": old.url, "headers": key},
            )
            async with talk(home, model, person=Person(ALLOWED), servers=servers) as conversation:
                events = await conversation.say("Call all.")
                statuses = await conversation.backend.status()
            [called] = site.said("tools/call")
            assert called.headers["X-Key"] == "canary-key"
    ended = {event.server: (event.tool, event.success) for event in pick(events, ToolFinished)}
    assert ended == {"demo": ("echo", True), "web": ("echo", True), "old": ("echo", True)}
    assert {status.name: status.status for status in statuses} == dict.fromkeys(("demo", "web", "old"), "connected")
    assert "canary-key" not in repr(statuses)


@patient
async def test_a_name_that_claude_code_would_change_is_told_as_it_is_configured(home: Home) -> None:
    home.configure(**{"my server.x": DEMO})
    person = Person(Allow())

    def reply(request: ModelRequest) -> Reply:
        return Say("Done.") if request.results else Call(request.find_tool("__echo"), {"text": "hi"})

    with make_model(reply) as model:
        async with talk(home, model, person=person) as conversation:
            events = await conversation.say("Call it.")
    [finished] = pick(events, ToolFinished)
    assert (finished.server, finished.tool, finished.success) == ("my server.x", "echo", True)
    assert person.permissions == [("my server.x", "echo")]


@patient
async def test_its_own_servers_have_their_status_and_no_status_has_a_secret(home: Home) -> None:
    with make_echoer() as model:
        async with Site() as locked:
            locked.answers["initialize"] = lambda heard: web.Response(
                status=401, headers={"WWW-Authenticate": "Bearer"}
            )
            home.configure(
                demo=DEMO,
                broken={"command": sys.executable, "args": ["-c", "raise SystemExit(3)"]},
                locked={"type": "http", "url": locked.url, "headers": {"X-Key": "canary-key"}},
                off={**DEMO, "disabled": True},
            )
            async with talk(home, model, servers="native") as conversation:
                statuses = await conversation.backend.status()
    words = {status.name: status.status for status in statuses}
    assert words == {"demo": "connected", "broken": "failed", "locked": "needs-auth", "off": "disabled"}
    [broken] = [status for status in statuses if status.name == "broken"]
    assert broken.error
    assert "canary-key" not in repr(statuses)


@patient
async def test_a_server_is_switched_off_and_on_without_a_trace_in_the_persons_files(home: Home) -> None:
    home.configure(demo=DEMO)
    with make_echoer("demo") as model:
        async with talk(home, model, person=Person(ALLOWED), servers="native") as conversation:
            assert pick(await conversation.say("Call it."), ToolFinished)
            await conversation.backend.switch("demo", False)
            assert await read_statuses(conversation) == {"demo": "disabled"}
            assert not pick(await conversation.say("Call it."), ToolFinished)
            assert not any("demo" in name for name in model.requests[-1].tool_names)
            await conversation.backend.switch("demo", True)
            assert await read_statuses(conversation) == {"demo": "connected"}
            [again] = pick(await conversation.say("Call it."), ToolFinished)
            assert again.success
    written = json.loads((home.home / ".claude.json").read_text())
    assert "demo" not in json.dumps(written)


@patient
async def test_a_server_that_came_back_is_reconnected(home: Home) -> None:
    with make_echoer("web") as model:
        async with Site() as site:
            initialize = site.answers.pop("initialize")
            home.configure(web={"type": "http", "url": site.url})
            async with talk(home, model, person=Person(ALLOWED), servers="native") as conversation:
                assert await read_statuses(conversation) == {"web": "failed"}
                with pytest.raises(MooringError):
                    await conversation.backend.reconnect("web")
                site.answers["initialize"] = initialize
                await conversation.backend.reconnect("web")
                assert await read_statuses(conversation) == {"web": "connected"}
                [finished] = pick(await conversation.say("Call it."), ToolFinished)
                assert finished.success


@WAYS
@patient
async def test_a_server_that_is_disabled_or_added_meanwhile_is_gone_or_there_in_the_next_turn(
    home: Home, servers: str
) -> None:
    home.configure(demo=DEMO)
    with make_echoer("demo", "more") as model:
        async with talk(home, model, person=Person(ALLOWED), servers=servers) as conversation:
            [first] = pick(await conversation.say("Call all."), ToolFinished)
            assert first.server == "demo"
            await change(conversation, home, more=DEMO)
            [second] = pick(await conversation.say("Call all."), ToolFinished)
            assert second.server == "more"
    assert not any("demo" in name for name in model.requests[-1].tool_names)


async def change(conversation: Talk, home: Home, **servers: Any) -> None:
    """Have other servers configured, and wait until it was noticed."""
    noticed = asyncio.Event()
    end = conversation.bridge.on_change(noticed.set)
    home.configure(**servers)
    await conversation.host.reload()
    await noticed.wait()
    end()


@patient
async def test_a_program_that_claude_code_starts_gets_the_folder_and_the_variables_that_mooring_would_give(
    home: Home,
) -> None:
    (home.project / "below").mkdir()
    seen = home.folder / "seen.json"
    code = f"import json, os; json.dump([os.getcwd(), dict(os.environ)], open({str(seen)!r}, 'w')); import runpy; runpy.run_module('mooring.demo', run_name='__main__')"
    entry = {
        "command": sys.executable,
        "args": ["-c", code],
        "cwd": str(home.project / "below"),
        "env": {"MARK": "a b$c"},
    }
    home.configure(demo=entry)
    with make_echoer("demo") as model:
        async with talk(home, model, person=Person(ALLOWED), servers="native") as conversation:
            [finished] = pick(await conversation.say("Call it."), ToolFinished)
            assert finished.success
    cwd, variables = json.loads(seen.read_text())
    assert cwd == str(home.project / "below")
    assert variables["MARK"] == "a b$c"
    assert "ANTHROPIC_API_KEY" not in variables
    assert "GITHUB_TOKEN" not in variables


@patient
async def test_a_tool_that_a_filter_leaves_out_is_not_called_by_claude_code_itself(home: Home) -> None:
    entry = {"type": "local", **DEMO, "tools": ["add"]}
    home.write("home/.copilot/mcp-config.json", {"mcpServers": {"demo": entry}})
    with make_echoer("demo") as model:
        async with talk(home, model, person=Person(ALLOWED), servers="native") as conversation:
            events = await conversation.say("Call it.")
    [finished] = pick(events, ToolFinished)
    assert (finished.server, finished.tool, finished.success) == ("demo", "echo", False)
