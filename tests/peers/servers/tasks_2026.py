"""A server made with fastmcp whose tools run as tasks: the extension of revision 2026-07-28."""

import asyncio
from datetime import timedelta

from fastmcp import Context, FastMCP
from fastmcp.utilities.tasks import TaskConfig
from fastmcp_tasks import TasksExtension
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

server = FastMCP("tasks")
server.add_extension(TasksExtension())
SOON = timedelta(milliseconds=100)
QUESTION = ElicitRequestFormParams(
    message="How high is the water?",
    requested_schema={"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]},
)


@server.tool(task=TaskConfig(mode="required", poll_interval=SOON))
async def must(text: str) -> str:
    """Runs as a task or not at all."""
    await asyncio.sleep(0.3)
    return f"must {text}"


@server.tool(task=TaskConfig(mode="optional", poll_interval=SOON))
async def may(text: str) -> str:
    """Runs either way."""
    return f"may {text}"


@server.tool(task=TaskConfig(mode="required", poll_interval=SOON))
async def fail() -> str:
    """Always fails."""
    raise ValueError("as it must")


@server.tool(task=TaskConfig(mode="required", poll_interval=SOON))
async def ask(ctx: Context) -> str | InputRequiredResult:
    """Asks a person before it ends."""
    if not ctx.input_responses:
        return InputRequiredResult(input_requests={"height": ElicitRequest(params=QUESTION)})
    answer = ctx.input_responses["height"]
    return f"{answer.action}: {answer.content['value']}"


@server.tool(task=TaskConfig(mode="required", poll_interval=SOON))
async def long() -> str:
    """Takes longer than anyone waits."""
    await asyncio.sleep(600)
    return "at last"


@server.tool()
def echo(text: str) -> str:
    """Gives the text back at once."""
    return text


server.run(show_banner=False)
