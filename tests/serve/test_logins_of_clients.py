"""Servers that want a login, behind `mooring serve`: the client's person is sent to the page, and one login serves all."""

import asyncio
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest
from client import Era, ServeClient
from web import WebServer, WebSession, events, serving

import mooring
from mooring.core.conversation.verdict import CommandPermissions
from mooring.testing import Issuer, Site, log_in
from mooring.verbs.use.serve import ServeTerms, parse_address, serve_on_http
from support import Home

NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
BYPASS = ("--permission-mode", "bypass")
LOG_IN = "mcp__web__log_in"
ECHO = "mcp__web__echo"
ERAS: list[Era] = ["handshake", "stateless"]
Json = dict[str, Any]


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NO_KEYRING.items():
        monkeypatch.setenv(name, value)


@asynccontextmanager
async def site_with_login(home: Home) -> AsyncIterator[Issuer]:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        home.configure(web={"type": "http", "url": site.url})
        yield issuer


async def know_tools(home: Home, issuer: Issuer) -> None:
    """Have the server's tools remembered, and end the login by which they became known."""
    async with mooring.open(request=home.request(), ask=log_in) as host:
        await host.login("web")
        await host.ready()
    issuer.revoked |= {token.family for token in issuer.tokens.values()}


def visit(method: str, params: Json) -> Json:
    """Opens the page that a client is sent to, as a browser does, and says so."""
    with urllib.request.urlopen(params["url"]) as page:
        page.read()
    return {"action": "accept"}


async def browse(url: str) -> None:
    async with aiohttp.ClientSession() as browser, browser.get(url) as page:
        assert page.status == 200


@asynccontextmanager
async def connected(home: Home, era: Era, *words: str, **options: Any) -> AsyncIterator[ServeClient]:
    """A client over stdio, in a thread: the issuer needs the loop."""
    client = ServeClient(home, *BYPASS, *words, era=era, **{"answer": visit, "env": NO_KEYRING, **options})
    await asyncio.to_thread(client.__enter__)
    try:
        yield client
    finally:
        await asyncio.to_thread(client.close)


async def call(client: ServeClient, tool: str, **arguments: Any) -> Json:
    return await asyncio.to_thread(client.call, tool, **arguments)


async def list_tools(client: ServeClient) -> list[str]:
    listed = await asyncio.to_thread(client.request, "tools/list")
    return [tool["name"] for tool in listed["tools"]]


def text(result: Json) -> Any:
    return result["content"][0]["text"]


# --- over stdio ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_that_nobody_logged_in_to_has_a_tool_that_logs_in(home: Home, era: Era) -> None:
    async with site_with_login(home) as issuer, connected(home, era) as client:
        assert await list_tools(client) == [LOG_IN]
        assert text(await call(client, LOG_IN)) == "Logged in to web. Its tools are listed now."
        [(method, asked)] = client.asked
        assert method == "elicitation/create"
        assert asked["mode"] == "url"
        assert asked["url"].startswith(f"{issuer.url}/authorize?")
        assert "log in to the server web" in asked["message"]
        assert issuer.url in asked["message"]
        assert await list_tools(client) == [ECHO]
        assert text(await call(client, ECHO, text="hi")) == "hi"
        assert len(client.asked) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_a_call_whose_login_has_ended_waits_for_a_new_one_and_is_made(home: Home, era: Era) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        async with connected(home, era) as client:
            assert await list_tools(client) == [ECHO]
            assert text(await call(client, ECHO, text="hi")) == "hi"
            [(_, asked)] = client.asked
            completed = [params for method, params in client.notes if method == "notifications/elicitation/complete"]
            if era == "handshake":
                assert completed == [{"elicitationId": asked["elicitationId"]}]
            else:
                # This era has neither ids for visits nor a notification of their end.
                assert "elicitationId" not in asked
                assert completed == []


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {}}, {"elicitation": {"form": {}}}])
async def test_a_client_that_can_open_no_page_is_told_that_a_login_is_needed_and_its_person_the_command(
    home: Home, era: Era, capabilities: Json
) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        issuer.heard.clear()
        async with connected(home, era, capabilities=capabilities) as client:
            refused = await call(client, ECHO, text="hi")
            assert refused["isError"]
            assert text(refused).startswith("web requires a login.")
            assert "mooring mcp" not in text(refused)
            assert "Log in with: mooring mcp login web" in await asyncio.to_thread(client.wait_advice)
            assert client.asked == []
        assert "/authorize" not in [path for path, _ in issuer.heard]


