"""Streamable HTTP in the era of the handshake, against real servers on loopback."""

import asyncio
import gzip
import json
import time
import zlib
from random import Random

import pytest
from aiohttp import web

import mooring
from mooring.core.protocol.limits import Limits, Timeout
from mooring.core.protocol.result import Progress
from mooring.errors import (
    ConfigError,
    ConnectError,
    HttpError,
    NeedsLogin,
    ProtocolError,
    RpcError,
    ServerDied,
    ServerError,
    TimedOut,
    TooLarge,
)
from mooring.testing.site import ReceivedRequest, Site, event, said
from mooring.wire.session.client import Client, Root

MIB = 1024 * 1024
SECOND = Timeout(1, 1)


async def wait_until(condition):
    while not condition():  # noqa: ASYNC110 - what is waited for lives in the server
        await asyncio.sleep(0.005)


def answer_with(*parts: bytes, **headers: str):
    """Answers a call with a stream of these parts, `RESULT` standing for the answer."""

    async def respond(request: ReceivedRequest):
        response = await request.stream({name.replace("_", "-"): value for name, value in headers.items()})
        for part in parts:
            await response.write(event(request.result(said("streamed"))) if part is RESULT else part)
        return response

    return respond


RESULT = b"RESULT"


def make_response(body: bytes, kind: str = "application/json", status: int = 200, **headers: str):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda request: web.Response(body=body, content_type=kind, status=status, headers=named)


async def test_a_call_is_answered_by_json() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        assert (await session.call_tool("echo", {"text": "hi"})).text == "hi"
        assert session.era == "handshake"
        assert session.server == site.url


async def test_a_call_is_answered_by_a_stream_with_progress_before_the_answer() -> None:
    async def respond(request: ReceivedRequest):
        response = await request.stream()
        token = request.params["_meta"]["progressToken"]
        note = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":1}}' % token
        await response.write(event(note) + event(request.result(said("done"))))
        return response

    steps: list[Progress] = []
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = respond
        assert (await session.call_tool("echo", on_progress=steps.append)).text == "done"
        await wait_until(lambda: steps)
    assert steps == [Progress(1.0)]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_a_stream_may_come_in_pieces_of_any_size_with_any_line_ends(size: int) -> None:
    async def respond(request: ReceivedRequest):
        response = await request.stream()
        text = b": hello\r\nevent: message\r\nid: 1\r\ndata: " + request.result(said("whole")) + b"\r\n\r\n"
        for at in range(0, len(text), size):
            await response.write(text[at : at + size])
        return response

    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = respond
        assert (await session.call_tool("echo")).text == "whole"


async def test_the_session_and_the_revision_go_with_every_request_but_the_first() -> None:
    async with Site(session="abc") as site:
        async with mooring.connect(site.url) as session:
            await session.call_tool("echo")
        first, *rest = [request for request in site.heard if request.method != "server/discover"]
    assert "Mcp-Session-Id" not in first.headers
    assert "MCP-Protocol-Version" not in first.headers
    assert {request.headers.get("Mcp-Session-Id") for request in rest} == {"abc"}
    assert {request.headers.get("MCP-Protocol-Version") for request in rest} == {"2025-11-25"}
    assert [request.method for request in rest if request.method != "GET"] == [
        "notifications/initialized", "tools/list", "tools/call", "DELETE",
    ]  # fmt: skip


async def test_nothing_is_asked_before_the_server_has_heard_that_the_client_is_ready() -> None:
    order: list[str] = []

    class Slow(Site):
        async def _answer(self, request: ReceivedRequest) -> web.StreamResponse:
            if request.method == "notifications/initialized":
                await asyncio.sleep(0.1)
            order.append(request.method)
            return await super()._answer(request)

    async with Slow() as site, mooring.connect(site.url):
        pass
    assert order.index("notifications/initialized") < order.index("tools/list")


