"""Drives `fastmcp`; many servers are one client of a configuration."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from common import Call, Command, Library, Url, as_config, serve
from fastmcp import Client
from fastmcp.client.transports import StdioTransport


def client_of(servers: list[Command]) -> Client:
    if len(servers) == 1:
        return Client(StdioTransport(servers[0][0], servers[0][1:], keep_alive=False))
    return Client({"mcpServers": {name: {**entry, "keep_alive": False} for name, entry in as_config(servers).items()}})


@asynccontextmanager
async def session(server: Command | Url) -> AsyncIterator[Call]:
    async with Client(server) if isinstance(server, Url) else client_of([server]) as client:
        await client.list_tools()
        yield partial(client.call_tool, "echo")


@asynccontextmanager
async def listed(servers: list[Command]) -> AsyncIterator[int]:
    async with client_of(servers) as client:
        yield len(await client.list_tools())


if __name__ == "__main__":
    serve(Library(session, listed))
