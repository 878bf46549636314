"""The faults of a server behind a URL. The server stands in this process, so its memory counts too."""

import asyncio
import time
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from typing import Any

from aiohttp import web
from tests.faults.table import Meter, Peers, Row, bound, echoes, fails

import mooring
from mooring.testing.site import ReceivedRequest, Respond, Site, event, said

MIB = 1024 * 1024
SECOND = mooring.Timeout(1, 1)


@asynccontextmanager
async def faulty(meter: Meter, fault: Respond, **site: Any) -> AsyncIterator[tuple[Site, mooring.Session]]:
    """A session with a server whose tool `fault` does what is given, and whose tool `echo` works."""
    async with Site(**site) as server:
        plain = server.answers["tools/call"]
        server.answers["tools/call"] = lambda heard: (fault if heard.params["name"] == "fault" else plain)(heard)
        async with mooring.connect(server.url, headers={"Authorization": "Bearer secret"}) as session, meter.watching():
            meter.start()
            yield server, session


def calls(site: Site) -> int:
    return sum(heard.params["name"] == "fault" for heard in site.said("tools/call"))


def status(code: int, **headers: str) -> Respond:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda heard: web.Response(status=code, headers=named)


async def needs_login(meter: Meter) -> str:
    challenge = status(401, WWW_Authenticate='Bearer resource_metadata="https://a/b", scope="x"')
    async with faulty(meter, challenge, session="s") as (site, session):
        error = await fails(session.call_tool("fault"), mooring.NeedsLogin)
        assert (error.resource_metadata, error.scope, calls(site)) == ("https://a/b", "x", 1)
        bound("error after", meter.seconds, 1)
        took = meter.seconds
        await echoes(session)
        return f"needs a login, said in {took * 1000:.0f} ms after 1 request; the next call works"


