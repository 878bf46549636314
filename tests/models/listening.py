"""A listener on loopback that takes what the real APIs take and aiohttp's own parser refuses."""

import asyncio

from aiohttp import web
from aiohttp.http_parser import HttpRequestParserPy


class LenientParser(HttpRequestParserPy):
    """pydantic-ai with google-genai sends `User-Agent` twice, and Google doesn't mind."""

    lax = True


async def listen(server: web.Server, port: int) -> asyncio.Server:
    """Serve on a port of loopback; 0 is one that is free."""
    loop = asyncio.get_running_loop()

    def make_protocol() -> asyncio.Protocol:
        protocol = server()
        # aiohttp has no option for this.
        protocol._parser = LenientParser(protocol, loop, payload_exception=web.RequestPayloadError)
        return protocol

    return await loop.create_server(make_protocol, "127.0.0.1", port)
