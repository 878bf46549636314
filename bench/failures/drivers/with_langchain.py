"""langchain-mcp-adapters: one client for all servers, which starts a server for each call."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common import Connected, Servers, main
from langchain_mcp_adapters.client import MultiServerMCPClient


@asynccontextmanager
async def connect(servers: Servers) -> AsyncIterator[Connected]:
    client = MultiServerMCPClient({name: {**entry, "transport": "stdio"} for name, entry in servers.items()})
    tools = {tool.name: tool for tool in await client.get_tools()}

    async def call(server: str, tool: str, arguments: dict[str, object]) -> str:
        return str(await tools[tool].ainvoke(arguments))

    yield Connected(len(tools), call)


if __name__ == "__main__":
    main(connect)