async def test_what_the_server_says_unasked_is_heard_on_the_stream_of_notices() -> None:
    changed: list[str] = []

    async def notices(request: ReceivedRequest):
        response = await request.stream()
        await response.write(event(b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'))
        await asyncio.sleep(30)
        return response

    async with Site() as site:
        site.answers["GET"] = notices
        async with mooring.connect(site.url, client=Client(on_change=changed.append)):
            await wait_until(lambda: changed)
    assert changed == ["tools"]


async def test_what_the_server_asks_on_a_stream_is_answered_by_a_post() -> None:
    async def respond(request: ReceivedRequest):
        response = await request.stream()
        await response.write(event(b'{"jsonrpc":"2.0","id":"q1","method":"roots/list"}'))
        await wait_until(lambda: site.said("reply"))
        await response.write(event(request.result(said("thanks"))))
        return response

    async with Site() as site, mooring.connect(site.url, client=Client(roots=lambda: [Root("file:///x")])) as session:
        site.answers["tools/call"] = respond
        assert (await session.call_tool("echo")).text == "thanks"
        assert site.said("reply")[0].message["result"] == {"roots": [{"uri": "file:///x"}]}


async def test_more_calls_than_connections_wait_for_their_turn_but_answers_to_the_server_do_not() -> None:
    busy = most = 0

    async def respond(request: ReceivedRequest):
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        response = await request.stream()
        await response.write(event(b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % request.message["id"]))
        await wait_until(lambda: any(reply.message.get("id") == request.message["id"] for reply in site.said("reply")))
        busy -= 1
        await response.write(event(request.result(said(request.params["arguments"]["text"]))))
        return response

    async with Site() as site, mooring.connect(site.url, limits=Limits(connections=3)) as session:
        site.answers["tools/call"] = respond
        results = await asyncio.gather(*(session.call_tool("echo", {"text": str(n)}) for n in range(12)))
    assert [result.text for result in results] == [str(n) for n in range(12)]
    assert most == 3


async def test_a_call_that_is_given_up_is_cancelled_on_the_server() -> None:
    async def never(request: ReceivedRequest):
        await asyncio.sleep(30)

    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = never
        with pytest.raises(TimedOut) as caught:
            await session.call_tool("echo", timeout=Timeout(0.2, 0.2))
        assert caught.value.may_have_run
        await wait_until(lambda: site.said("notifications/cancelled"))
        told = site.said("notifications/cancelled")[0].params["requestId"]
        assert told == site.said("tools/call")[0].message["id"]


@pytest.mark.parametrize("key", [99, "x", None])
async def test_an_answer_under_another_id_answers_the_only_request_it_can(key: object) -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = lambda request: web.json_response(
            {"jsonrpc": "2.0", "id": key, "result": said("mine")}
        )
        assert (await session.call_tool("echo")).text == "mine"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (make_response(b"<html>", "text/html"), ProtocolError),
        (make_response(b"{nope"), ProtocolError),
        (make_response(b""), ProtocolError),
        (make_response(b"{}"), ProtocolError),
        (make_response(b"[]"), ProtocolError),
        (make_response(b'{"jsonrpc":"2.0","method":"notifications/x"}'), ProtocolError),
        (make_response(b"", status=202), ProtocolError),
        (make_response(b"oops", "text/plain", 500), HttpError),
        (make_response(b"", "text/plain", 418), HttpError),
        (make_response(b'{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}', status=400), RpcError),
        (answer_with(event(b'{"jsonrpc":"2.0","method":"notifications/x"}')), ServerDied),
        (answer_with(), ServerDied),
        (lambda request: request.abort(), ServerDied),
    ],
)
async def test_an_answer_that_is_none_fails_its_call_and_no_other(answer, error: type[Exception]) -> None:
    failed = asyncio.Event()

    async def slow(request: ReceivedRequest):
        await failed.wait()
        return said("fine")

    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = slow
        other = asyncio.ensure_future(session.call_tool("echo"))
        await wait_until(lambda: site.said("tools/call"))
        site.answers["tools/call"] = answer
        with pytest.raises(error) as caught:
            await session.call_tool("echo", timeout=Timeout(5, 5))
        assert not isinstance(caught.value, TimedOut)
        failed.set()
        assert (await other).text == "fine"
        site.answers["tools/call"] = lambda request: said("still here")
        assert (await session.call_tool("echo")).text == "still here"