@pytest.mark.parametrize("era", ERAS)
async def test_a_person_who_declines_is_not_logged_in(home: Home, era: Era) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        before = issuer.count("authorization_code")
        async with connected(home, era, answer=lambda method, params: {"action": "decline"}) as client:
            refused = await call(client, ECHO, text="hi")
            assert refused["isError"]
            assert text(refused) == "The login to web was canceled."
        assert issuer.count("authorization_code") == before


@pytest.mark.parametrize("era", ERAS)
async def test_over_ssh_a_person_gets_a_code_for_another_device(home: Home, era: Era) -> None:
    remote = {**NO_KEYRING, "SSH_CONNECTION": "192.0.2.1 1 192.0.2.2 22"}
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)

        def enter(method: str, params: Json) -> Json:
            issuer.device_is_approved = True
            return {"action": "accept"}

        async with connected(home, era, answer=enter, env=remote) as client:
            assert text(await call(client, ECHO, text="hi")) == "hi"
            [(_, asked)] = client.asked
            assert asked["url"] == f"{issuer.url}/enter"
            assert "Enter the code ABCD-EFGH there." in asked["message"]


async def test_the_question_about_a_call_is_not_asked_again_after_the_login(home: Home) -> None:
    def answer(method: str, params: Json) -> Json:
        if params.get("mode") == "url":
            return visit(method, params)
        return {"action": "accept", "content": {"answer": "once"}}

    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        async with connected(home, "handshake", "--permission-mode", "ask", answer=answer) as client:
            assert text(await call(client, ECHO, text="hi")) == "hi"
            assert [params.get("mode", "form") for _, params in client.asked] == ["form", "url"]


@pytest.mark.parametrize("era", ERAS)
async def test_a_server_that_is_denied_is_not_logged_in_to(home: Home, era: Era) -> None:
    async with site_with_login(home) as issuer, connected(home, era, "--deny", "web.*") as client:
        await list_tools(client)
        refused = await call(client, LOG_IN)
        assert refused.get("isError") or "error" in refused
        assert client.asked == []
        assert "/authorize" not in [path for path, _ in issuer.heard]


@pytest.mark.parametrize("page", ["file:///etc/passwd", "javascript:alert(1)", "http://127.0.0.1:1/a b"])
async def test_nothing_but_a_page_of_the_issuer_is_handed_to_a_client(home: Home, page: str) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        issuer.metadata["authorization_endpoint"] = page
        async with connected(home, "handshake") as client:
            assert (await call(client, ECHO, text="hi"))["isError"]
            assert [params for _, params in client.asked if not params["url"].startswith(issuer.url)] == []


# --- over HTTP: many clients --------------------------------------------------------------------------------------


class Visitor:
    """A client over HTTP that is sent to a page: it keeps where, and decides when to go there."""

    def __init__(self, server: WebServer, session: WebSession) -> None:
        self.server, self.session = server, session
        self.asked: asyncio.Queue[Json] = asyncio.Queue()
        self.result: asyncio.Task[Json] = asyncio.ensure_future(self._call())

    async def _call(self) -> Json:
        params = {"name": ECHO, "arguments": {"text": "hi"}}
        async with await self.session.open("tools/call", params) as answer:
            if answer.content_type == "application/json":
                found: Json = await answer.json()
                return found
            async for message in events(answer):
                if message.get("method") == "elicitation/create":
                    self.asked.put_nowait(message["params"])
                    accepted = {"id": message["id"], "result": {"action": "accept"}}
                    async with await self.session.post(accepted) as taken:
                        assert taken.status == 202
                elif "method" not in message:
                    return message
        raise AssertionError("the stream ended without an answer")


async def test_one_login_serves_every_client_of_either_era(home: Home) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        before = issuer.count("authorization_code")
        async with serving(home, *BYPASS, env=NO_KEYRING) as server:
            first = Visitor(server, await server.session())
            await browse((await first.asked.get())["url"])
            assert text((await first.result)["result"]) == "hi"
            second = Visitor(server, await server.session())
            assert text((await second.result)["result"]) == "hi"
            assert second.asked.empty()
            third = await server.stateless("tools/call", {"name": ECHO, "arguments": {"text": "hi"}})
            assert text(third["result"]) == "hi"
        assert issuer.count("authorization_code") == before + 1


