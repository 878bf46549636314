"""The era without sessions, over HTTP on loopback and over a transport that is not HTTP."""

import asyncio
import base64
from typing import Any

import pytest
from aiohttp import web

import mooring
from mooring.core.protocol.era import EraHint
from mooring.core.protocol.limits import Limits, Timeout
from mooring.errors import HandshakeError, ProtocolError, RpcError, ServerDied, ServerError, TimedOut
from mooring.testing import Refused, Server
from mooring.testing.memory import Wire
from mooring.testing.site import ReceivedRequest, Site, event, said
from mooring.wire.session.client import Client, Root
from mooring.wire.session.negotiate import negotiate

META = "io.modelcontextprotocol/"
TASKS = f"{META}tasks"


async def until(condition):
    while not condition():  # noqa: ASYNC110 - what is waited for lives in the server
        await asyncio.sleep(0.005)


def asks(*keys: str, **more: Any) -> dict[str, Any]:
    requests = {key: {"method": "elicitation/create", "params": {"message": key}} for key in keys}
    return {"resultType": "input_required", **({"inputRequests": requests} if keys else {}), **more}


async def accept(params: dict[str, Any]) -> dict[str, Any]:
    return {"action": "accept", "content": {"about": params["message"]}}


async def test_every_request_says_by_itself_who_asks() -> None:
    async with Site(stateless=True) as site:
        async with mooring.connect(site.url) as session:
            await session.call_tool("echo", {"text": "hi"})
            assert (session.era, session.hello.protocol_version) == ("stateless", "2026-07-28")
            assert session.hello.server_info.name == "site"
        assert [heard.method for heard in site.heard] == ["server/discover", "tools/list", "tools/call"]
        for heard in site.heard:
            meta = heard.params["_meta"]
            assert meta[f"{META}protocolVersion"] == heard.headers["MCP-Protocol-Version"] == "2026-07-28"
            assert meta[f"{META}clientInfo"]["name"] == "mooring"
            assert meta[f"{META}clientCapabilities"] == {"extensions": {TASKS: {}}}
            assert heard.headers["Mcp-Method"] == heard.method
            assert "Mcp-Session-Id" not in heard.headers
        assert site.heard[-1].headers["Mcp-Name"] == "echo"


async def test_a_name_that_no_header_can_carry_travels_in_base64() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        await session.call_tool("größe\r\nX-Evil: 1")
        name = site.said("tools/call")[0].headers["Mcp-Name"]
        assert base64.b64decode(name.removeprefix("=?base64?").removesuffix("?=")).decode() == "größe\r\nX-Evil: 1"
        assert "X-Evil" not in site.said("tools/call")[0].headers


def annotated(name: str, **properties: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", "properties": properties}}


async def test_arguments_are_repeated_in_the_head_where_the_schema_asks_for_it() -> None:
    async with Site(stateless=True) as site:
        inner = {"type": "object", "properties": {"deep": {"type": "boolean", "x-mcp-header": "Deep"}}}
        site.tools = [
            annotated(
                "t",
                a={"type": "string", "x-mcp-header": "A"},
                b={"type": "integer", "x-mcp-header": "B"},
                c={"type": "string", "x-mcp-header": "C"},
                d={"type": "string"},
                e=inner,
                f={"type": "string", "x-mcp-header": "F"},
            )
        ]
        async with mooring.connect(site.url) as session:
            arguments = {"a": " x\n", "b": 7, "c": None, "d": "d", "e": {"deep": True}, "f": "=?base64?x?="}
            await session.call_tool("t", arguments)
        headers = site.said("tools/call")[0].headers
        sent = {name: value for name, value in headers.items() if name.startswith("Mcp-Param-")}
    assert sent == {
        "Mcp-Param-A": "=?base64?IHgK?=",
        "Mcp-Param-B": "7",
        "Mcp-Param-Deep": "true",
        "Mcp-Param-F": "=?base64?PT9iYXNlNjQ/eD89?=",
    }


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        ({"a": {"type": "string", "x-mcp-header": ""}}, "cannot be part of a header's name"),
        ({"a": {"type": "string", "x-mcp-header": "A\r\nB: c"}}, "cannot be part of a header's name"),
        ({"a": {"type": "number", "x-mcp-header": "A"}}, "not a string, integer or boolean"),
        ({"a": {"x-mcp-header": "A"}}, "not a string, integer or boolean"),
        ({"a": {"type": "string", "x-mcp-header": 5}}, "cannot be part of a header's name"),
        (
            {"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}},
            "use the header mcp-param-a",
        ),
        (
            {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}},
            "not reached by a chain of properties",
        ),
        ({"a": {"anyOf": [{"type": "string", "x-mcp-header": "A"}]}}, "not reached by a chain of properties"),
    ],
)
async def test_a_tool_that_asks_for_a_header_that_cannot_be_is_rejected_with_the_reason(schema, reason: str) -> None:
    async with Site(stateless=True) as site:
        site.tools = [annotated("bad", **schema), annotated("good")]
        async with mooring.connect(site.url) as session:
            assert [tool.name for tool in session.tools.items] == ["good"]
            (rejected,) = session.tools.rejected
            assert (rejected.name, reason in rejected.reason) == ("bad", True)