async def test_what_changes_nothing_is_asked_again_on_a_connection_that_was_closed() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        plain = site.answers["tools/list"]

        def once(request: ReceivedRequest):
            site.answers["tools/list"] = plain
            request.abort()

        site.answers["tools/list"] = once
        assert [tool.name for tool in (await session.list_tools()).items] == ["echo"]


async def test_a_server_that_is_not_there_cannot_be_reached() -> None:
    async with Site() as site:
        url = site.url
    with pytest.raises(ConnectError, match="cannot be reached") as caught:
        async with mooring.connect(url):
            pass
    assert caught.value.stage == "connect"
    assert not caught.value.may_have_run


async def test_one_deadline_covers_all_of_a_connection() -> None:
    async def never(request: ReceivedRequest):
        await asyncio.sleep(30)

    async with Site() as site:
        site.answers["initialize"] = site.answers["server/discover"] = never
        began = time.monotonic()
        with pytest.raises(TimedOut):
            async with mooring.connect(site.url, limits=Limits(connect=1.0)):
                pass
        assert time.monotonic() - began < 20


# F18: who asks


async def test_a_login_that_is_asked_for_is_told_in_full_and_nothing_is_tried_again() -> None:
    challenge = (
        'Bearer realm="x", error="invalid_token", error_description="It has expired", '
        'resource_metadata="https://a.example/.well-known/x", scope="read write"'
    )
    async with Site(session="s") as site, mooring.connect(site.url, headers={"Authorization": "Bearer x"}) as session:
        site.answers["tools/call"] = make_response(b"", status=401, WWW_Authenticate=challenge)
        with pytest.raises(NeedsLogin, match="It has expired") as caught:
            await session.call_tool("echo")
        assert len(site.said("tools/call")) == 1
        assert {request.headers["Authorization"] for request in site.heard} == {"Bearer x"}
    error = caught.value
    assert (error.status, error.scheme, error.error, error.scope) == (401, "Bearer", "invalid_token", "read write")
    assert error.resource_metadata == "https://a.example/.well-known/x"
    assert not error.may_have_run


