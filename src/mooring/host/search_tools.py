"""The two tools that a client is shown instead of all: one to find tools, one to call what was found."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Raw, json

from mooring.conversation.deferral import DEFAULT_LIMIT, MAX_LIMIT
from mooring.core.protocol.result import Result
from mooring.core.protocol.tool import Hints, Tool
from mooring.errors import BadArguments
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.results.outcome import json_result

SEARCH: Final = "ToolSearch"
CALL: Final = "ToolCall"


def make_search_tools(servers: str) -> tuple[Tool, Tool]:
    """The definitions of both; `servers` names what can be found."""
    search = {
        "query": {"type": "string", "description": "What the tool should do, in a few words."},
        "limit": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    }
    call = {
        "name": {"type": "string", "description": f"The name of a tool, as {SEARCH} gives it."},
        "arguments": {"type": "object", "description": "Its arguments, by its inputSchema."},
    }
    return (
        Tool(
            name=SEARCH,
            description=f"Find tools of MCP servers by what they do; {CALL} calls them. Servers: {servers}.",
            input_schema=_make_schema(search, "query"),
            annotations=Hints(read_only_hint=True),
        ),
        Tool(
            name=CALL,
            description=f"Call a tool that {SEARCH} found, and get its result.",
            input_schema=_make_schema(call, "name"),
        ),
    )


def read_search(arguments: Mapping[str, Any]) -> tuple[str, int]:
    """What to search for, and how many tools to give. Raises: BadArguments."""
    query, limit = arguments.get("query"), arguments.get("limit", DEFAULT_LIMIT)
    if not isinstance(query, str):
        raise _make_error(SEARCH, "query has to be a text")
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= MAX_LIMIT:
        raise _make_error(SEARCH, f"limit has to be a number from 1 to {MAX_LIMIT}")
    return query, limit


def read_call(arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Which tool to call, and with what. Raises: BadArguments."""
    name, given = arguments.get("name"), arguments.get("arguments") or {}
    if not isinstance(name, str) or not isinstance(given, dict):
        raise _make_error(CALL, "name has to be a text, and arguments an object")
    return name, given


def describe_found(found: Mapping[str, CatalogEntry]) -> Result:
    """What a search found, by the names that the client is shown."""
    return json_result(
        [
            {"name": name, "description": entry.description, "inputSchema": entry.definition.input_schema}
            for name, entry in found.items()
        ]
    )


def _make_schema(properties: Mapping[str, Any], required: str) -> Raw:
    return Raw(json.encode({"type": "object", "properties": properties, "required": [required]}))


def _make_error(tool: str, words: str) -> BadArguments:
    return BadArguments("Mooring", "tools/call", words, words=f"{tool} was not called: {words}.")