async def hundred_logins(meter: Meter) -> str:
    async with faulty(meter, status(401)) as (site, session):
        work = (session.call_tool("fault") for _ in range(100))
        outcomes = await asyncio.gather(*work, return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {mooring.NeedsLogin}
        assert calls(site) == 100
        bound("all after", meter.seconds, 5)
        return f"100 times the same error in {meter.seconds:.2f} s, 100 requests"


async def resumed(meter: Meter) -> str:
    async def half(heard: ReceivedRequest) -> web.StreamResponse:
        response = await heard.stream()
        await response.write(event(b"", "7"))
        return response

    async def rest(heard: ReceivedRequest) -> web.StreamResponse:
        if heard.headers.get("Last-Event-ID") != "7":
            return web.Response(status=405)
        response = await heard.stream()
        call = next(heard for heard in site.said("tools/call") if heard.params["name"] == "fault")
        await response.write(event(call.result(said("resumed"))))
        return response

    async with faulty(meter, half, session="s") as (site, session):
        site.answers["GET"] = rest
        assert (await session.call_tool("fault")).text == "resumed"
        bound("answer after", meter.seconds, 3)
        return f"resumed behind the last event after {meter.seconds:.1f} s, called once"


async def drops_for_ever(meter: Meter) -> str:
    times: list[float] = []

    async def drop(heard: ReceivedRequest) -> web.StreamResponse:
        if heard.message or "Last-Event-ID" in heard.headers:
            times.append(time.monotonic())
        response = await heard.stream()
        await response.write(event(b"", "1", 0))
        return response

    async with faulty(meter, drop) as (site, session):
        site.answers["GET"] = drop
        await fails(session.call_tool("fault"), mooring.ServerDied)
        gaps = [after - before for before, after in pairwise(times)]
        assert len(gaps) <= 5, f"{len(gaps)} attempts"
        assert min(gaps) >= 0.99, f"{min(gaps):.2f} s apart"
        bound("error after", meter.seconds, 10)
        took, tries = meter.seconds, len(gaps)
        await echoes(session)
        return f"{tries} attempts in {took:.1f} s, then an error; the next call works"


async def drops_without_id(meter: Meter) -> str:
    async def drop(heard: ReceivedRequest) -> web.StreamResponse:
        return await heard.stream()

    async with faulty(meter, drop) as (_, session):
        error = await fails(session.call_tool("fault"), mooring.ServerDied)
        assert error.may_have_run
        bound("error after", meter.seconds, 1)
        took = meter.seconds
        await echoes(session)
        return f"an error in {took * 1000:.0f} ms that says it may have run; the next call works"


async def session_forgotten(meter: Meter) -> str:
    def forget(heard: ReceivedRequest) -> Any:
        known = heard.headers.get("Mcp-Session-Id") == site.session
        return said("remembered") if known else web.Response(status=404)

    async with faulty(meter, forget, session="one") as (site, session):
        site.session = "two"
        results = await asyncio.gather(*(session.call_tool("fault") for _ in range(20)))
        assert {result.text for result in results} == {"remembered"}
        assert len(site.said("initialize")) == 2
        bound("answers after", meter.seconds, 2)
        return f"20 calls answered in {meter.seconds:.2f} s over 1 new session"


async def asks_for_an_hour(meter: Meter) -> str:
    async with faulty(meter, status(429, Retry_After="3600")) as (site, session):
        error = await fails(session.call_tool("fault"), mooring.HttpError)
        assert (error.retry_after, error.may_have_run, calls(site)) == (3600, False, 1)
        bound("error after", meter.seconds, 1)
        took = meter.seconds
        await echoes(session)
        return f"an error in {took * 1000:.0f} ms that says how long; the next call works"


async def asks_for_a_second(meter: Meter) -> str:
    def busy(heard: ReceivedRequest) -> Any:
        return web.Response(status=429, headers={"Retry-After": "1"}) if calls(site) == 1 else said("now")

    async with faulty(meter, busy) as (site, session):
        assert (await session.call_tool("fault")).text == "now"
        assert meter.seconds >= 1
        bound("answer after", meter.seconds, 3)
        return f"answered after {meter.seconds:.1f} s"


async def fails_inside(meter: Meter) -> str:
    async with faulty(meter, status(502)) as (site, session):
        error = await fails(session.call_tool("fault"), mooring.HttpError)
        assert (error.may_have_run, calls(site)) == (True, 1)
        bound("error after", meter.seconds, 1)
        await echoes(session)
        return "an error at once that says it may have run, not called again; the next call works"


async def beside_others(meter: Meter, fault: Respond, kind: type[Exception]) -> float:
    """A call fails while another is under way, which must not notice."""

    async def slow(heard: ReceivedRequest) -> Any:
        await asyncio.sleep(0.5)
        return said("fine")

    async with faulty(meter, fault) as (site, session):
        site.answers["prompts/get"] = slow
        other = asyncio.ensure_future(session.get_prompt("slow"))
        await asyncio.sleep(0.05)
        meter.start()
        await fails(session.call_tool("fault"), kind)
        took = meter.seconds
        bound("error after", took, 1)
        await other
        await echoes(session)
    return took


async def reset(meter: Meter) -> str:
    took = await beside_others(meter, lambda heard: heard.abort(), mooring.ServerDied)
    return f"an error in {took * 1000:.0f} ms; the call beside it and the next one work"


async def html(meter: Meter) -> str:
    page = lambda heard: web.Response(text="<html>", content_type="text/html")  # noqa: E731
    took = await beside_others(meter, page, mooring.ProtocolError)
    return f"an error in {took * 1000:.0f} ms; the call beside it and the next one work"


async def trickles(meter: Meter) -> str:
    async def drip(heard: ReceivedRequest) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(heard.request)
        for _ in range(1000):
            await response.write(b" ")
            await asyncio.sleep(0.02)
        return response

    async with faulty(meter, drip) as (_, session):
        await fails(session.call_tool("fault", timeout=SECOND), mooring.TimedOut)
        bound("error after", meter.seconds, 2)
        took = meter.seconds
        await echoes(session)
        return f"ends at its deadline ({took:.2f} s); the next call works"


async def hangs(meter: Meter) -> str:
    async with faulty(meter, lambda heard: asyncio.sleep(60)) as (_, session):
        await fails(session.call_tool("fault", timeout=SECOND), mooring.TimedOut)
        bound("error after", meter.seconds, 2)
        took = meter.seconds
        await echoes(session)
        return f"ends at its deadline ({took:.2f} s); the next call works"


def squeezed(size: int) -> bytes:
    squeeze = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    return b"".join(squeeze.compress(bytes(MIB)) for _ in range(size // MIB)) + squeeze.flush()


async def bomb(meter: Meter) -> str:
    body = squeezed(300 * MIB)
    answer = lambda heard: web.Response(  # noqa: E731
        body=body, content_type="application/json", headers={"Content-Encoding": "gzip"}
    )
    async with faulty(meter, answer) as (_, session):
        await fails(session.call_tool("fault"), mooring.TooLarge)
        bound("error after", meter.seconds, 1)
        bound("memory", meter.megabytes, 64, "MB")
        took, more = meter.seconds, meter.megabytes
        await echoes(session)
        return f"refused in {took * 1000:.0f} ms, {more:.0f} MB; the next call works"


async def endless_event(meter: Meter) -> str:
    async def write(heard: ReceivedRequest) -> web.StreamResponse:
        response = await heard.stream()
        await response.write(b"data: ")
        for _ in range(1000):
            await response.write(b"x" * 65536)
        return response

    async with faulty(meter, write) as (_, session):
        await fails(session.call_tool("fault"), mooring.TooLarge)
        bound("error after", meter.seconds, 1)
        bound("memory", meter.megabytes, 64, "MB")
        took, more = meter.seconds, meter.megabytes
        await echoes(session)
        return f"refused at 16 MiB in {took * 1000:.0f} ms, {more:.0f} MB; the next call works"


async def huge_head(meter: Meter) -> str:
    head = {f"X-{n}": "x" * 10_000 for n in range(200)}
    took = await beside_others(meter, lambda heard: web.Response(headers=head), mooring.ProtocolError)
    bound("memory", meter.megabytes, 64, "MB")
    return f"refused in {took * 1000:.0f} ms; the call beside it and the next one work"


async def leads_elsewhere(meter: Meter) -> str:
    async with Site() as other:
        async with faulty(meter, status(307, Location=f"{other.origin}/mcp")) as (_, session):
            await fails(session.call_tool("fault"), mooring.HttpError)
            await echoes(session)
        assert other.heard == []
        return "not followed: nothing, and no token, reached the other origin"


async def splits_headers(meter: Meter) -> str:
    async with Site() as site:

        async def connect() -> None:
            async with mooring.connect(site.url, headers={"X-Key": "a\r\nX-Evil: 1"}):
                raise AssertionError("it connected")

        error = await fails(connect(), mooring.ConfigError)
        assert "Evil" not in str(error)
        assert site.heard == []
        return "refused before anything was sent, the value unquoted"


ROWS = (
    Row("F18", "401 in a session", "1 request, needs login", needs_login),
    Row("F18", "100 calls at once, all 401", "needs login, no retry", hundred_logins),
    Row("F19", "a stream drops with an id", "resumed, called once", resumed),
    Row(
        "F19",
        "a stream drops for ever, retry: 0",
        "≤ 5 attempts, ≥ 1 s apart",
        drops_for_ever,
        Peers("961 GETs in 2.6 s, session dead", "the same", "5,324 GETs in 12 s, no end"),
    ),
    Row("F19", "a stream drops without an id", "≤ 1 s", drops_without_id, Peers("at once", "the same", "hangs > 20 s")),
    Row("F20", "404 to the session", "1 new session, calls answered", session_forgotten),
    Row("F20", "429, Retry-After 3600", "≤ 1 s, says how long", asks_for_an_hour),
    Row("F20", "429, Retry-After 1", "obeyed, answered", asks_for_a_second),
    Row("F20", "502", "≤ 1 s, not called again", fails_inside),
    Row(
        "F20",
        "TCP reset on one POST",
        "≤ 1 s, others unaffected",
        reset,
        Peers("whole client torn down", "session lost", "error, next ok"),
    ),
    Row("F20", "an HTML page", "≤ 1 s, others unaffected", html),
    Row("F20", "a body that trickles", "ends at the deadline", trickles),
    Row("F20", "a request hangs", "ends at the deadline", hangs, Peers("ok", "session lost", "ok")),
    Row(
        "F21",
        "gzip 300 KB → 300 MB",
        "≤ 16 MiB decoded, ≤ 64 MB",
        bomb,
        Peers("1,548 MB, stall 2.6 s", "1,550 MB", "1,951 MB"),
    ),
    Row(
        "F21",
        "an endless event",
        "cut at 16 MiB, ≤ 64 MB",
        endless_event,
        Peers("refused at 1 MiB", "the same", "311 MB, times out"),
    ),
    Row("F21", "a head of 2 MB", "refused, ≤ 64 MB", huge_head),
    Row("A17", "a redirect to another origin", "not followed", leads_elsewhere, Peers("refused", "refused", "refused")),
    Row("A19", "CR/LF in a header", "refused, nothing sent", splits_headers),
)
