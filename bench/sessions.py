"""What 10,000 clients leave in the memory of `mooring serve --http`: such that end, that don't, and single requests."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

import aiohttp

EARLY: Final = 1000
"""After so many clients everything is loaded, and as many sessions are kept as ever will be."""
LATE: Final = 10_000
WORKERS: Final = 4

_META: Final = "io.modelcontextprotocol/"
_HEADERS: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_HELLO: Final = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}

Use = Callable[[aiohttp.ClientSession, str], Awaitable[None]]


class Kind(NamedTuple):
    """A way to come and go, and how many megabytes it may cost between the early and the late client."""

    name: str
    use: Use
    allowed: float


class Memory(NamedTuple):
    """Megabytes after some clients of a kind, and after many."""

    early: float
    late: float


async def measure_kinds(url: str, read_megabytes: Callable[[], float]) -> dict[str, Memory]:
    """Send clients of each kind to a gateway, one kind after the other."""
    async with aiohttp.ClientSession() as http:
        return {kind.name: await _measure_kind(http, url, kind, read_megabytes) for kind in KINDS}


def find_growth(found: Mapping[str, Memory]) -> list[str]:
    """What grew more than it may."""
    return [
        f"{kind.name}: {found[kind.name].early:.0f} MB after {EARLY:,}, {found[kind.name].late:.0f} MB after {LATE:,}."
        for kind in KINDS
        if found[kind.name].late - found[kind.name].early > kind.allowed
    ]


async def _measure_kind(
    http: aiohttp.ClientSession, url: str, kind: Kind, read_megabytes: Callable[[], float]
) -> Memory:
    await _send_clients(http, url, kind, EARLY)
    early = read_megabytes()
    await _send_clients(http, url, kind, LATE - EARLY)
    return Memory(early, read_megabytes())


async def _send_clients(http: aiohttp.ClientSession, url: str, kind: Kind, count: int) -> None:
    async def work() -> None:
        for _ in range(count // WORKERS):
            await kind.use(http, url)

    await asyncio.gather(*(work() for _ in range(WORKERS)))


async def _come_and_end(http: aiohttp.ClientSession, url: str) -> None:
    session = await _open_session(http, url)
    async with http.delete(url, headers=session) as answer:
        assert answer.status == 204, answer.status


async def _come_and_vanish(http: aiohttp.ClientSession, url: str) -> None:
    await _open_session(http, url)


async def _open_session(http: aiohttp.ClientSession, url: str) -> Mapping[str, str]:
    """Begin a session and use it once; returns its headers."""
    async with http.post(url, json=_request("initialize", _HELLO), headers=_HEADERS) as answer:
        session = {"Mcp-Session-Id": answer.headers["Mcp-Session-Id"], "MCP-Protocol-Version": "2025-06-18"}
    await _call(http, url, session, {})
    return session


async def _ask_once(http: aiohttp.ClientSession, url: str) -> None:
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "echo"}
    meta = {f"{_META}protocolVersion": "2026-07-28", f"{_META}clientCapabilities": {}}
    await _call(http, url, headers, {"_meta": meta})


async def _call(http: aiohttp.ClientSession, url: str, headers: Mapping[str, str], more: Mapping[str, Any]) -> None:
    params = {"name": "echo", "arguments": {"text": "here"}, **more}
    async with http.post(url, json=_request("tools/call", params), headers={**_HEADERS, **headers}) as answer:
        body = await answer.read()
        assert b'"here"' in body, body


def _request(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


KINDS: Final = (
    Kind("sessions that end", _come_and_end, 5),
    Kind("requests without a session", _ask_once, 5),
    # Those beyond the limit are ended, and freed when the garbage collector comes by: 20 kB each until then.
    Kind("sessions that nobody ends", _come_and_vanish, 25),
)
