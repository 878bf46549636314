"""server-everything, which makes use of all that a client can do."""

import asyncio
import json
import time
from base64 import b64decode

import pytest
from fleet import EVERYTHING, ON_REQUEST, TOOLS, names

import mooring
from mooring.core.protocol.content import Embedded, Image, ResourceLink, Text

DOCUMENTS = ("architecture", "extension", "features", "how-it-works", "instructions", "startup", "structure")
LONG = "trigger-long-running-operation"


async def until(condition):
    while not condition():  # noqa: ASYNC110 - what is waited for happens in the server
        await asyncio.sleep(0.01)


async def test_it_offers_resources_templates_and_prompts():
    async with mooring.connect(EVERYTHING) as session:
        resources = (await session.list_resources()).items
        assert [each.uri for each in resources] == [f"demo://resource/static/document/{name}.md" for name in DOCUMENTS]
        assert [each.uri_template for each in (await session.list_templates()).items] == [
            "demo://resource/dynamic/text/{resourceId}",
            "demo://resource/dynamic/blob/{resourceId}",
        ]
        assert names(await session.list_prompts()) == (
            "simple-prompt", "args-prompt", "completable-prompt", "resource-prompt",
        )  # fmt: skip
        [document] = (await session.read_resource(resources[0].uri)).contents
        assert (document.mime_type, document.text.partition("\n")[0]) == (
            "text/markdown",
            "# Everything Server – Architecture",
        )
        [blob] = (await session.read_resource("demo://resource/dynamic/blob/7")).contents
        assert b64decode(blob.blob).startswith(b"Resource 7: This is a base64 blob")
        with pytest.raises(mooring.RpcError, match="demo://nowhere"):
            await session.read_resource("demo://nowhere")


async def test_its_answers_come_as_blocks_of_every_kind():
    async with mooring.connect(EVERYTHING) as session:
        assert (await session.call_tool("echo", {"message": "ahoy ⚓"})).content == (Text("Echo: ahoy ⚓"),)
        assert (await session.call_tool("get-sum", {"a": 2, "b": 40})).text == "The sum of 2 and 40 is 42."
        picture = (await session.call_tool("get-tiny-image")).content[1]
        assert isinstance(picture, Image)
        assert b64decode(picture.data).startswith(b"\x89PNG")
        links = (await session.call_tool("get-resource-links", {"count": 3})).content[1:]
        assert [type(link) for link in links] == [ResourceLink] * 3
        [_, embedded, _] = (await session.call_tool("get-resource-reference", {"resourceId": 5})).content
        assert isinstance(embedded, Embedded)
        assert embedded.resource.uri == "demo://resource/dynamic/text/5"
        weather = await session.call_tool("get-structured-content", {"location": "Chicago"})
        assert weather.structured == {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}


async def test_wrong_arguments_and_unknown_tools_are_the_tools_own_failures():
    async with mooring.connect(EVERYTHING) as session:
        unfit = await session.call_tool("get-sum", {"a": "many"})
        assert unfit.is_error
        assert "Invalid" in unfit.text
        unknown = await session.call_tool("get-lost")
        assert unknown.is_error
        assert "get-lost" in unknown.text


async def test_it_is_given_what_it_is_meant_to_see_of_the_environment(monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "canary")
    async with mooring.connect(EVERYTHING, env={"HARBOUR": "Kiel"}) as session:
        env = json.loads((await session.call_tool("get-env")).text)
    assert env["HARBOUR"] == "Kiel"
    assert "PATH" in env
    assert "GITHUB_TOKEN" not in env


async def test_a_thousand_calls_at_once_each_get_their_own_answer():
    async with mooring.connect(EVERYTHING) as session:
        calls = (session.call_tool("get-sum", {"a": i, "b": 1}) for i in range(1000))
        texts = [result.text for result in await asyncio.gather(*calls)]
    assert texts == [f"The sum of {i} and 1 is {i + 1}." for i in range(1000)]


# --- time and progress --------------------------------------------------------------------------------------


async def test_a_long_call_says_how_far_it_is():
    steps = []
    async with mooring.connect(EVERYTHING) as session:
        result = await session.call_tool(LONG, {"duration": 0.4, "steps": 4}, on_progress=steps.append)
    assert result.text == "Long running operation completed. Duration: 0.4 seconds, Steps: 4."
    assert [(step.progress, step.total) for step in steps] == [(1, 4), (2, 4), (3, 4), (4, 4)]


