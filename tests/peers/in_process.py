"""A server object of another package, used by a host in the same program; prints what came of it as JSON.

Run by the interpreter of a peer's environment, with the folders of our own packages as arguments. The first is the kind
of server to make.
"""

import asyncio
import json
import sys

KIND, *FOLDERS = sys.argv[1:]
sys.path += FOLDERS  # after the peer's own: where both have a package, the peer's is used

import mooring  # noqa: E402


def make_server():
    match KIND:
        case "fastmcp":
            from fastmcp import FastMCP

            return fill(FastMCP("objects", instructions="Add with care."))
        case "mcp-1":
            from mcp.server.fastmcp import FastMCP

            return fill(FastMCP("objects", instructions="Add with care."))
        case "mcp-2":
            from mcp.server.mcpserver import MCPServer

            return fill(MCPServer("objects", instructions="Add with care."))
        case "lowlevel-2":
            return make_lowlevel_2()
    return make_lowlevel()


def fill(server):
    @server.tool()
    def add(a: int, b: int) -> int:
        """Adds two numbers."""
        return a + b

    @server.tool()
    def fail() -> str:
        """Always fails."""
        raise ValueError("as it must")

    @server.tool()
    async def hang() -> str:
        """Never answers."""
        await asyncio.sleep(3600)

    @server.resource("tide://now")
    def tide() -> str:
        """How high the water stands."""
        return "high"

    return server


def make_lowlevel():
    from mcp import types
    from mcp.server.lowlevel import Server

    server = Server("objects")
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}

    @server.list_tools()
    async def list_tools():
        return [types.Tool(name=name, inputSchema=schema) for name in ("add", "fail", "hang")]

    @server.call_tool()
    async def call_tool(name, arguments):
        if name == "fail":
            raise ValueError("as it must")
        if name == "hang":
            await asyncio.sleep(3600)
        return [types.TextContent(type="text", text=str(arguments["a"] + arguments["b"]))]

    @server.list_resources()
    async def list_resources():
        return [types.Resource(uri="tide://now", name="tide")]

    @server.read_resource()
    async def read_resource(uri):
        return "high"

    return server


def make_lowlevel_2():
    import mcp_types as types
    from mcp.server.lowlevel import Server

    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}

    async def list_tools(context, params):
        return types.ListToolsResult(
            tools=[types.Tool(name=name, input_schema=schema) for name in ("add", "fail", "hang")]
        )

    async def call_tool(context, params):
        if params.name == "hang":
            await asyncio.sleep(3600)
        text = "as it must" if params.name == "fail" else str(params.arguments["a"] + params.arguments["b"])
        content = [types.TextContent(type="text", text=text)]
        return types.CallToolResult(content=content, is_error=params.name == "fail")

    async def list_resources(context, params):
        return types.ListResourcesResult(resources=[types.Resource(uri="tide://now", name="tide")])

    async def read_resource(context, params):
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=params.uri, text="high")])

    return Server(
        "objects",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


async def report(host):
    seen = {"errors": {name: str(error) for name, error in (await host.ready()).items()}}
    seen["tools"] = [tool.name for tool in host.tools]
    seen["status"] = type(host.status()["own"]).__name__
    seen["sum"] = (await host.call("own.add", {"a": 2, "b": 40})).text
    failed = await host.call("own.fail")
    seen["failed"] = failed.is_error
    seen["tide"] = (await host.read("own", "tide://now")).contents[0].text
    try:
        await host.call("own.hang", timeout=0.3)
    except mooring.TimedOut:
        seen["hung"] = True
    return seen


async def main():
    server = make_server()
    async with mooring.open(servers={"mcpServers": {"own": server}}, policy="allow") as host:
        seen = await report(host)
        # A second time over a new connection to the same object.
        await host.reload("own")
        seen["again"] = (await host.call("own.add", {"a": 1, "b": 1})).text
    async with mooring.open(servers=server) as host:
        seen["names"] = list(host.servers)
        try:
            await host.call("objects.add", {"a": 1, "b": 1})
        except mooring.Denied as error:
            seen["refused"] = str(error)
    async with mooring.connect(server) as session:
        seen["session"] = (await session.call_tool("add", {"a": 3, "b": 4})).text
    seen["left"] = [task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    sys.stdout.write(json.dumps(seen))


asyncio.run(main())
