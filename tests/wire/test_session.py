"""The MCP methods, as a user of a session sees them."""

import asyncio

import pytest

from mooring.core.protocol.content import Audio, Embedded, Image, Other, ResourceLink, Text
from mooring.core.protocol.limits import Limits, Timeout
from mooring.core.protocol.tool import Rejected
from mooring.errors import HandshakeError, ProtocolError, RpcError, TimedOut
from mooring.testing import Refused, Server
from mooring.wire.session.client import Client

pytestmark = pytest.mark.swift


def said(server, method):
    return [message for message in server.received if message.get("method") == method]


def schema(name, **more):
    return {"name": name, "inputSchema": {"type": "object"}, **more}


async def until(condition):
    while not condition():  # noqa: ASYNC110 - what is waited for lives in the server, which knows nothing of tests
        await asyncio.sleep(0.001)


async def test_a_connection_opens_with_the_newest_revision_and_says_hello():
    server = Server("github")
    async with await server.session(client=Client()) as session:
        await session.ping()
        assert [message["method"] for message in server.received] == ["initialize", "notifications/initialized", "ping"]
        asked = server.received[0]["params"]
        assert asked["protocolVersion"] == "2025-11-25"
        assert asked["clientInfo"]["name"] == "mooring"
        assert session.hello.server_info.name == "github"
        assert session.server == "github"


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
async def test_every_revision_of_the_era_is_accepted(version):
    server = Server()
    server.answer("initialize", lambda params, call: {"protocolVersion": version, "capabilities": {}})
    async with await server.session() as session:
        assert session.hello.protocol_version == version


@pytest.mark.parametrize("answer", [{"protocolVersion": "2031-01-01"}, {}, {"protocolVersion": 5}, None, []])
async def test_an_answer_to_initialize_that_makes_no_sense_is_refused_in_words(answer):
    server = Server()
    server.answer("initialize", lambda params, call: answer)
    with pytest.raises(HandshakeError, match=r"The handshake with .* failed") as caught:
        await server.session()
    assert caught.value.stage == "handshake"


async def test_a_server_that_refuses_to_begin_is_quoted():
    def refuse(params, call):
        raise Refused(-32000, "no licence")

    server = Server()
    server.answer("initialize", refuse)
    with pytest.raises(HandshakeError, match="no licence"):
        await server.session()


async def test_what_a_server_does_not_offer_is_not_asked_for():
    server = Server()
    async with await server.session() as session:
        assert (await session.list_prompts()).items == ()
        assert (await session.list_resources()).items == ()
        assert (await session.list_templates()).items == ()
        await session.set_level("debug")
        await session.ping()
        assert [message["method"] for message in server.received] == ["initialize", "notifications/initialized", "ping"]


async def test_a_server_that_knows_no_templates_has_none():
    server = Server()
    server.answer("resources/list", lambda params, call: {"resources": [{"uri": "file:///a", "name": "a"}]})
    async with await server.session() as session:
        assert [resource.uri for resource in (await session.list_resources()).items] == ["file:///a"]
        assert (await session.list_templates()).items == ()


async def test_tools_keep_their_schema_unread_until_it_is_read():
    server = Server()

    @server.tool
    def add(a: int, b: int = 0) -> int:
        """Adds."""
        return a + b

    async with await server.session() as session:
        [tool] = session.tools.items
        assert (tool.name, tool.description) == ("add", "Adds.")
        assert b'"properties"' in bytes(tool.input_schema)
        assert tool.schema["required"] == ["a"]
        assert tool.result_schema is None
        result = await session.call_tool("add", {"a": 1, "b": 2})
        assert (result.text, result.structured, result.is_error) == ("3", {"result": 3}, False)
        assert (result.server, result.tool) == ("memory", "add")


async def test_one_bad_tool_of_a_hundred_costs_one_tool():
    server = Server()
    bad = [
        {"name": "bad", "inputSchema": "text"},
        {"name": 5},
        {"inputSchema": {}},
        None,
        schema(""),
        schema("t1", x=1),
    ]
    tools = [*(schema(f"t{i}") for i in range(99)), *bad, schema("t2")]
    server.answer("tools/list", lambda params, call: {"tools": [*tools, schema("t3", description="another")]})
    async with await server.session() as session:
        assert len(session.tools.items) == 99
        assert [each.name for each in session.tools.rejected] == ["bad", "?", "?", "?", "", "t3"]
        assert session.tools.rejected[0] == Rejected("bad", "its inputSchema is not an object")
        assert session.tools.rejected[-1].reason == "it is listed twice, with different definitions"


