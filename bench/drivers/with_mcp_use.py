"""Drives `mcp-use`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from common import Call, Command, Library, as_config, serve
from mcp_use import MCPClient


@asynccontextmanager
async def session(server: Command) -> AsyncIterator[Call]:
    client = MCPClient.from_dict({"mcpServers": as_config([server])})
    one = await client.create_session("server0")
    await one.list_tools()
    yield partial(one.call_tool, "echo")
    await client.close_all_sessions()


@asynccontextmanager
async def listed(servers: list[Command]) -> AsyncIterator[int]:
    client = MCPClient.from_dict({"mcpServers": as_config(servers)})
    sessions = await client.create_all_sessions()
    yield sum([len(await one.list_tools()) for one in sessions.values()])
    await client.close_all_sessions()


if __name__ == "__main__":
    serve(Library(session, listed))
