"""HTTP with SSE as of 2024-11-05, and which of the two ways a URL is spoken to."""

import asyncio
import sys
import time
from typing import Any

import pytest
from aiohttp import web

import mooring
from mooring.core.protocol.limits import Limits, Timeout
from mooring.errors import HttpError, NeedsLogin, ProtocolError, ServerDied, ServerError, TooLarge
from mooring.testing import Issuer, log_in
from mooring.testing.site import ReceivedRequest, Site, event, said
from support import Home

MIB = 1024 * 1024


async def wait_until(condition):
    while not condition():  # noqa: ASYNC110 - what is waited for lives in the server
        await asyncio.sleep(0.005)


class Old(Site):
    """A server of the old kind at `/sse`, its endpoint at `/messages`."""

    def __init__(self, endpoint: str = "/messages?session=1", issuer: Issuer | None = None) -> None:
        super().__init__(path="/sse", issuer=issuer)
        self.endpoint = endpoint
        self.streams: list[web.StreamResponse] = []
        self.over = asyncio.Event()

    async def _answer(self, request: ReceivedRequest) -> web.StreamResponse:
        if self.issuer is not None and (refusal := self._check_token(request, self.issuer)):
            return refusal
        if request.request.method == "GET":
            return await self.open(request)
        if request.request.path == "/sse":
            return web.Response(status=405)
        answer = await self.reply(request)
        if answer is not None:
            await self.streams[-1].write(b"event: message\n" + event(answer))
        return web.Response(status=202, text="Accepted")

    async def open(self, request: ReceivedRequest) -> web.StreamResponse:
        stream = await request.stream()
        await stream.write(b"event: endpoint\r\ndata: " + self.endpoint.encode() + b"\r\n\r\n: ping\r\n\r\n")
        self.streams.append(stream)
        await self.over.wait()
        return stream

    async def reply(self, request: ReceivedRequest) -> bytes | None:
        if request.method == "tools/call" and request.params["name"] == "die":
            self.over.set()
            return None
        if request.method == "tools/call" and request.params["name"] == "large":
            return request.result(said("x" * 2 * MIB))
        if "id" not in request.message or request.method == "reply":
            return None
        answers: dict[str, Any] = {
            "initialize": {"protocolVersion": "2024-11-05", "capabilities": {"tools": {}}},
            "tools/list": {"tools": self.tools},
            "tools/call": said(request.params.get("arguments", {}).get("text", "")),
        }
        return request.result(answers.get(request.method, {}))


async def test_the_old_way_is_found_where_the_new_one_is_refused() -> None:
    async with Old() as site, mooring.connect(site.url) as session:
        site.over.clear()
        assert (await session.call_tool("echo", {"text": "old"})).text == "old"
        assert session.hello.protocol_version == "2024-11-05"
        assert session.anomalies.remarks == []


async def test_the_old_way_is_taken_at_once_where_it_is_asked_for() -> None:
    async with Old() as site, mooring.connect(site.url, transport="sse", headers={"X-Key": "k"}) as session:
        results = await asyncio.gather(*(session.call_tool("echo", {"text": str(n)}) for n in range(20)))
        assert [result.text for result in results] == [str(n) for n in range(20)]
        assert {request.headers["X-Key"] for request in site.heard} == {"k"}
        assert site.heard[0].request.method == "GET"
        assert [request.method for request in site.heard[1:3]] == ["initialize", "notifications/initialized"]


async def test_a_server_that_is_only_called_sse_is_spoken_to_in_the_new_way_and_it_is_said() -> None:
    async with Site() as site, mooring.connect(site.url, transport="sse") as session:
        assert (await session.call_tool("echo", {"text": "new"})).text == "new"
        (remark,) = session.anomalies.remarks
        assert "configured as sse" in remark


async def test_a_stream_that_names_no_endpoint_is_no_sign_of_the_old_way() -> None:
    async def silent(request: ReceivedRequest):
        stream = await request.stream()
        await stream.write(b": nothing\n\n")
        await asyncio.sleep(30)
        return stream

    async with Site() as site:
        site.answers["GET"] = silent
        async with mooring.connect(site.url, transport="sse", limits=Limits(connect=1.5)) as session:
            assert "configured as sse" in session.anomalies.remarks[0]


@pytest.mark.parametrize("status", [400, 404, 405, 406, 415])
async def test_a_server_of_neither_kind_is_quoted_as_it_first_refused(status: int) -> None:
    refuse = lambda request: web.Response(status=status, text="go away")  # noqa: E731
    async with Site() as site:
        site.answers = {
            "server/discover": refuse,
            "initialize": refuse,
            "GET": lambda request: web.Response(status=418),
        }
        with pytest.raises(HttpError, match="go away") as caught:
            async with mooring.connect(site.url):
                pass
        assert caught.value.status == status
        assert len(site.said("GET")) == 1