async def test_pages_are_followed_to_the_last():
    def page(params, call):
        i = int(params.get("cursor", 0))
        return {"tools": [schema(f"t{i}")], **({"nextCursor": str(i + 1)} if i < 4 else {})}

    server = Server()
    server.answer("tools/list", page)
    async with await server.session() as session:
        assert [tool.name for tool in session.tools.items] == ["t0", "t1", "t2", "t3", "t4"]
        assert session.tools.note == ""


async def test_a_list_stops_at_its_limit_of_entries():
    server = Server()
    server.answer("tools/list", lambda params, call: {"tools": [schema(f"t{i}") for i in range(50)], "nextCursor": "x"})
    async with await server.session(limits=Limits(items=20)) as session:
        assert len(session.tools.items) == 20
        assert session.tools.note == "The list stops after 20 entries."


async def test_a_page_that_fails_leaves_the_pages_before_it():
    def page(params, call):
        if "cursor" in params:
            raise Refused(-32603, "out of order")
        return {"tools": [schema("t")], "nextCursor": "next"}

    server = Server()
    server.answer("tools/list", page)
    async with await server.session() as session:
        assert len(session.tools.items) == 1
        assert "out of order" in session.tools.note


@pytest.mark.parametrize("page", [{}, {"tools": 5}, {"tools": {}}, [], None])
async def test_a_server_whose_tools_cannot_be_listed_is_connected_without_any_and_says_why(page):
    server = Server()
    server.answer("tools/list", lambda params, call: page)
    async with await server.session() as session:
        assert session.tools.items == ()
        assert "could not be listed" in session.tools.note
        with pytest.raises(ProtocolError) as caught:
            await session.list_tools()
        assert caught.value.stage == "list"


async def test_slow_pages_share_the_deadline_of_the_connection():
    async def page(params, call):
        await asyncio.sleep(0.1)
        return {"tools": [], "nextCursor": str(int(params.get("cursor", 0)) + 1)}

    server = Server()
    server.answer("tools/list", page)
    began = asyncio.get_running_loop().time()
    async with await server.session(limits=Limits(connect=0.35)) as session:
        assert asyncio.get_running_loop().time() - began == pytest.approx(0.35)
        assert "did not answer tools/list" in session.tools.note


async def test_every_kind_of_content_arrives():
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "image", "data": "AA==", "mimeType": "image/png"},
        {"type": "audio", "data": "AA==", "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "file:///x", "name": "x"},
        {"type": "resource", "resource": {"uri": "file:///y", "text": "y"}},
    ]
    server = Server()
    server.answer("tools/call", lambda params, call: {"content": blocks, "isError": True, "structuredContent": [1]})
    async with await server.session() as session:
        result = await session.call_tool("x")
        assert [type(block) for block in result.content] == [Text, Image, Audio, ResourceLink, Embedded]
        assert result.is_error
        assert result.structured == [1]


async def test_content_of_an_unknown_kind_costs_nothing_around_it():
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "hologram", "x": 1},
        {"type": "image"},
        {"type": "text", "text": "b"},
    ]
    server = Server()
    server.answer("tools/call", lambda params, call: {"content": blocks, "isError": True})
    async with await server.session() as session:
        result = await session.call_tool("x")
        assert [type(block) for block in result.content] == [Text, Other, Other, Text]
        assert result.text == "a\nb"
        assert result.is_error
        assert b"hologram" in bytes(result.content[1].raw)


async def test_a_tool_without_arguments_is_sent_an_empty_object():
    server = Server()
    server.answer("tools/call", lambda params, call: {"content": []})
    async with await server.session() as session:
        await session.call_tool("x", meta={"trace": 1})
        assert said(server, "tools/call")[0]["params"] == {"name": "x", "arguments": {}, "_meta": {"trace": 1}}