@pytest.mark.swift
async def test_over_pipes_annotations_for_headers_mean_nothing() -> None:
    server = modern(Server())
    server.answer("tools/list", lambda params, call: {"tools": [annotated("t", a={"type": "x", "x-mcp-header": ""})]})
    async with await dialled(server) as session:
        assert [tool.name for tool in session.tools.items] == ["t"]


async def test_a_tool_that_has_changed_what_it_wants_repeated_is_listed_again_and_called_again() -> None:
    def picky(heard: ReceivedRequest):
        if "Mcp-Param-A" not in heard.headers:
            raise Refused(-32020, "Header mismatch")
        return said("right")

    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.tools = [annotated("echo", a={"type": "string", "x-mcp-header": "A"})]
        site.answers["tools/call"] = picky
        assert (await session.call_tool("echo", {"a": "1"})).text == "right"
        assert len(site.said("tools/call")) == 2


async def test_a_header_that_is_wrong_for_good_is_tried_twice_and_no_more() -> None:
    def refuse(heard: ReceivedRequest):
        raise Refused(-32020, "Header mismatch")

    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = refuse
        with pytest.raises(RpcError) as caught:
            await session.call_tool("echo")
        assert caught.value.code == -32020
        assert len(site.said("tools/call")) == 2


async def test_what_a_server_asks_for_is_given_and_its_state_is_echoed_byte_for_byte() -> None:
    state = '"\\u0041\\/ \\u00e9\\ud83d\\ude00 \\n"'
    rounds = iter([asks("one", "two"), asks()])

    def respond(heard: ReceivedRequest):
        try:
            answer = next(rounds)
        except StopIteration:
            return said("done")
        body = heard.result({**answer, "requestState": "@"}).replace(b'"@"', state.encode())
        return web.Response(body=body, content_type="application/json")

    async with Site(stateless=True) as site, mooring.connect(site.url, client=Client(elicit=accept)) as session:
        bodies: list[bytes] = []

        async def note(heard: ReceivedRequest):
            bodies.append(await heard.request.read())
            return respond(heard)

        site.answers["tools/call"] = note
        assert (await session.call_tool("echo", {"text": "x"})).text == "done"
        first, second, third = site.said("tools/call")
    assert len({heard.message["id"] for heard in (first, second, third)}) == 3
    assert "requestState" not in first.params
    assert second.params["inputResponses"] == {
        "one": {"action": "accept", "content": {"about": "one"}},
        "two": {"action": "accept", "content": {"about": "two"}},
    }
    assert f'"requestState":{state}'.encode() in bodies[1]
    assert f'"requestState":{state}'.encode() in bodies[2]
    assert "inputResponses" not in third.params
    assert second.params["arguments"] == {"text": "x"}


async def test_a_state_that_was_not_given_is_not_sent() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url, client=Client(elicit=accept)) as session:
        site.answers["tools/call"] = lambda heard: said("ok") if "inputResponses" in heard.params else asks("x")
        await session.call_tool("echo")
        assert "requestState" not in site.said("tools/call")[1].params