async def test_a_cancelled_call_returns_at_once_and_the_server_stays_usable():
    begun = asyncio.Event()
    async with mooring.connect(EVERYTHING) as session:
        work = session.call_tool(LONG, {"duration": 30, "steps": 300}, on_progress=lambda _: begun.set())
        call = asyncio.create_task(work)
        await begun.wait()
        start = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert time.monotonic() - start < 0.5
        assert session.in_flight == 0
        assert (await session.call_tool("echo", {"message": "still here"})).text == "Echo: still here"


async def test_silence_times_out_and_progress_is_a_sign_of_life():
    within = mooring.Timeout(idle=0.8, total=None)
    async with mooring.connect(EVERYTHING) as session:
        lively = await session.call_tool(LONG, {"duration": 2, "steps": 20}, timeout=within, on_progress=lambda _: None)
        assert not lively.is_error
        with pytest.raises(mooring.TimedOut):
            await session.call_tool(LONG, {"duration": 30, "steps": 1}, timeout=within)
        assert (await session.call_tool("echo", {"message": "still here"})).text == "Echo: still here"


# --- what it asks of its client -----------------------------------------------------------------------------


async def nobody(params):
    raise mooring.RpcError("", -1, "nobody is here")


async def test_a_client_that_can_answer_is_offered_more_and_hears_of_it():
    changed = asyncio.Queue()
    client = mooring.Client(roots=list, sample=nobody, elicit=nobody, elicit_by_url=True, on_change=changed.put_nowait)
    async with mooring.connect(EVERYTHING, client=client) as session:
        assert await changed.get() == "tools"
        assert set(names(await session.list_tools())) == {*TOOLS["everything"], *ON_REQUEST}


async def test_it_samples_through_the_client():
    asked = []

    async def sample(params):
        asked.append(params)
        said = {"type": "text", "text": "The tide is out."}
        return {"role": "assistant", "content": said, "model": "tide-1", "stopReason": "endTurn"}

    async with mooring.connect(EVERYTHING, client=mooring.Client(sample=sample)) as session:
        result = await session.call_tool("trigger-sampling-request", {"prompt": "the tide?", "maxTokens": 7})
    assert asked[0]["maxTokens"] == 7
    assert "the tide?" in asked[0]["messages"][0]["content"]["text"]
    answer = json.loads(result.text.partition("\n")[2])
    assert (answer["model"], answer["content"]["text"]) == ("tide-1", "The tide is out.")


async def test_a_refusal_to_sample_reaches_the_tool():
    async with mooring.connect(EVERYTHING, client=mooring.Client(sample=nobody)) as session:
        result = await session.call_tool("trigger-sampling-request", {"prompt": "the tide?"})
    assert result.is_error
    assert "nobody is here" in result.text


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"action": "accept", "content": {"name": "Gudrun", "integer": 7}}, "- Name: Gudrun"),
        ({"action": "decline"}, "User declined"),
        ({"action": "cancel"}, "User cancelled"),
    ],
)
async def test_it_asks_a_person_through_the_client(answer, told):
    asked = []

    async def elicit(params):
        asked.append(params)
        return answer

    async with mooring.connect(EVERYTHING, client=mooring.Client(elicit=elicit)) as session:
        assert "trigger-url-elicitation" not in names(session.tools)
        result = await session.call_tool("trigger-elicitation-request")
    assert told in result.text
    assert asked[0]["requestedSchema"]["required"] == ["name"]


async def test_it_sends_a_person_to_an_address_or_says_that_it_must():
    asked = []

    async def elicit(params):
        asked.append(params)
        return {"action": "accept"}

    client = mooring.Client(elicit=elicit, elicit_by_url=True)
    async with mooring.connect(EVERYTHING, client=client) as session:
        page = {"url": "https://example.com/permit", "elicitationId": "e-1"}
        result = await session.call_tool("trigger-url-elicitation", page)
        assert "User completed the URL elicitation" in result.text
        assert [(each["mode"], each["url"], each["elicitationId"]) for each in asked] == [("url", page["url"], "e-1")]
        with pytest.raises(mooring.RpcError) as caught:
            await session.call_tool("trigger-url-elicitation", {**page, "errorPath": True})
        assert caught.value.code == -32042
        assert caught.value.data["elicitations"][0]["mode"] == "url"