@pytest.mark.parametrize("status", [403, 500, 503])
async def test_no_other_refusal_leads_to_the_old_way(status: int) -> None:
    refuse = lambda request: web.Response(status=status)  # noqa: E731
    async with Site() as site:
        site.answers = {"server/discover": refuse, "initialize": refuse}
        with pytest.raises(HttpError):
            async with mooring.connect(site.url):
                pass
        assert site.said("GET") == []


async def test_only_the_new_way_is_tried_where_it_is_asked_for() -> None:
    async with Old() as site:
        with pytest.raises(HttpError):
            async with mooring.connect(site.url, transport="http"):
                pass
        assert site.said("GET") == []


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:1/messages", "//evil.example/x", "https://127.0.0.1/x"])
async def test_an_endpoint_of_another_origin_is_refused(endpoint: str) -> None:
    async with Old(endpoint) as site:
        with pytest.raises(ProtocolError, match="another origin"):
            async with mooring.connect(site.url, transport="sse", headers={"Authorization": "Bearer x"}):
                pass
        site.over.set()


async def test_a_stream_that_ends_ends_the_connection() -> None:
    async with Old() as site, mooring.connect(site.url, transport="sse") as session:
        with pytest.raises(ServerDied, match="closed its stream"):
            await session.call_tool("die")
        assert (await session.ended()).cause


async def test_an_event_over_the_budget_costs_its_call_and_no_other() -> None:
    limits = Limits(line=MIB)
    async with Old() as site, mooring.connect(site.url, transport="sse", limits=limits) as session:
        with pytest.raises(TooLarge) as caught:
            await session.call_tool("large")
        assert caught.value.limit == MIB
        assert (await session.call_tool("echo", {"text": "fine"})).text == "fine"
        site.over.set()


async def test_a_message_that_is_refused_fails_its_call() -> None:
    class Locked(Old):
        async def reply(self, request: ReceivedRequest) -> bytes | None:
            if request.method == "tools/call":
                raise web.HTTPUnauthorized
            return await super().reply(request)

    async with Locked() as site, mooring.connect(site.url, transport="sse") as session:
        with pytest.raises(NeedsLogin):
            await session.call_tool("echo", timeout=Timeout(5, 5))
        site.over.set()


EXITING = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "server/discover":
        sys.exit(7)
    if "id" in message:
        result = {"protocolVersion": "2025-06-18", "capabilities": {}} if message["method"] == "initialize" else {}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


@pytest.mark.processes
async def test_a_program_that_ends_at_the_question_is_started_again_and_not_asked() -> None:
    async with mooring.connect([sys.executable, "-c", EXITING]) as session:
        assert (session.era, session.hello.protocol_version) == ("handshake", "2025-06-18")
        await session.ping()


@pytest.mark.processes
async def test_a_program_that_always_ends_is_given_up_with_its_last_words() -> None:
    began = time.monotonic()
    with pytest.raises(ServerError, match="never again") as caught:
        async with mooring.connect([sys.executable, "-c", "import sys; sys.exit('never again')"]):
            pass
    assert caught.value.exit_code == 1
    assert time.monotonic() - began < 60


async def test_headers_of_one_call_go_with_no_other_message() -> None:
    async with Old() as site, mooring.connect(site.url) as session:
        await asyncio.gather(
            session.call_tool("echo", {"text": "a"}, headers={"X-User": "ann"}),
            session.call_tool("echo", {"text": "b"}, headers={"X-User": "bob"}),
            session.call_tool("echo", {"text": "c"}),
        )
    users = {heard.params["arguments"]["text"]: heard.headers.get("X-User") for heard in site.said("tools/call")}
    assert users == {"a": "ann", "b": "bob", "c": None}
    assert [heard.method for heard in site.heard if "X-User" in heard.headers] == ["tools/call"] * 2


async def test_a_login_serves_the_stream_and_each_message_and_is_renewed_for_both(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    async with Issuer() as issuer, Old(issuer=issuer) as site:
        servers = {"old": {"type": "sse", "url": site.url}}
        async with mooring.open(request=home.request(), policy="allow", servers=servers, ask=log_in) as host:
            with pytest.raises(NeedsLogin, match="mooring mcp login old"):
                await host.call("old.echo", {"text": "hi"})
            await host.login("old")
            assert (await host.call("old.echo", {"text": "hi"})).text == "hi"
            issuer.expire()
            assert (await host.call("old.echo", {"text": "again"})).text == "again"
        assert issuer.count("refresh_token") == 1