async def test_a_server_that_never_has_enough_is_refused() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url, client=Client(elicit=accept)) as session:
        site.answers["tools/call"] = lambda heard: asks("x")
        with pytest.raises(ProtocolError, match="10 times"):
            await session.call_tool("echo")
        assert len(site.said("tools/call")) == 11


@pytest.mark.parametrize(
    "answer",
    [
        {"resultType": "input_required", "inputRequests": {"x": {"method": "sampling/createMessage"}}},
        {"resultType": "input_required", "inputRequests": {"x": 5}},
        {"resultType": "something else"},
        asks(*(str(n) for n in range(100))),
    ],
)
async def test_what_was_not_offered_or_makes_no_sense_fails_the_call(answer: dict[str, Any]) -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url, client=Client(elicit=accept)) as session:
        site.answers["tools/call"] = lambda heard: answer
        with pytest.raises(ProtocolError):
            await session.call_tool("echo")


async def test_a_person_who_refuses_fails_the_call_in_words() -> None:
    async def refuse(params: dict[str, Any]) -> dict[str, Any]:
        raise RpcError("", -1, "not now")

    async with Site(stateless=True) as site, mooring.connect(site.url, client=Client(elicit=refuse)) as session:
        site.answers["tools/call"] = lambda heard: asks("x")
        with pytest.raises(ServerError, match="refused here: not now"):
            await session.call_tool("echo")


async def test_a_person_who_does_not_answer_is_waited_for_no_longer_than_the_call_may_take() -> None:
    async def never(params: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(30)
        return {}

    async with Site(stateless=True) as site, mooring.connect(site.url, client=Client(elicit=never)) as session:
        site.answers["tools/call"] = lambda heard: asks("x")
        with pytest.raises(TimedOut):
            await session.call_tool("echo", timeout=Timeout(5, 0.3))


async def test_a_call_that_is_given_up_is_cancelled_by_closing_its_stream() -> None:
    closed = asyncio.Event()

    async def never(heard: ReceivedRequest):
        await heard.stream()
        try:
            while heard.request.transport is not None:  # noqa: ASYNC110 - the transport is what is looked at
                await asyncio.sleep(0.01)
        finally:
            closed.set()

    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = never
        with pytest.raises(TimedOut):
            await session.call_tool("echo", timeout=Timeout(0.2, 0.2))
        await asyncio.wait_for(closed.wait(), 100)
        assert site.said("notifications/cancelled") == []


async def test_a_stream_that_breaks_is_not_resumed_in_this_era() -> None:
    async def half(heard: ReceivedRequest):
        response = await heard.stream()
        await response.write(event(b"", "1"))
        return response

    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = half
        with pytest.raises(ServerDied):
            await session.call_tool("echo")
        assert site.said("GET") == []


async def test_how_long_a_list_may_be_kept_is_kept_with_it() -> None:
    pages = [
        {"tools": [{"name": "a", "inputSchema": {}}], "nextCursor": "2", "ttlMs": 9000, "cacheScope": "public"},
        {"tools": [{"name": "b", "inputSchema": {}}], "ttlMs": 5000, "cacheScope": "private"},
    ]
    async with Site(stateless=True) as site:
        site.answers["tools/list"] = lambda heard: pages["cursor" in heard.params]
        async with mooring.connect(site.url) as session:
            assert (session.tools.ttl, session.tools.shared) == (5.0, False)
            pages[1]["cacheScope"] = "public"
            assert (await session.list_tools()).shared is True
    async with Site() as site, mooring.connect(site.url) as session:
        assert (session.tools.ttl, session.tools.shared) == (None, None)


async def test_the_level_of_the_log_goes_with_every_request() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url, client=Client(on_log=print)) as session:
        await session.set_level("error")
        await session.call_tool("echo")
        levels = [heard.params["_meta"][f"{META}logLevel"] for heard in site.heard]
        assert levels == ["info", "info", "error"]


async def test_a_ping_asks_who_is_there() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        await session.ping()
        assert len(site.said("server/discover")) == 2


# What a server says unasked


