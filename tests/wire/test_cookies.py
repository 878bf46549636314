"""Cookies: what a load balancer needs to find the same machine again, and nothing that could go astray."""

from aiohttp import web
from yarl import URL

import mooring
from mooring.testing.site import ReceivedRequest, Site
from mooring.wire.http.web import MOST, ROOM, Cookies
from mooring.wire.session.remote import open_url

HERE = URL("http://here.example/api/mcp")


class Balanced(Site):
    """Two machines behind one address: what comes without a cookie, or with an unknown one, goes to each in turn.

    Each machine knows only the session that it began itself.
    """

    def __init__(self) -> None:
        super().__init__()
        self._turn = 0

    async def _answer(self, request: ReceivedRequest) -> web.StreamResponse:
        route = request.request.cookies.get("route")
        self._turn += route is None
        machine = route or f"machine{self._turn % 2}"
        if request.headers.get("Mcp-Session-Id", machine) != machine:
            return web.Response(status=404)
        self.session = machine
        response = await super()._answer(request)
        if route is None:
            response.headers["Set-Cookie"] = f"route={machine}; Path=/; HttpOnly; SameSite=Lax"
        return response


async def test_a_session_stays_on_the_machine_that_a_balancer_gave_it() -> None:
    async with Balanced() as site, mooring.connect(site.url) as session:
        for text in "abc":
            assert (await session.call_tool("echo", {"text": text})).text == text
    assert len(site.said("initialize")) == 1, "a session was lost and begun again"


async def test_two_sessions_know_nothing_of_each_others_cookies() -> None:
    async with Balanced() as site, mooring.connect(site.url) as one, mooring.connect(site.url) as other:
        await one.call_tool("echo")
        await other.call_tool("echo")
        firsts = [request for request in site.heard if "Cookie" not in request.headers]
    assert len(firsts) == 2, "each begins with a request that has none"


async def test_ones_own_cookie_is_said_beside_what_the_server_set() -> None:
    async with Balanced() as site, await open_url(site.url, headers={"cookie": "mine=1"}) as session:
        await session.call_tool("echo")
    said = site.said("tools/call")[0].headers.getall("Cookie")
    assert len(said) == 1
    assert said[0].startswith("mine=1; route=machine")


async def test_a_cookie_for_another_domain_is_never_said() -> None:
    async with Site() as site, mooring.connect(site.url) as session:
        site.answers["tools/call"] = lambda request: web.Response(
            body=request.result({"content": []}),
            content_type="application/json",
            headers={"Set-Cookie": "track=1; Domain=example.com"},
        )
        await session.call_tool("echo")
        await session.call_tool("echo")
    assert not any("Cookie" in request.headers for request in site.heard)


async def test_a_server_that_sets_cookies_without_end_is_bounded() -> None:
    async with Site() as site, mooring.connect(site.url) as session:

        def respond(request: ReceivedRequest) -> web.Response:
            response = web.Response(body=request.result({"content": []}), content_type="application/json")
            for n in range(60):
                response.headers.add("Set-Cookie", f"c{len(site.heard)}-{n}={'x' * 100}")
            return response

        site.answers["tools/call"] = respond
        for _ in range(5):
            await session.call_tool("echo")
        said = site.heard[-1].headers["Cookie"]
    assert said.count("=") == MOST
    assert said.rpartition("; ")[2].startswith("c"), "the latest are kept"


def take_cookies(*fields: str, url: URL = HERE) -> Cookies:
    cookies = Cookies()
    cookies.take(fields, url)
    return cookies


def test_all_cookies_together_fit_into_one_field_of_a_head() -> None:
    cookies = take_cookies(*(f"c{n}={'x' * 1000}" for n in range(20)))
    assert len(cookies.header(HERE)) <= ROOM + 2 * MOST
    assert "c19=" in cookies.header(HERE)
    assert take_cookies(f"big={'x' * ROOM}").header(HERE) == ""


def test_a_cookie_goes_below_its_path_only_and_the_closest_one_first() -> None:
    cookies = take_cookies("a=1; Path=/", "b=2; Path=/api", "c=3; Path=/ap", "d=4", "e=5; Path=elsewhere")
    assert cookies.header(HERE) == "b=2; d=4; e=5; a=1"
    assert cookies.header(URL("http://here.example/other")) == "a=1"


def test_a_cookie_is_forgotten_when_its_time_is_over_or_the_server_says_so() -> None:
    past, future = "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"
    assert take_cookies(f"a=1; Expires={past}", "b=2; Max-Age=0").header(HERE) == ""
    assert take_cookies(f"a=1; Expires={future}", "b=2; Max-Age=60").header(HERE) == "a=1; b=2"
    assert take_cookies(f"a=1; Max-Age=60; Expires={past}", "b=2; Expires=never").header(HERE) == "a=1; b=2"
    assert take_cookies("a=1", "a=; Max-Age=-1").header(HERE) == ""


def test_a_cookie_for_https_alone_is_not_taken_in_the_open() -> None:
    assert take_cookies("a=1; Secure").header(HERE) == ""
    sealed = URL("https://here.example/api/mcp")
    assert take_cookies("a=1; Secure", url=sealed).header(sealed) == "a=1"


def test_what_could_be_read_as_something_else_is_no_cookie() -> None:
    odd = ["", "=", "a", "=1", "a b=1", "a=1\r\nX: 1", "a=\x00", "ä=1", "a=ä", "a=1; Domain=other.example"]
    assert [field for field in odd if take_cookies(field).header(HERE)] == []
    assert take_cookies("a=1; Domain=.example").header(HERE) == "a=1", "narrowed to the host all the same"
