"""The official client, asked the same as ours: questions as JSON on stdin, its answers as JSON on stdout.

Runs in the environment of `mcp` 2.3, not in ours.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError


async def answer(command, questions):
    server = stdio_client(StdioServerParameters(command=command[0], args=command[1:]))
    async with Client(server) as client:
        return {
            "revision": client.protocol_version,
            "tools": [plain(tool) for tool in (await client.list_tools()).tools],
            "resources": [plain(each) for each in (await client.list_resources()).resources],
            "templates": [plain(each) for each in (await client.list_resource_templates()).resource_templates],
            "prompts": [plain(each) for each in (await client.list_prompts()).prompts],
            "answers": [await ask(client, *question) for question in questions],
        }


async def ask(client, kind, name, arguments):
    try:
        match kind:
            case "call":
                return plain(await client.call_tool(name, arguments))
            case "read":
                return plain(await client.read_resource(name))
            case "prompt":
                return plain(await client.get_prompt(name, arguments))
    except MCPError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}}


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_unset=True)


asked = json.load(sys.stdin)
print(json.dumps(asyncio.run(answer(asked["command"], asked["questions"]))))  # noqa: T201 - what it is for