class Listened:
    """Answers `subscriptions/listen` and keeps the streams."""

    def __init__(self) -> None:
        self.streams: list[web.StreamResponse] = []
        self.wanted: list[dict[str, Any]] = []
        self.enough: list[asyncio.Event] = []

    async def __call__(self, heard: ReceivedRequest):
        response = await heard.stream()
        self.wanted.append(heard.params["notifications"])
        self.enough.append(asyncio.Event())
        self.streams.append(response)
        await response.write(event(self.note(heard, "subscriptions/acknowledged", heard.params["notifications"])))
        await self.enough[-1].wait()
        return response

    @staticmethod
    def note(heard: ReceivedRequest, name: str, notifications: Any = None) -> bytes:
        meta = b'{"io.modelcontextprotocol/subscriptionId":%d}' % heard.message["id"]
        return b'{"jsonrpc":"2.0","method":"notifications/%b","params":{"_meta":%b,"uri":"a:b"}}' % (
            name.encode(),
            meta,
        )

    def end(self) -> None:
        for enough in self.enough:
            enough.set()


async def test_changes_of_lists_and_resources_are_heard_on_one_subscription() -> None:
    changes: list[str] = []
    updates: list[str] = []
    listened = Listened()
    async with Site(stateless=True) as site:
        site.capabilities = {"tools": {"listChanged": True}, "resources": {"listChanged": False, "subscribe": True}}
        site.answers["subscriptions/listen"] = listened
        client = Client(on_change=changes.append, on_update=updates.append)
        async with mooring.connect(site.url, client=client, limits=Limits(in_flight=1)) as session:
            await until(lambda: listened.streams)
            (heard,) = site.said("subscriptions/listen")
            await listened.streams[0].write(event(Listened.note(heard, "tools/list_changed")))
            await until(lambda: changes)
            await session.subscribe("a:b")
            assert listened.wanted == [
                {"toolsListChanged": True},
                {"toolsListChanged": True, "resourceSubscriptions": ["a:b"]},
            ]
            await listened.streams[1].write(event(Listened.note(heard, "resources/updated")))
            await until(lambda: updates)
            await session.unsubscribe("a:b")
            assert listened.wanted[-1] == {"toolsListChanged": True}
            assert (await session.call_tool("echo", {"text": "beside"})).text == "beside"
            assert session.in_flight == 0
            listened.end()
    assert (changes[:1], updates[:1]) == (["tools"], ["a:b"])


async def test_a_subscription_that_breaks_is_opened_again_and_what_may_have_been_missed_is_told() -> None:
    changes: list[str] = []
    listened = Listened()
    async with Site(stateless=True) as site:
        site.capabilities = {"tools": {"listChanged": True}}
        site.answers["subscriptions/listen"] = listened
        async with mooring.connect(site.url, client=Client(on_change=changes.append)):
            await until(lambda: listened.streams)
            assert changes == []
            listened.end()
            await until(lambda: len(listened.streams) > 1)
            assert changes == ["tools"]
            listened.end()


async def test_a_server_that_will_not_tell_of_changes_is_left_alone() -> None:
    async with Site(stateless=True) as site:
        site.capabilities = {"tools": {"listChanged": True}}
        async with mooring.connect(site.url, client=Client(on_change=print)) as session:
            await until(lambda: session.anomalies.remarks)
            with pytest.raises(RpcError):
                await session.subscribe("a:b")
            assert len(site.said("subscriptions/listen")) == 2


# Tasks


def task(status: str, **more: Any) -> dict[str, Any]:
    return {"taskId": "t1", "status": status, "ttlMs": None, "pollIntervalMs": 50, **more}


async def test_a_call_that_becomes_a_task_is_followed_to_its_result() -> None:
    asked = {"q": {"method": "elicitation/create", "params": {"message": "q"}}}
    states = iter([
        task("working"), task("input_required", inputRequests=asked), task("input_required", inputRequests=asked),
        task("completed", result=said("at last")),
    ])  # fmt: skip
    async with Site(stateless=True) as site, mooring.connect(site.url, client=Client(elicit=accept)) as session:
        site.answers["tools/call"] = lambda heard: {"resultType": "task", **task("working")}
        site.answers["tasks/get"] = lambda heard: next(states)
        site.answers["tasks/update"] = lambda heard: {"resultType": "complete"}
        assert (await session.call_tool("echo")).text == "at last"
        (update,) = site.said("tasks/update")
        assert update.params["inputResponses"] == {"q": {"action": "accept", "content": {"about": "q"}}}
        assert {heard.headers["Mcp-Name"] for heard in site.said("tasks/get")} == {"t1"}