async def test_resources_are_read_and_watched():
    contents = [{"uri": "file:///a", "text": "hello"}, {"uri": "file:///b", "blob": "AA=="}]
    heard = []
    server = Server()
    server.answer("resources/read", lambda params, call: {"contents": contents})
    server.answer("resources/subscribe", lambda params, call: {})
    server.answer("resources/unsubscribe", lambda params, call: {})
    server.answer(
        "resources/templates/list",
        lambda params, call: {"resourceTemplates": [{"uriTemplate": "f://{x}", "name": "f"}]},
    )
    async with await server.session(client=Client(on_update=heard.append)) as session:
        reading = await session.read_resource("file:///a")
        assert [(part.text, part.blob) for part in reading.contents] == [("hello", None), (None, "AA==")]
        await session.subscribe("file:///a")
        server.notify("notifications/resources/updated", {"uri": "file:///a"})
        await session.unsubscribe("file:///a")
        assert heard == ["file:///a"]
        assert [template.uri_template for template in (await session.list_templates()).items] == ["f://{x}"]


async def test_prompts_are_listed_filled_and_completed():
    prompt = {"name": "greet", "arguments": [{"name": "who", "required": True}]}
    server = Server()
    server.answer("prompts/list", lambda params, call: {"prompts": [prompt]})
    server.answer(
        "prompts/get",
        lambda params, call: {
            "description": "d",
            "messages": [{"role": "user", "content": {"type": "text", "text": "hi " + params["arguments"]["who"]}}],
        },
    )
    server.answer(
        "completion/complete", lambda params, call: {"completion": {"values": ["ann", "anna"], "hasMore": True}}
    )
    async with await server.session() as session:
        [listed] = (await session.list_prompts()).items
        assert listed.arguments[0].name == "who"
        filled = await session.get_prompt("greet", {"who": "ann"})
        assert [(message.role, message.content.text) for message in filled.messages] == [("user", "hi ann")]
        done = await session.complete({"type": "ref/prompt", "name": "greet"}, "who", "an", {"x": "y"})
        assert (done.values, done.has_more) == (("ann", "anna"), True)
        assert said(server, "completion/complete")[0]["params"]["context"] == {"arguments": {"x": "y"}}


async def test_a_level_is_set_where_the_server_logs():
    server = Server()
    server.answer("logging/setLevel", lambda params, call: {})
    async with await server.session() as session:
        await session.set_level("warning")
        await session.ping()
        assert said(server, "logging/setLevel")[0]["params"] == {"level": "warning"}


def tasked(support="required", interval=10):
    """A server whose tool runs as a task, and the states it goes through."""
    server = Server()
    server.states = ["working", "working", "completed"]
    server.capabilities["tasks"] = {"requests": {"tools": {"call": {}}}, "cancel": {}}

    def state(status):
        return {"taskId": "t1", "status": status, "pollInterval": interval, "createdAt": "", "ttl": 1}

    def get(params, call):
        return state(server.states.pop(0) if len(server.states) > 1 else server.states[0])

    server.answer("tools/list", lambda params, call: {"tools": [schema("slow", execution={"taskSupport": support})]})
    server.answer(
        "tools/call", lambda params, call: {"task": state("working")} if "task" in params else {"content": []}
    )
    server.answer("tasks/get", get)
    server.answer("tasks/result", lambda params, call: {"content": [{"type": "text", "text": "done"}]})
    server.answer("tasks/cancel", lambda params, call: state("cancelled"))
    return server


@pytest.mark.parametrize("support", ["required", "optional"])
async def test_a_tool_that_runs_as_a_task_is_polled_to_its_result(support):
    server = tasked(support)
    async with await server.session() as session:
        assert (await session.call_tool("slow")).text == "done"
        assert [message["method"] for message in server.received[3:]] == [
            "tools/call",
            "tasks/get",
            "tasks/get",
            "tasks/get",
            "tasks/result",
        ]
        assert said(server, "tools/call")[0]["params"]["task"] == {"ttl": 660_000}


