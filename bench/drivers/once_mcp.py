"""The shortest script that calls one tool with the official SDK: what `mooring call` is measured by."""

import asyncio
import sys

from mcp import Client, ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main(command: str, *args: str) -> None:
    if command.startswith("http:"):
        async with Client(command) as client:
            result = await client.call_tool("echo", {"text": "hello"})
            sys.stdout.write(f"{result.content[0].text}\n")
        return
    parameters = StdioServerParameters(command=command, args=list(args))
    async with stdio_client(parameters) as (reading, writing), ClientSession(reading, writing) as session:
        await session.initialize()
        result = await session.call_tool("echo", {"text": "hello"})
        sys.stdout.write(f"{result.content[0].text}\n")


asyncio.run(main(*sys.argv[1:]))
