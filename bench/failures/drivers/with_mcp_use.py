"""mcp-use: one client, with a session for each server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common import Connected, Servers, main
from mcp_use import MCPClient


@asynccontextmanager
async def connect(servers: Servers) -> AsyncIterator[Connected]:
    client = MCPClient.from_dict({"mcpServers": servers})
    try:
        sessions = await client.create_all_sessions()

        async def call(server: str, tool: str, arguments: dict[str, object]) -> str:
            return (await sessions[server].call_tool(tool, arguments)).content[0].text

        yield Connected(sum([len(await one.list_tools()) for one in sessions.values()]), call)
    finally:
        await client.close_all_sessions()


if __name__ == "__main__":
    main(connect)