async def test_progress_of_a_task_is_heard_until_it_ends():
    server = tasked(interval=60_000)
    server.states = ["completed"]
    steps = []
    async with await server.session() as session:
        call = asyncio.ensure_future(session.call_tool("slow", on_progress=steps.append))
        await until(lambda: said(server, "tools/call"))
        await asyncio.sleep(0.02)
        token = said(server, "tools/call")[0]["params"]["_meta"]["progressToken"]
        server.notify("notifications/progress", {"progressToken": token, "progress": 1})
        server.notify("notifications/tasks/status", {"taskId": "t1", "status": "completed"})
        assert (await call).text == "done"
        assert [step.progress for step in steps] == [1]


async def test_a_tool_that_is_no_task_is_called_plainly():
    server = tasked("forbidden")
    async with await server.session() as session:
        assert (await session.call_tool("slow")).content == ()
        assert "task" not in said(server, "tools/call")[0]["params"]


async def test_the_interval_a_server_asks_for_is_kept():
    server = tasked(interval=150)
    loop = asyncio.get_running_loop()
    async with await server.session() as session:
        began = loop.time()
        await session.call_tool("slow")
        assert loop.time() - began == pytest.approx(0.45)


async def test_a_status_that_is_told_is_looked_at_at_once():
    server = tasked(interval=60_000)
    server.states = ["completed"]
    async with await server.session() as session:
        call = asyncio.ensure_future(session.call_tool("slow"))
        await until(lambda: said(server, "tools/call"))
        await asyncio.sleep(0.02)
        server.notify("notifications/tasks/status", {"taskId": "t1", "status": "completed"})
        assert (await asyncio.wait_for(call, 5)).text == "done"


async def test_a_cancelled_call_cancels_its_task():
    server = tasked()
    server.states = ["working"]
    async with await server.session() as session:
        call = asyncio.ensure_future(session.call_tool("slow"))
        await until(lambda: said(server, "tasks/get"))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: said(server, "tasks/cancel"))
        assert said(server, "tasks/cancel")[0]["params"] == {"taskId": "t1"}


async def test_a_task_that_takes_too_long_is_cancelled():
    server = tasked()
    server.states = ["working"]
    async with await server.session() as session:
        with pytest.raises(TimedOut):
            await session.call_tool("slow", timeout=Timeout(5, 0.2))
        await until(lambda: said(server, "tasks/cancel"))


async def test_a_task_that_needs_input_is_awaited_by_its_result():
    server = tasked()
    server.states = ["input_required"]
    asked = []

    async def elicit(params):
        asked.append(params)
        return {"action": "accept"}

    async def result(params, call):
        await server.ask("elicitation/create", {"message": "sure?"})
        return {"content": [{"type": "text", "text": "after asking"}]}

    server.answer("tasks/result", result)
    async with await server.session(client=Client(elicit=elicit)) as session:
        assert (await session.call_tool("slow")).text == "after asking"
        assert asked == [{"message": "sure?"}]


async def test_a_task_that_failed_fails_as_the_call_would_have():
    def fail(params, call):
        raise Refused(-32000, "it broke")

    server = tasked()
    server.states = ["failed"]
    server.answer("tasks/result", fail)
    async with await server.session() as session:
        with pytest.raises(RpcError, match="it broke"):
            await session.call_tool("slow")


@pytest.mark.parametrize(("told", "words"), [({"statusMessage": "out of tea"}, "out of tea"), ({}, "did not say why")])
async def test_a_task_that_failed_without_a_result_has_failed_all_the_same(told, words):
    server = tasked()
    server.answer("tasks/get", lambda params, call: {"taskId": "t1", "status": "failed", **told})
    server.answer("tasks/result", lambda params, call: {"_meta": {}})
    async with await server.session() as session:
        result = await session.call_tool("slow")
        assert result.is_error
        assert words in result.text


async def test_a_task_that_makes_no_sense_fails_the_call():
    server = tasked()
    server.answer("tools/call", lambda params, call: {"task": {"status": 3}})
    async with await server.session() as session:
        with pytest.raises(ProtocolError, match="its description of a task"):
            await session.call_tool("slow")


async def test_a_server_that_answers_at_once_though_asked_for_a_task_is_heard():
    server = tasked()
    server.answer("tools/call", lambda params, call: {"content": [{"type": "text", "text": "at once"}]})
    async with await server.session() as session:
        assert (await session.call_tool("slow")).text == "at once"
