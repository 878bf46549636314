"""A client on the official SDK 2.x, run in its own environment: what a tool that asks makes of its answer, as JSON.

Its arguments: the era to speak, then a URL, or the command that starts the server.
"""

import asyncio
import json
import sys
from typing import Any

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters, stdio_client


async def answer(context: Any, params: Any) -> types.ElicitResult:
    return types.ElicitResult(action="accept", content={"name": "Ada"})


async def main(mode: str, target: str, *words: str) -> None:
    is_url = target.startswith("http")
    server = target if is_url else stdio_client(StdioServerParameters(command=target, args=list(words)))
    async with Client(server, mode=mode, elicitation_callback=answer) as client:
        version = client.protocol_version
        try:
            said = (await client.call_tool("greet", {})).content[0].text
        except MCPError as error:
            said = str(error)
    sys.stdout.write(json.dumps({"version": version, "said": said}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
