"""A server made with fastmcp, which gives its lists in pages of two."""

import asyncio
import sys

from fastmcp import Context, FastMCP

server = FastMCP("fast", list_page_size=2)


@server.tool()
def echo(text: str) -> str:
    """Gives the text back."""
    return text


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
async def slow(steps: int, ctx: Context) -> str:
    """Takes its time and says how far it is."""
    for step in range(1, steps + 1):
        await asyncio.sleep(0.05)
        await ctx.report_progress(step, steps)
    return f"{steps} steps"


@server.tool()
def fail() -> str:
    """Always fails."""
    raise ValueError("as it must")


@server.resource("tide://now")
def tide() -> str:
    """How high the water stands."""
    return "high"


@server.resource("tide://{port}")
def tide_at(port: str) -> str:
    """How high the water stands in a port."""
    return f"low in {port}"


@server.prompt()
def explain(topic: str) -> str:
    """Asks for an explanation."""
    return f"Explain {topic}."


match sys.argv[1:]:
    case [transport, port]:
        server.run(transport, port=int(port), show_banner=False)
    case _:
        server.run(show_banner=False)
