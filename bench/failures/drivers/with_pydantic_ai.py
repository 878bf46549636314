"""Pydantic AI's own client: a toolset for each server, entered together as its agent does."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from common import Connected, Servers, main
from fastmcp.client.transports import StdioTransport
from pydantic_ai.mcp import MCPToolset


@asynccontextmanager
async def connect(servers: Servers) -> AsyncIterator[Connected]:
    async with AsyncExitStack() as stack:
        toolsets = {name: MCPToolset(StdioTransport(**entry)) for name, entry in servers.items()}
        for toolset in toolsets.values():
            await stack.enter_async_context(toolset)

        async def call(server: str, tool: str, arguments: dict[str, object]) -> str:
            return str(await toolsets[server].direct_call_tool(tool, arguments))

        yield Connected(sum([len(await toolset.list_tools()) for toolset in toolsets.values()]), call)


if __name__ == "__main__":
    main(connect)