async def test_the_headers_of_a_call_go_with_every_request_that_its_task_takes() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = lambda heard: {"resultType": "task", **task("working")}
        site.answers["tasks/get"] = lambda heard: task("completed", result=said("done"))
        assert (await session.call_tool("echo", headers={"X-User": "ann"})).text == "done"
        headed = [heard.method for heard in site.heard if heard.headers.get("X-User") == "ann"]
        assert headed == ["tools/call", "tasks/get"]


async def test_two_calls_that_are_given_the_same_task_both_get_its_result() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = lambda heard: {"resultType": "task", **task("working")}
        site.answers["tasks/get"] = lambda heard: task("completed", result=said("shared"))
        results = await asyncio.gather(session.call_tool("echo"), session.call_tool("echo"))
        assert [result.text for result in results] == ["shared", "shared"]


async def test_a_task_that_had_ended_when_it_was_created_is_asked_what_came_of_it() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = lambda heard: {"resultType": "task", **task("completed")}
        site.answers["tasks/get"] = lambda heard: task("completed", result=said("quick"))
        assert (await session.call_tool("echo")).text == "quick"


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (task("failed", error={"code": -5, "message": "broken"}), RpcError),
        (task("cancelled"), RpcError),
        (task("completed"), ProtocolError),
        (task("odd"), ProtocolError),
        ({"taskId": 5}, ProtocolError),
    ],
)
async def test_a_task_that_ends_otherwise_fails_its_call(end: dict[str, Any], error: type[Exception]) -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = lambda heard: {"resultType": "task", **task("working")}
        site.answers["tasks/get"] = lambda heard: end
        with pytest.raises(error):
            await session.call_tool("echo")


@pytest.mark.swift
async def test_a_task_that_is_given_up_is_cancelled() -> None:
    async with Site(stateless=True) as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = lambda heard: {"resultType": "task", **task("working")}
        site.answers["tasks/get"] = lambda heard: task("working")
        with pytest.raises(TimedOut):
            await session.call_tool("echo", timeout=Timeout(5, 0.3))
        await until(lambda: site.said("tasks/cancel"))
        assert site.said("tasks/cancel")[0].params["taskId"] == "t1"


# Which era


