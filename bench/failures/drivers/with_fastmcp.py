"""FastMCP: one client of a configuration."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common import Connected, Servers, main
from fastmcp import Client


@asynccontextmanager
async def connect(servers: Servers) -> AsyncIterator[Connected]:
    async with Client({"mcpServers": servers}) as client:

        async def call(server: str, tool: str, arguments: dict[str, object]) -> str:
            # With a single server, it adds no prefix.
            name = tool if len(servers) == 1 else f"{server}_{tool}"
            return (await client.call_tool(name, arguments)).content[0].text

        yield Connected(len(await client.list_tools()), call)


if __name__ == "__main__":
    main(connect)