async def test_clients_that_need_a_login_at_once_get_pages_of_their_own_and_the_first_login_serves_all(
    home: Home,
) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        before = issuer.count("authorization_code")
        async with serving(home, *BYPASS, env=NO_KEYRING) as server:
            visitors = [Visitor(server, await server.session()) for _ in range(3)]
            params = {"name": ECHO, "arguments": {"text": "hi"}}
            round = (await server.stateless("tools/call", params))["result"]
            assert round["resultType"] == "input_required"
            [request] = round["inputRequests"].values()
            asked = [await visitor.asked.get() for visitor in visitors]
            urls = [each["url"] for each in (*asked, request["params"])]
            states = {parse_qs(urlsplit(url).query)["state"][0] for url in urls}
            assert len(states) == 4
            await browse(urls[1])
            for visitor in visitors:
                assert text((await visitor.result)["result"]) == "hi"
                assert visitor.asked.empty()
            back = {
                "requestState": round["requestState"],
                "inputResponses": {key: {"action": "accept"} for key in round["inputRequests"]},
            }
            answer = await server.stateless("tools/call", {**params, **back})
            assert text(answer["result"]) == "hi"
            # Nothing listens any more for those who did not go to their page.
            with pytest.raises(aiohttp.ClientError):
                await browse(urls[0])
        assert issuer.count("authorization_code") == before + 1


async def test_forty_calls_of_one_client_lead_to_one_page(home: Home) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        async with serving(home, *BYPASS, env=NO_KEYRING) as server:
            session = await server.session()
            visitors = [Visitor(server, session) for _ in range(40)]
            waiting = [asyncio.ensure_future(visitor.asked.get()) for visitor in visitors]
            done, pending = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for each in pending:
                each.cancel()
            assert len(done) == 1
            await browse(done.pop().result()["url"])
            assert [text((await visitor.result)["result"]) for visitor in visitors] == ["hi"] * 40
            assert all(visitor.asked.empty() for visitor in visitors)


async def test_no_more_than_sixteen_pages_are_open_for_requests_that_say_nothing_of_their_client(home: Home) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        async with serving(home, *BYPASS, env=NO_KEYRING) as server:
            params = {"name": ECHO, "arguments": {"text": "hi"}}
            calls = [server.stateless("tools/call", params) for _ in range(20)]
            results = [answer["result"] for answer in await asyncio.gather(*calls)]
            asking = [result for result in results if result["resultType"] == "input_required"]
            refused = [result for result in results if result.get("isError")]
            assert (len(asking), len(refused)) == (16, 4)
            assert all(text(result).startswith("web requires a login.") for result in refused)


async def test_a_login_goes_on_when_the_call_is_given_up(home: Home) -> None:
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        async with serving(home, *BYPASS, env=NO_KEYRING) as server:
            session = await server.session()
            first = Visitor(server, session)
            asked = await first.asked.get()
            cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
            async with await session.post(cancelled) as taken:
                assert taken.status == 202
            first.result.cancel()
            second = Visitor(server, session)
            await browse(asked["url"])
            assert text((await second.result)["result"]) == "hi"
            assert second.asked.empty()


async def test_a_call_that_cannot_wait_is_refused_with_the_page_and_its_client_hears_when_to_call_again(
    home: Home,
) -> None:
    terms = ServeTerms(permissions=CommandPermissions(mode="bypass"), visit_patience=0.5)
    async with site_with_login(home) as issuer:
        await know_tools(home, issuer)
        async with (
            mooring.open(request=home.request(), policy="bypass") as host,
            serve_on_http(host, terms, parse_address("127.0.0.1:0"), token=False) as listening,
            aiohttp.ClientSession() as http,
        ):
            server = WebServer(listening.url, [], http)
            session = await server.session()
            async with await session.listen() as stream:
                visitor = Visitor(server, session)
                asked = await visitor.asked.get()
                error = (await visitor.result)["error"]
                assert error["code"] == -32042
                assert error["data"] == {"elicitations": [asked]}
                await browse(asked["url"])
                async for message in events(stream):
                    if message["method"] == "notifications/elicitation/complete":
                        break
                assert message["params"] == {"elicitationId": asked["elicitationId"]}
                again = Visitor(server, session)
                assert text((await again.result)["result"]) == "hi"
                assert again.asked.empty()