def modern(server: Server) -> Server:
    server.answer(
        "server/discover",
        lambda params, call: {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
    )
    return server


HANDSHAKE = EraHint("handshake", refused="stateless")


async def dialled(server: Server, **options: Any) -> mooring.Session:
    async def start() -> Wire:
        return Wire(server)

    return await negotiate(start, server="server", **options)


@pytest.mark.swift
async def test_the_era_works_over_pipes_and_cancels_by_a_notice() -> None:
    async def never(params: Any, call: Any) -> None:
        await asyncio.sleep(30)

    server = modern(Server())
    server.answer("tools/call", never)
    async with await dialled(server) as session:
        assert session.era == "stateless"
        with pytest.raises(TimedOut):
            await session.call_tool("x", timeout=Timeout(0.1, 0.1))
        await until(lambda: server.received[-1]["method"] == "notifications/cancelled")
        assert all(f"{META}protocolVersion" in message["params"]["_meta"] for message in server.received[:-1])
        assert "initialize" not in [message["method"] for message in server.received]


@pytest.mark.swift
async def test_over_pipes_a_subscription_that_is_given_up_is_cancelled_before_anything_else_is_said() -> None:
    async def listen(params: Any, call: Any) -> Any:
        server.notify("notifications/subscriptions/acknowledged", {"notifications": params["notifications"]})
        await asyncio.sleep(30)

    server = modern(Server())
    server.answer("subscriptions/listen", listen)
    async with await dialled(server) as session:
        await session.subscribe("a:b")
        await session.unsubscribe("a:b")
        await session.ping()
        await session.subscribe("a:c")
    said = [message["method"] for message in server.received[2:]]
    assert said[:4] == ["subscriptions/listen", "notifications/cancelled", "server/discover", "subscriptions/listen"]


@pytest.mark.swift
@pytest.mark.parametrize("code", [-32601, -32602, -32600, -32000, -32603, -32020, -1, 0, -32022])
async def test_any_error_leads_to_the_handshake(code: int) -> None:
    def refuse(params: Any, call: Any) -> None:
        raise Refused(code, "what?")

    server = Server()
    server.answer("server/discover", refuse)
    async with await dialled(server) as session:
        assert session.era == "handshake"


@pytest.mark.swift
@pytest.mark.parametrize("answer", [{}, None, [], {"supportedVersions": "x"}, {"supportedVersions": ["2025-11-25"]}])
async def test_an_answer_that_is_no_sign_of_the_new_era_leads_to_the_handshake(answer: Any) -> None:
    server = Server()
    server.answer("server/discover", lambda params, call: answer)
    async with await dialled(server) as session:
        assert session.era == "handshake"


@pytest.mark.swift
async def test_a_server_that_names_only_revisions_of_the_future_is_refused_in_words() -> None:
    def refuse(params: Any, call: Any) -> None:
        raise Refused(-32022, "no", {"supported": ["2031-01-01"]})

    server = Server()
    server.answer("server/discover", refuse)
    with pytest.raises(HandshakeError, match="2031-01-01"):
        await dialled(server)


@pytest.mark.swift
async def test_a_server_that_names_old_revisions_too_is_spoken_to_in_the_old_way() -> None:
    def refuse(params: Any, call: Any) -> None:
        raise Refused(-32022, "no", {"supported": ["2031-01-01", "2025-06-18"]})

    server = Server()
    server.answer("server/discover", refuse)
    async with await dialled(server) as session:
        assert session.era == "handshake"


@pytest.mark.swift
async def test_a_server_that_passes_over_the_question_is_asked_in_the_old_way_too() -> None:
    async def never(params: Any, call: Any) -> None:
        await asyncio.sleep(30)

    server = Server()
    server.answer("server/discover", never)
    async with await dialled(server, limits=Limits(probe=0.1)) as session:
        assert session.era == "handshake"


@pytest.mark.swift
async def test_a_server_that_is_merely_slow_is_still_taken_for_what_it_is() -> None:
    async def slow(params: Any, call: Any) -> Any:
        await asyncio.sleep(0.3)
        return {"supportedVersions": ["2026-07-28"], "capabilities": {}}

    def refuse(params: Any, call: Any) -> None:
        raise Refused(-32022, "too late")

    async def both(params: Any, call: Any) -> Any:
        await asyncio.sleep(0.5)
        refuse(params, call)

    server = Server()
    server.answer("server/discover", slow)
    server.answer("initialize", both)
    async with await dialled(server, limits=Limits(probe=0.1)) as session:
        assert session.era == "stateless"


@pytest.mark.swift
async def test_a_server_that_is_silent_to_everything_fails_at_the_one_deadline() -> None:
    async def never(params: Any, call: Any) -> None:
        await asyncio.sleep(30)

    server = Server()
    server.answer("server/discover", never)
    server.answer("initialize", never)
    began = asyncio.get_running_loop().time()
    with pytest.raises(TimedOut):
        await dialled(server, limits=Limits(connect=0.6, probe=0.1))
    assert asyncio.get_running_loop().time() - began == pytest.approx(0.6)


@pytest.mark.swift
async def test_an_era_that_is_known_is_not_asked_for() -> None:
    server = Server()
    async with await dialled(server, hint=HANDSHAKE):
        assert server.received[0]["method"] == "initialize"


@pytest.mark.swift
async def test_an_era_that_was_remembered_wrongly_is_found_out_again() -> None:
    def refuse(params: Any, call: Any) -> None:
        raise Refused(-32022, "no longer")

    server = modern(Server())
    server.answer("initialize", refuse)
    async with await dialled(server, hint=HANDSHAKE) as session:
        assert session.era == "stateless"


@pytest.mark.swift
async def test_a_remembered_server_that_refuses_the_handshake_and_ignores_the_question_fails_in_words() -> None:
    async def never(params: Any, call: Any) -> None:
        await asyncio.sleep(30)

    def refuse(params: Any, call: Any) -> None:
        raise Refused(-32603, "no licence")

    server = Server()
    server.answer("server/discover", never)
    server.answer("initialize", refuse)
    with pytest.raises(HandshakeError, match="no licence"):
        await dialled(server, hint=HANDSHAKE, limits=Limits(probe=0.1))


PREFERS_HANDSHAKE = EraHint("handshake")


@pytest.mark.swift
async def test_a_server_of_both_eras_is_spoken_to_in_the_one_that_is_preferred() -> None:
    for preferred in ("handshake", "stateless"):
        server = modern(Server())
        hint = EraHint(preferred)
        async with await dialled(server, hint=hint) as session:
            assert session.era == preferred
            assert hint.find_refused(session.era) is None
        asked = {message["method"] for message in server.received} & {"initialize", "server/discover"}
        assert asked == {"initialize" if preferred == "handshake" else "server/discover"}


@pytest.mark.swift
async def test_a_server_that_refuses_the_preferred_handshake_is_asked_for_the_other_era() -> None:
    def refuse(params: Any, call: Any) -> None:
        raise Refused(-32601, "Method not found")

    server = modern(Server())
    server.answer("initialize", refuse)
    async with await dialled(server, hint=PREFERS_HANDSHAKE) as session:
        assert session.era == "stateless"
        assert PREFERS_HANDSHAKE.find_refused(session.era) == "handshake"


@pytest.mark.swift
async def test_a_server_that_ignores_the_preferred_handshake_is_asked_for_the_other_era_in_time() -> None:
    async def never(params: Any, call: Any) -> None:
        await asyncio.sleep(60)

    server = modern(Server())
    server.answer("initialize", never)
    began = asyncio.get_running_loop().time()
    async with await dialled(server, hint=PREFERS_HANDSHAKE, limits=Limits(connect=9, probe=1)) as session:
        assert session.era == "stateless"
    assert asyncio.get_running_loop().time() - began == pytest.approx(4)


@pytest.mark.swift
async def test_a_server_that_is_slow_to_shake_hands_is_waited_for() -> None:
    async def late(params: Any, call: Any) -> Any:
        await asyncio.sleep(5)
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "late"}}

    server = Server()
    server.answer("initialize", late)
    async with await dialled(server, hint=PREFERS_HANDSHAKE, limits=Limits(connect=9, probe=1)) as session:
        assert session.era == "handshake"


