"""A server on the official SDK 2.x with a tool that asks in the middle of its work, as most are written.

Over stdio, or over HTTP on the port that its argument names.
"""

import sys

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("asking")


class Person(BaseModel):
    name: str


@server.tool()
async def greet(ctx: Context) -> str:
    """Greet whoever answers."""
    answer = await ctx.elicit("Who are you?", Person)
    return f"Hello {answer.data.name}" if answer.action == "accept" else answer.action


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run()
