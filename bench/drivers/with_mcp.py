"""Drives `mcp`, the official SDK."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from common import Call, Command, Library, Url, serve
from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


@asynccontextmanager
async def opened(server: Command | Url) -> AsyncIterator[ClientSession]:
    if isinstance(server, Url):
        async with Client(server) as client:  # it finds out the era; its session is the leaner of the two
            yield client.session
        return
    parameters = StdioServerParameters(command=server[0], args=server[1:])
    async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as one:
        await one.initialize()
        yield one


@asynccontextmanager
async def session(server: Command | Url) -> AsyncIterator[Call]:
    async with opened(server) as one:
        await one.list_tools()  # or the first call does
        yield partial(one.call_tool, "echo")


@asynccontextmanager
async def listed(servers: list[Command]) -> AsyncIterator[int]:
    """One after another, as its session group does: its scopes cannot be opened in tasks of their own."""
    async with AsyncExitStack() as kept:
        sessions = [await kept.enter_async_context(opened(server)) for server in servers]
        yield sum([len((await one.list_tools()).tools) for one in sessions])


if __name__ == "__main__":
    serve(Library(session, listed))