@pytest.mark.swift
async def test_a_slow_server_that_refuses_the_handshake_is_still_asked() -> None:
    async def refuse_late(params: Any, call: Any) -> None:
        await asyncio.sleep(5)
        raise Refused(-32601, "Method not found")

    async def describe_late(params: Any, call: Any) -> Any:
        await asyncio.sleep(2.5)
        return {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}

    server = modern(Server())
    server.answer("initialize", refuse_late)
    server.answer("server/discover", describe_late)
    async with await dialled(server, hint=PREFERS_HANDSHAKE, limits=Limits(connect=9, probe=1)) as session:
        assert session.era == "stateless"


async def test_roots_travel_in_rounds_without_a_promise_to_tell_of_changes() -> None:
    roots = {"resultType": "input_required", "inputRequests": {"r": {"method": "roots/list"}}}
    client = Client(roots=lambda: [Root("file:///x")])
    async with Site(stateless=True) as site, mooring.connect(site.url, client=client) as session:
        site.answers["tools/call"] = lambda heard: said("ok") if "inputResponses" in heard.params else roots
        await session.call_tool("echo")
        session.roots_changed()
        assert site.said("tools/call")[1].params["inputResponses"] == {"r": {"roots": [{"uri": "file:///x"}]}}
        capabilities = site.heard[0].params["_meta"][f"{META}clientCapabilities"]
        assert capabilities["roots"] == {}
