"""A client on the official SDK 2.x, in the place of an agent's program: what it sees at a server's path, as JSON.

Its arguments: the era to speak, and the address. The header that it has to send comes on stdin.
"""

import asyncio
import json
import sys
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client


async def refuse(context: Any, params: Any) -> Any:
    raise AssertionError("an agent is never asked")


async def main(mode: str, url: str, authorization: str) -> None:
    headers = {"Authorization": authorization}
    async with httpx2.AsyncClient(headers=headers, timeout=60.0) as http:
        server = streamable_http_client(url, http_client=http)
        async with Client(server, mode=mode, elicitation_callback=refuse) as client:
            listed = await client.list_tools()
            result = await client.call_tool("add", {"a": 1, "b": 2})
            seen = {
                "version": client.protocol_version,
                "tools": [tool.name for tool in listed.tools],
                "text": result.content[0].text,
            }
    sys.stdout.write(json.dumps(seen))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:], sys.stdin.read()))
