"""A server behind TLS, and a proxy that leads to it, as companies have them."""

import asyncio
import ssl
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Proxy:
    """Tunnels every connection to one port on this machine; `heard` holds the heads of all requests."""

    def __init__(self, port: int, refusal: str = "") -> None:
        self.heard: list[str] = []
        self.carried = bytearray()
        self._port = port
        self._refusal = refusal

    @property
    def logins(self) -> list[str]:
        fields = [line.split(": ", 1) for head in self.heard for line in head.split("\r\n") if ": " in line]
        named = [value for name, value in fields if name == "Proxy-Authorization"]
        return [b64decode(value.removeprefix("Basic ")).decode() for value in named]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.heard.append((await reader.readuntil(b"\r\n\r\n")).decode())
        if self._refusal:
            writer.write(f"HTTP/1.1 {self._refusal}\r\nContent-Length: 0\r\n\r\n".encode())
            writer.close()
            return
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        await self.carry_on(reader, writer)

    async def carry_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Everything from here on, in both directions."""
        inner, outer = await asyncio.open_connection("127.0.0.1", self._port)
        await asyncio.gather(self._carry(reader, outer), self._carry(inner, writer), return_exceptions=True)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            self.carried += data
            writer.write(data)
        writer.close()


@asynccontextmanager
async def tunneled(port: int, tls: ssl.SSLContext, refusal: str = "") -> AsyncIterator[tuple[Proxy, str, int]]:
    """What listens on a port, behind TLS and a proxy: the proxy, its `host:port`, and the port with TLS."""
    plain = Proxy(port)

    async def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await plain.carry_on(reader, writer)

    tls_server = await asyncio.start_server(enter, "127.0.0.1", 0, ssl=tls)
    tls_port = tls_server.sockets[0].getsockname()[1]
    proxy = Proxy(tls_port, refusal)
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    async with tls_server, listening:
        yield proxy, f"127.0.0.1:{listening.sockets[0].getsockname()[1]}", tls_port
