"""A server made with the official SDK whose tools run as tasks: the experiment of revision 2025-11-25."""

import asyncio
from typing import Any

import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

server: Any = Server("tasks")
server.experimental.enable_tasks()
SUPPORT = {"must": "required", "may": "optional", "ask": "required", "fail": "required", "long": "required"}


@server.list_tools()
async def tools() -> list[types.Tool]:
    return [
        types.Tool(name=name, inputSchema={"type": "object"}, execution=types.ToolExecution(taskSupport=support))
        for name, support in SUPPORT.items()
    ] + [types.Tool(name="echo", inputSchema={"type": "object"})]


@server.call_tool()
async def call(name: str, arguments: dict[str, Any]) -> Any:
    experimental = server.request_context.experimental
    if name == "echo":
        return [types.TextContent(type="text", text=arguments["text"])]
    experimental.validate_task_mode(SUPPORT[name])
    if not experimental.is_task:
        return [types.TextContent(type="text", text=f"{name} at once")]

    async def work(task: Any) -> types.CallToolResult:
        text = await WORK[name](task, arguments)
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

    return await experimental.run_task(work)


async def say(task: Any, arguments: dict[str, Any]) -> str:
    await asyncio.sleep(0.3)
    return arguments["text"]


async def must(task: Any, arguments: dict[str, Any]) -> str:
    return f"must {await say(task, arguments)}"


async def may(task: Any, arguments: dict[str, Any]) -> str:
    return f"may {await say(task, arguments)}"


async def ask(task: Any, arguments: dict[str, Any]) -> str:
    schema = {"type": "object", "properties": {"value": {"type": "string"}}, "required": ["value"]}
    answer = await task.elicit("How high is the water?", schema)
    return f"{answer.action}: {answer.content['value']}"


async def fail(task: Any, arguments: dict[str, Any]) -> str:
    raise ValueError("as it must")


async def long(task: Any, arguments: dict[str, Any]) -> str:
    await asyncio.sleep(600)
    return "at last"


WORK = {"must": must, "may": may, "ask": ask, "fail": fail, "long": long}


async def main() -> None:
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


asyncio.run(main())
