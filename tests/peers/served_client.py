"""A client on the official SDK 2.x, run in its own environment: what it sees through `mooring serve`, as JSON.

Its arguments: the era to speak, then the command that starts the server.
"""

import asyncio
import json
import sys
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


async def answer(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"answer": "once"})


async def main(mode: str, command: str, *words: str) -> None:
    server = stdio_client(StdioServerParameters(command=command, args=list(words)))
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        listed = await client.list_tools()
        result = await client.call_tool("add", {"a": 1, "b": 2})
        read = await client.read_resource("demo://readme")
        seen = {
            "version": client.protocol_version,
            "tools": [tool.name for tool in listed.tools],
            "sum": result.structured_content,
            "read": bool(read.contents),
        }
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