async def test_it_knows_the_roots_and_their_change():
    roots, logs = [mooring.Root("file:///port", "Port")], asyncio.Queue()
    client = mooring.Client(roots=lambda: list(roots), on_log=lambda message: logs.put_nowait(message.data))
    async with mooring.connect(EVERYTHING, client=client) as session:
        told = (await session.call_tool("get-roots-list")).text
        assert "(1 total)" in told
        assert "1. Port\n   URI: file:///port" in told
        roots.append(mooring.Root("file:///starboard"))
        session.roots_changed()
        while await logs.get() != "Roots updated: 2 root(s) received from client":
            pass
        assert "file:///starboard" in (await session.call_tool("get-roots-list")).text


# --- what it tells ------------------------------------------------------------------------------------------


async def test_who_subscribed_hears_of_updates_until_unsubscribing():
    updates = asyncio.Queue()
    first, second = "demo://resource/dynamic/text/1", "demo://resource/dynamic/text/2"
    async with mooring.connect(EVERYTHING, client=mooring.Client(on_update=updates.put_nowait)) as session:
        await session.subscribe(first)
        await session.subscribe(second)
        await session.call_tool("toggle-subscriber-updates")
        assert [await updates.get(), await updates.get()] == [first, second]
        await session.call_tool("toggle-subscriber-updates")
        await session.unsubscribe(first)
        await session.call_tool("toggle-subscriber-updates")
        assert await updates.get() == second
        assert updates.empty()


async def test_it_logs_from_the_level_on_that_is_set():
    logs = asyncio.Queue()
    async with mooring.connect(EVERYTHING, client=mooring.Client(on_log=logs.put_nowait)) as session:
        await session.set_level("error")
        await session.subscribe("demo://quiet")
        await session.set_level("info")
        await session.subscribe("demo://loud")
        message = await logs.get()
        assert (message.level, "demo://loud" in message.data) == ("info", True)


async def test_prompts_are_filled_in():
    async with mooring.connect(EVERYTHING) as session:
        plain = await session.get_prompt("simple-prompt")
        assert [message.content for message in plain.messages] == [Text("This is a simple prompt without arguments.")]
        filled = await session.get_prompt("args-prompt", {"city": "Kiel", "state": "Holstein"})
        assert [message.content for message in filled.messages] == [Text("What's weather in Kiel, Holstein?")]
        attached = await session.get_prompt("resource-prompt", {"resourceType": "Text", "resourceId": "3"})
        assert attached.messages[1].content.resource.uri == "demo://resource/dynamic/text/3"
        with pytest.raises(mooring.RpcError, match="city"):
            await session.get_prompt("args-prompt")


async def test_arguments_are_completed_in_their_context():
    async with mooring.connect(EVERYTHING) as session:
        prompt = {"type": "ref/prompt", "name": "completable-prompt"}
        assert (await session.complete(prompt, "department", "S")).values == ("Sales", "Support")
        found = await session.complete(prompt, "name", "", {"department": "Sales"})
        assert (found.values, found.total, found.has_more) == (("David", "Eve", "Frank"), 3, False)
        template = {"type": "ref/resource", "uri": "demo://resource/dynamic/text/{resourceId}"}
        assert (await session.complete(template, "resourceId", "12")).values == ("12",)


# --- tasks --------------------------------------------------------------------------------------------------


async def test_a_tool_that_must_be_a_task_is_called_like_any_other():
    async with mooring.connect(EVERYTHING) as session:
        [research] = [tool for tool in session.tools.items if tool.name == "simulate-research-query"]
        assert research.execution.task_support == "required"
        result = await session.call_tool(research.name, {"topic": "tides"})
    assert result.text.startswith("# Research Report: tides\n")


async def test_a_task_that_needs_a_person_asks_in_between():
    asked = []

    async def elicit(params):
        asked.append(params["requestedSchema"]["properties"]["interpretation"]["oneOf"])
        return {"action": "accept", "content": {"interpretation": "snake"}}

    async with mooring.connect(EVERYTHING, client=mooring.Client(elicit=elicit)) as session:
        result = await session.call_tool("simulate-research-query", {"topic": "python", "ambiguous": True})
    assert [choice["const"] for choice in asked[0]] == ["programming", "snake", "comedy"]
    assert result.text.startswith("# Research Report: python (snake)\n")


async def test_a_cancelled_task_returns_at_once_and_the_server_stays_usable():
    async with mooring.connect(EVERYTHING) as session:
        call = asyncio.create_task(session.call_tool("simulate-research-query", {"topic": "tides"}))
        await asyncio.sleep(0)
        assert session.in_flight == 1
        await until(lambda: session.in_flight == 0)  # the task is made, and left alone for a while
        start = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert time.monotonic() - start < 0.5
        assert (await session.call_tool("echo", {"message": "still here"})).text == "Echo: still here"
        assert session.in_flight == 0
