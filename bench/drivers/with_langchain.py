"""Drives `langchain-mcp-adapters`; calls go through a kept session, its default of one session per call is slower."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common import Call, Command, Library, as_config, serve
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


def client_of(servers: list[Command]) -> MultiServerMCPClient:
    return MultiServerMCPClient({name: {**entry, "transport": "stdio"} for name, entry in as_config(servers).items()})


@asynccontextmanager
async def session(server: Command) -> AsyncIterator[Call]:
    async with client_of([server]).session("server0") as one:
        yield (await load_mcp_tools(one))[0].ainvoke


@asynccontextmanager
async def listed(servers: list[Command]) -> AsyncIterator[int]:
    """It keeps no session: this lists the tools of all servers and leaves none of them running."""
    yield len(await client_of(servers).get_tools())


if __name__ == "__main__":
    serve(Library(session, listed))