async def test_a_hundred_calls_without_a_login_fail_with_a_hundred_requests() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(b"", status=401)
        outcomes = await asyncio.gather(*(session.call_tool("echo") for _ in range(100)), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {NeedsLogin}
        assert len(site.said("tools/call")) == 100


async def test_a_connection_that_needs_a_login_says_so_after_one_request() -> None:
    async with Site() as site:
        site.answers["server/discover"] = make_response(b"", status=401)
        with pytest.raises(NeedsLogin) as caught:
            async with mooring.connect(site.url):
                pass
        assert len(site.heard) == 1
    assert caught.value.stage == "handshake"


async def test_a_want_of_scope_is_a_want_of_login() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(
            b"", status=403, WWW_Authenticate='Bearer error="insufficient_scope", scope="admin"'
        )
        with pytest.raises(NeedsLogin) as caught:
            await session.call_tool("echo")
    assert (caught.value.status, caught.value.scope) == (403, "admin")


# F19: streams that break


async def test_a_stream_that_breaks_is_resumed_behind_its_last_event() -> None:
    async def resumed(request: ReceivedRequest):
        if "Last-Event-ID" not in request.headers:
            return web.Response(status=405)
        response = await request.stream()
        await response.write(event(site.said("tools/call")[0].result(said("resumed")), "8"))
        return response

    async with Site(session="s") as site:
        site.answers["GET"] = resumed
        async with mooring.connect(site.url) as session:
            site.answers["tools/call"] = answer_with(event(b"", "7", 0))
            began = time.monotonic()
            assert (await session.call_tool("echo")).text == "resumed"
            assert time.monotonic() - began >= 1.0
    again = [request.headers for request in site.said("GET") if "Last-Event-ID" in request.headers]
    assert [headers["Last-Event-ID"] for headers in again] == ["7"]
    assert again[0]["Mcp-Session-Id"] == "s"


async def test_a_stream_that_breaks_for_ever_is_opened_a_few_times_never_faster_than_once_a_second() -> None:
    times: list[float] = []

    async def drop(request: ReceivedRequest):
        if "Last-Event-ID" not in request.headers:
            return web.Response(status=405)
        times.append(time.monotonic())
        response = await request.stream()
        await response.write(event(b"", str(len(times)), 0))
        return response

    async with Site() as site:
        site.answers["GET"] = drop
        async with mooring.connect(site.url, limits=Limits(resumes=2)) as session:
            site.answers["tools/call"] = answer_with(event(b"", "0", 0))
            with pytest.raises(ServerDied, match="without the answer") as caught:
                await session.call_tool("echo")
            assert caught.value.may_have_run
    first, second = times
    assert second - first >= 0.99


async def test_a_server_that_asks_for_more_patience_than_there_is_time_fails_at_once() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = answer_with(event(b"", "1", 3_600_000))
        began = time.monotonic()
        with pytest.raises(ServerDied):
            await session.call_tool("echo", timeout=Timeout(30, 30))
        assert time.monotonic() - began < 20


async def test_in_the_last_second_a_broken_stream_is_resumed_as_soon_as_the_server_asks() -> None:
    async def resume(request: ReceivedRequest):
        if "Last-Event-ID" not in request.headers:
            return web.Response(status=405)
        response = await request.stream()
        await response.write(event(site.said("tools/call")[0].result(said("in time"))))
        return response

    async with Site() as site:
        site.answers["GET"] = resume
        async with mooring.connect(site.url) as session:
            site.answers["tools/call"] = answer_with(event(b"", "1", 200))
            assert (await session.call_tool("echo", timeout=Timeout(1, 1))).text == "in time"


async def test_a_stream_that_asks_for_a_longer_wait_than_the_deadline_fails_at_once_and_says_how_long() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = answer_with(event(b"", "1", 30_000))
        with pytest.raises(
            ServerDied, match=r"it asks to wait 30 s, which the deadline does not allow\); it may have run"
        ):
            await session.call_tool("echo", timeout=Timeout(5, 5))


async def test_an_event_of_which_only_half_came_does_not_count_as_the_last() -> None:
    resumed: list[str] = []

    async def resume(request: ReceivedRequest):
        if "Last-Event-ID" not in request.headers:
            return web.Response(status=405)
        resumed.append(request.headers["Last-Event-ID"])
        response = await request.stream()
        await response.write(event(site.said("tools/call")[0].result(said("whole"))))
        return response

    async with Site() as site:
        site.answers["GET"] = resume
        async with mooring.connect(site.url) as session:
            site.answers["tools/call"] = answer_with(event(b"", "whole"), b"id: half\ndata: {")
            assert (await session.call_tool("echo")).text == "whole"
    assert resumed == ["whole"]


# F20: what a server answers instead


async def test_a_session_that_is_forgotten_is_begun_anew_once_for_all_calls() -> None:
    def forgetful(request: ReceivedRequest):
        if request.headers.get("Mcp-Session-Id") != site.session:
            return web.Response(status=404)
        return said("remembered")

    async with Site(session="one") as site, mooring.connect(site.url) as session:
        site.session = "two"
        site.answers["tools/call"] = forgetful
        results = await asyncio.gather(*(session.call_tool("echo") for _ in range(10)))
        assert {result.text for result in results} == {"remembered"}
        assert len(site.said("initialize")) == 2
        assert [request.headers.get("Mcp-Session-Id") for request in site.said("initialize")] == [None, None]
        assert len(site.said("notifications/initialized")) == 2


async def test_a_new_session_is_told_what_the_old_one_was() -> None:
    def forgetful(request: ReceivedRequest):
        return web.Response(status=404) if request.headers.get("Mcp-Session-Id") != site.session else {}

    async with Site(session="one") as site:
        site.capabilities |= {"logging": {}}
        site.answers |= {"resources/subscribe": forgetful, "resources/unsubscribe": forgetful, "tools/call": forgetful}
        site.answers["logging/setLevel"] = forgetful
        async with mooring.connect(site.url) as session:
            await session.subscribe("a:1")
            await session.subscribe("a:2")
            await session.unsubscribe("a:1")
            await session.set_level("error")
            site.session = "two"
            await session.call_tool("echo")
        told = [request.params for request in site.heard if request.headers.get("Mcp-Session-Id") == "two"]
    assert [params for params in told if "uri" in params or "level" in params] == [{"uri": "a:2"}, {"level": "error"}]


async def test_a_stream_that_cannot_be_resumed_says_that_the_call_may_have_run() -> None:
    async with Site(session="s") as site:
        site.answers["GET"] = lambda request: web.Response(status=404 if "Last-Event-ID" in request.headers else 405)
        async with mooring.connect(site.url) as session:
            site.answers["tools/call"] = answer_with(event(b"", "1"))
            with pytest.raises(ServerDied, match="could not be resumed") as caught:
                await session.call_tool("echo")
            assert caught.value.may_have_run
            assert len(site.said("tools/call")) == 1


async def test_a_session_that_is_forgotten_at_once_again_fails_the_call() -> None:
    async with Site(session="one") as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(b"", status=404)
        with pytest.raises(HttpError) as caught:
            await session.call_tool("echo")
        assert caught.value.status == 404
        assert not caught.value.may_have_run
        assert len(site.said("initialize")) == 2
        assert len(site.said("tools/call")) == 2


async def test_a_server_that_begins_no_other_session_is_gone() -> None:
    async with Site(session="one") as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(b"", status=404)
        site.answers["initialize"] = make_response(b"", status=500)
        with pytest.raises(ServerDied) as caught:
            await session.call_tool("echo")
        assert not caught.value.may_have_run
        assert "did not start a new one" in (await session.ended()).cause


async def test_a_server_that_asks_for_a_pause_is_given_it() -> None:
    def busy(request: ReceivedRequest):
        site.answers["tools/call"] = lambda request: said("now")
        return web.Response(status=429, headers={"Retry-After": "1"})

    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = busy
        began = time.monotonic()
        assert (await session.call_tool("echo")).text == "now"
        assert time.monotonic() - began >= 1


async def test_a_pause_longer_than_the_deadline_fails_at_once_and_says_how_long() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(b"slow down", "text/plain", 429, Retry_After="3600")
        began = time.monotonic()
        with pytest.raises(HttpError, match="slow down") as caught:
            await session.call_tool("echo")
        assert time.monotonic() - began < 20
        assert (caught.value.retry_after, caught.value.retry) == (3600, True)
        assert not caught.value.may_have_run
        assert len(site.said("tools/call")) == 1


async def test_a_tool_is_not_called_again_where_it_may_have_run() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(b"", "text/plain", 503, Retry_After="0")
        with pytest.raises(HttpError) as caught:
            await session.call_tool("echo")
        assert caught.value.may_have_run
        assert str(caught.value).endswith("HTTP status 503: Service Unavailable. It may have run.")
        assert len(site.said("tools/call")) == 1


async def test_only_of_a_call_is_it_said_that_it_may_have_run() -> None:
    async with Site() as site:
        site.answers["initialize"] = site.answers["server/discover"] = make_response(b"", "text/plain", 500)
        with pytest.raises(HttpError, match=r"Internal Server Error\.$"):
            async with mooring.connect(site.url):
                pass


async def test_a_body_that_trickles_ends_at_the_deadline() -> None:
    async def trickle(request: ReceivedRequest):
        response = web.StreamResponse(headers={"Content-Type": "application/json", "Content-Length": "1000"})
        await response.prepare(request.request)
        for _ in range(100):
            await response.write(b" ")
            await asyncio.sleep(0.05)
        return response

    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = trickle
        with pytest.raises(TimedOut):
            await session.call_tool("echo", timeout=Timeout(0.5, 0.5))


# F21: too much of everything


def bomb(encoding: str, size: int) -> bytes:
    wbits = zlib.MAX_WBITS | (16 if encoding == "gzip" else 0)
    squeeze = zlib.compressobj(9, wbits=wbits)
    return b"".join(squeeze.compress(bytes(MIB)) for _ in range(size // MIB)) + squeeze.flush()


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_bomb_is_not_let_off(encoding: str) -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(bomb(encoding, 64 * MIB), Content_Encoding=encoding)
        with pytest.raises(TooLarge):
            await session.call_tool("echo")
        site.answers["tools/call"] = lambda request: said("alive")
        assert (await session.call_tool("echo")).text == "alive"


async def test_a_compressed_answer_is_read() -> None:
    def squeezed(request: ReceivedRequest):
        body = gzip.compress(request.result(said("x" * 500_000)))
        return web.Response(body=body, content_type="application/json", headers={"Content-Encoding": "gzip"})

    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = squeezed
        assert len((await session.call_tool("echo")).text) == 500_000
        assert site.said("tools/call")[0].headers["Accept-Encoding"] == "gzip, deflate"


@pytest.mark.parametrize("encoding", ["br", "gzip"])
async def test_a_body_that_is_not_compressed_as_it_says_fails_its_call(encoding: str) -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(b"{}", Content_Encoding=encoding)
        with pytest.raises(ProtocolError, match="compression"):
            await session.call_tool("echo")


@pytest.mark.parametrize("chunked", [True, False])
async def test_a_body_over_the_budget_is_cut(chunked: bool) -> None:
    async def large(request: ReceivedRequest):
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        response.content_length = None if chunked else 64 * MIB
        await response.prepare(request.request)
        for _ in range(64):
            await response.write(b" " * MIB)
        return response

    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = large
        with pytest.raises(TooLarge) as caught:
            await session.call_tool("echo")
        assert caught.value.limit == 16 * MIB


@pytest.mark.parametrize("part", [b"data: " + b"x" * (2 * MIB), (b"data: " + b"x" * 1000 + b"\n") * 2000])
async def test_an_event_over_the_budget_fails_its_call(part: bytes) -> None:
    async with Site() as site, mooring.connect(site.url, limits=Limits(line=MIB)) as session:
        site.answers["tools/call"] = answer_with(part, b"\n\n", RESULT)
        with pytest.raises(TooLarge) as caught:
            await session.call_tool("echo")
        assert caught.value.limit == MIB


@pytest.mark.parametrize("headers", [{"X-Large": "x" * 100_000}, {f"X-{n}": "x" for n in range(500)}])
async def test_a_head_over_the_budget_fails_its_call(headers: dict[str, str]) -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = lambda request: web.Response(headers=headers)
        with pytest.raises(ProtocolError):
            await session.call_tool("echo")
        site.answers["tools/call"] = lambda request: said("alive")
        assert (await session.call_tool("echo")).text == "alive"


# Where requests go, and where they must not


async def test_a_redirect_to_another_origin_is_never_followed() -> None:
    async with Site() as other, Site() as site:
        site.answers["server/discover"] = make_response(b"", status=307, Location=f"{other.origin}/mcp?token=secret")
        site.answers["initialize"] = site.answers["server/discover"]
        with pytest.raises(HttpError, match="another origin") as caught:
            async with mooring.connect(site.url, headers={"Authorization": "Bearer x"}):
                pass
        assert other.heard == []
        assert "secret" not in str(caught.value)


async def test_a_redirect_inside_the_origin_is_followed_with_its_body() -> None:
    async with Site(path="/mcp/") as site:
        before = site._answer

        async def slash(request: ReceivedRequest) -> web.StreamResponse:
            if request.request.path == "/mcp":
                return web.Response(status=308, headers={"Location": "/mcp/"})
            return await before(request)

        site._answer = slash  # type: ignore[method-assign]
        async with mooring.connect(f"{site.origin}/mcp") as session:
            assert (await session.call_tool("echo", {"text": "there"})).text == "there"


async def test_redirects_without_end_are_not_followed_for_ever() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = make_response(b"", status=307, Location="/mcp")
        with pytest.raises(HttpError, match="endlessly"):
            await session.call_tool("echo")
        assert len(site.said("tools/call")) <= 6


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b"])
async def test_a_header_that_could_be_two_is_refused_without_quoting_it(value: str) -> None:
    with pytest.raises(ConfigError, match="X-Token") as caught:
        async with mooring.connect("http://127.0.0.1:9/mcp", headers={"X-Token": value}):
            pass
    assert "Evil" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://", "https:///x", "http://a b/\n", "http://[::1", "unix://x", "unix:///s#mcp"])
async def test_an_address_that_is_none_is_refused_in_words(url: str) -> None:
    with pytest.raises(ConfigError):
        async with mooring.connect(url):
            pass


async def test_a_server_behind_a_socket_is_reached(tmp_path) -> None:
    async with Site(socket=str(tmp_path / "s")) as site, mooring.connect(site.url) as session:
        assert (await session.call_tool("echo", {"text": "local"})).text == "local"


async def test_closing_ends_the_session_on_the_server_and_takes_no_longer_than_a_farewell() -> None:
    async def never(request: ReceivedRequest):
        await asyncio.sleep(30)

    async with Site(session="s") as site:
        site.answers["DELETE"] = never
        async with mooring.connect(site.url, limits=Limits(farewell=0.3)):
            began = time.monotonic()
        assert time.monotonic() - began < 20
        assert site.said("DELETE")[0].headers["Mcp-Session-Id"] == "s"


# All of it at once


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("stateless", [True, False])
async def test_every_call_has_one_outcome_and_it_is_its_own_whatever_the_server_does(
    stateless: bool, seed: int
) -> None:
    chance = Random(seed)
    fates = [chance.randrange(12) for _ in range(150)]

    async def respond(request: ReceivedRequest):
        text = request.params["arguments"]["text"]
        answer = request.result(said(text))
        await asyncio.sleep(chance.random() / 100)
        match fates[int(text)]:
            case 0:
                return request.abort()
            case 1:
                return web.Response(status=chance.choice([400, 401, 403, 404, 429, 500, 502, 503]))
            case 2:
                return web.Response(body=answer[: chance.randrange(len(answer))], content_type="application/json")
            case 3 | 4:
                stream = await request.stream()
                await stream.write(event(answer)[: chance.randrange(len(answer) + 20)])
                if chance.randrange(2):
                    request.abort()
                return stream
            case 5:
                return web.Response(body=answer, content_type="text/html")
            case 6:
                await over.wait()
                return said("too late")
            case 7 | 8:
                stream = await request.stream()
                await stream.write(event(answer))
                return stream
            case _:
                return web.Response(body=answer, content_type="application/json")

    async def call(number: int) -> bool:
        patience = 0.3 if fates[number] == 6 else 15.0
        try:
            result = await session.call_tool("echo", {"text": str(number)}, timeout=Timeout(patience, patience))
        except ServerError:
            return False
        assert result.text == str(number)
        return True

    over = asyncio.Event()
    site = Site(stateless=stateless, session="" if stateless else "s")
    async with site, mooring.connect(site.url, limits=Limits(connections=20)) as session:
        site.answers["tools/call"] = respond
        done = await asyncio.gather(*map(call, range(150)))
        assert [n for n, fate in enumerate(fates) if fate >= 7 and not done[n]] == []
        assert [n for n, fate in enumerate(fates) if fate in (0, 1, 2, 5, 6) and done[n]] == []
        over.set()
        assert session.in_flight == 0
        site.answers["tools/call"] = lambda request: said("well again")
        assert (await session.call_tool("echo")).text == "well again"
    left = [task.get_coro().cr_code.co_filename for task in asyncio.all_tasks()]
    assert [file for file in left if "mooring/wire" in file] == []


ODD_ID = """HTTP/1.1 200 OK\r
Content-Type: application/json\r
Mcp-Session-Id: {id}\r
Content-Length: {length}\r
Connection: close\r
\r
"""


async def answer_by_hand(session_id: str, version: str):
    """A server that answers `initialize` with bytes which aiohttp's own server would not send."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        if not head.startswith("POST "):
            # The end of the session. Left unanswered and open, it would be reported in whichever test runs by then.
            writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            writer.close()
            return
        length = int(head.lower().partition("content-length:")[2].split()[0])
        message = json.loads(await reader.readexactly(length))
        result = {"protocolVersion": version, "capabilities": {}, "serverInfo": {"name": "odd", "version": "1"}}
        body = json.dumps({"jsonrpc": "2.0", "id": message.get("id"), "result": result}).encode()
        if message["method"] != "initialize":
            body = json.dumps(
                {"jsonrpc": "2.0", "id": message.get("id"), "error": {"code": -32601, "message": "no"}}
            ).encode()
        writer.write(ODD_ID.format(id=session_id, length=len(body)).encode("latin-1") + body)
        await writer.drain()
        writer.close()

    return await asyncio.start_server(respond, "127.0.0.1", 0)


@pytest.mark.parametrize(
    ("session_id", "version"),
    [
        ("a\x7fb", "2025-11-25"),
        ("caf\xe9", "2025-11-25"),
        ("fine", "2025-11-25\n"),
        ("fine", "2025\x01"),
        ("fine", "\u2028"),
    ],
)
async def test_a_session_id_or_a_version_that_no_header_can_hold_is_an_error_of_ours(session_id, version) -> None:
    server = await answer_by_hand(session_id, version)
    port = server.sockets[0].getsockname()[1]
    async with server:
        with pytest.raises(ServerError, match="not allowed in a header"):
            async with mooring.connect(f"http://127.0.0.1:{port}/mcp", transport="http"):
                pass


@pytest.mark.parametrize(
    "location", ["mailto:me@example.org", "http://[", "//", "http:///x", "\\\\x", "http://a:99999999/"]
)
async def test_a_redirect_to_what_is_no_url_is_an_error_of_ours(location) -> None:
    async with Site() as site:
        site.answers["tools/call"] = lambda heard: web.Response(status=307, headers={"Location": location})
        async with mooring.connect(site.url) as session:
            with pytest.raises(ServerError):
                await session.call_tool("echo", {"text": "x"})


@pytest.mark.parametrize(
    "value",
    ["Mon, 99999999999999999999 Jan 2026 00:00:00 GMT", "Mon, 01 Jan 0001 00:00:00 +2359", "-5", "1e9", "\u0663"],
)
async def test_an_odd_retry_after_is_no_answer_to_how_long(value) -> None:
    async with Site() as site:
        site.answers["tools/call"] = lambda heard: web.Response(status=429, headers={"Retry-After": value})
        async with mooring.connect(site.url) as session:
            with pytest.raises(ServerError):
                await session.call_tool("echo", {"text": "x"}, timeout=Timeout(None, 2.0))


@pytest.mark.parametrize(
    ("said_to_keep", "pause", "kept"),
    [("", 0.5, True), ("", 4.3, False), ("timeout=2, max=100", 0.5, True), ("timeout=2", 1.3, False),
     ("timeout=1", 0.1, False), ("timeout=8", 4.3, True)],
)  # fmt: skip
async def test_an_idle_connection_is_given_up_before_the_server_closes_it(said_to_keep, pause, kept) -> None:
    def answer(request: ReceivedRequest) -> web.Response:
        headers = {"Keep-Alive": said_to_keep} if said_to_keep else {}
        return web.Response(body=request.result(said("hi")), content_type="application/json", headers=headers)

    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = answer
        await session.call_tool("echo")
        before = {request.connection for request in site.heard}
        await asyncio.sleep(pause)
        await session.call_tool("echo")
        assert (site.heard[-1].connection in before) is kept
