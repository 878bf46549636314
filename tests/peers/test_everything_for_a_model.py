"""Every kind of content that server-everything has, as a model gets it."""

import asyncio
import json
from base64 import b64decode
from contextlib import asynccontextmanager
from pathlib import Path

from fleet import EVERYTHING

import mooring
from mooring.core.conversation.event import ToolFinished, ToolProgress
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.protocol.content import Image, Text

LONG = "trigger-long-running-operation"


@asynccontextmanager
async def conversation(home, **options):
    where = Paths(str(home), {"HOME": str(home), "PATH": "/usr/bin:/bin"})
    servers = {"everything": {"command": EVERYTHING[0], "args": EVERYTHING[1:]}}
    async with mooring.open(request=Workspace(where, str(home)), servers=servers, policy="allow") as host:
        assert await host.ready() == {}
        async with host.conversation(**options) as tools:
            yield tools


def call(tools, name, **arguments):
    return tools.call(f"mcp__everything__{name}", arguments)


async def test_text_pictures_links_resources_and_data_reach_the_model(tmp_path):
    async with conversation(tmp_path) as tools:
        assert (await call(tools, "echo", message="ahoy ⚓")).parts == (Text("Echo: ahoy ⚓"),)
        picture = await call(tools, "get-tiny-image")
        [image] = [part for part in picture.parts if isinstance(part, Image)]
        assert b64decode(image.data).startswith(b"\x89PNG")
        links = await call(tools, "get-resource-links", count=3)
        assert links.text.count("[resource ") == 3
        assert "demo://resource/dynamic/" in links.text
        carried = await call(tools, "get-resource-reference", resourceId=5)
        assert "[resource demo://resource/dynamic/text/5]" in carried.text
        assert "Resource 5: This is a plaintext resource" in carried.text
        weather = await call(tools, "get-structured-content", location="Chicago")
        assert weather.text.count("humidity") == 1
        assert json.loads(weather.text) == {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}
        for outcome in (picture, links, carried, weather):
            assert (outcome.server, outcome.is_error) == ("everything", False)
            assert outcome.tool.startswith("get-")


async def test_a_picture_is_in_a_file_for_a_model_that_takes_none(tmp_path):
    async with conversation(tmp_path, takes=()) as tools:
        outcome = await call(tools, "get-tiny-image")
    assert {type(part) for part in outcome.parts} == {Text}
    [file] = (tmp_path / ".cache/mooring/results").iterdir()
    assert str(file) in outcome.text
    assert file.read_bytes().startswith(b"\x89PNG")


async def test_wrong_arguments_never_reach_it(tmp_path):
    async with conversation(tmp_path) as tools:
        outcome = await call(tools, "get-sum", a="many", b=1)
    assert outcome.text.startswith("Error: everything.get-sum was not called: a ")


async def test_its_resources_are_listed_read_and_watched(tmp_path):
    async with conversation(tmp_path) as tools:
        listed = json.loads((await tools.call("ListMcpResources", {"server": "everything"})).text)
        assert [each["name"] for each in listed if each["uri"].endswith("architecture.md")]
        read = await tools.call("ReadMcpResource", {"server": "everything", "uri": listed[0]["uri"]})
        assert json.loads(read.text)["contents"][0]["text"].startswith("# Everything Server")
        blob = await tools.call("ReadMcpResource", {"server": "everything", "uri": "demo://resource/dynamic/blob/7"})
        [part] = json.loads(blob.text)["contents"]
        assert held(part["blobSavedTo"]).startswith(b"Resource 7: This is a base64 blob")
        watched = await tools.call("SubscribeMcpResource", {"server": "everything", "uri": listed[0]["uri"]})
        id = json.loads(watched.text)["subscriptionId"]
        ended = await tools.call("UnsubscribeMcpResource", {"subscriptionId": id})
        assert json.loads(ended.text) == {"unsubscribed": True}


def held(path):
    return Path(path).read_bytes()


async def test_a_long_call_can_be_left_to_itself(tmp_path):
    begun, ended = asyncio.Event(), asyncio.Event()

    def follow(event):
        if isinstance(event, ToolProgress):
            begun.set()
        if isinstance(event, ToolFinished) and event.success and event.outcome.continues is None:
            ended.set()

    async with conversation(tmp_path, on_event=follow) as tools:
        work = asyncio.create_task(tools.call(f"mcp__everything__{LONG}", {"duration": 0.6, "steps": 3}, id="long"))
        await begun.wait()
        tools.leave("long")
        assert (await work).continues == "long"
        await ended.wait()
        assert "completed" in tools.outcome("long").text
