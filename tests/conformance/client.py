"""The client under test in the official conformance suite: everything it says is said by `mooring.connect`.

It uses all that a server offers, once: it calls every tool, reads every resource, fills in every prompt.
"""

import asyncio
import json
import os
import sys
from collections.abc import Mapping
from typing import Any

import mooring

SAMPLES: dict[str, Any] = {"string": "text", "integer": 2, "number": 3, "boolean": True, "array": [], "object": {}}


async def main(url: str) -> None:
    context = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    async with mooring.connect(url, client=mooring.Client(elicit=accept)) as session:
        for name, arguments in calls(session, context):
            await tolerate(session.call_tool(name, arguments))
        for resource in (await session.list_resources()).items:
            await tolerate(session.read_resource(resource.uri))
        for prompt in (await session.list_prompts()).items:
            await tolerate(session.get_prompt(prompt.name, {each.name: "text" for each in prompt.arguments or ()}))


def calls(session: mooring.Session, context: Mapping[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The calls a scenario asks for, or each tool with the arguments it cannot do without."""
    if wanted := context.get("toolCalls"):
        return [(call["name"], call["arguments"]) for call in wanted]
    return [(tool.name, needed(tool.schema)) for tool in session.tools.items]


def needed(schema: Mapping[str, Any]) -> dict[str, Any]:
    properties = schema.get("properties", {})
    return {name: SAMPLES.get(properties.get(name, {}).get("type"), "text") for name in schema.get("required", ())}


async def accept(params: dict[str, Any]) -> Mapping[str, Any]:
    """A person who sends every form as it was shown to them."""
    fields = params.get("requestedSchema", {}).get("properties", {})
    content = {name: field["default"] for name, field in fields.items() if "default" in field}
    return {"action": "accept", "content": content}


async def tolerate(work: Any) -> None:
    """A server may well refuse; the connection must not suffer from it."""
    try:
        await work
    except mooring.RpcError as error:
        sys.stderr.write(f"{error}\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
