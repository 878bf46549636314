"""Amazon Q CLI: its agents' files before the older `mcp.json`; a remote server must say so; agents list their tools."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from mooring.discovery.dialect import ENV
from mooring.discovery.format import COMMON, Format, RawEntry, ScanContext, Sheet, fields, project, user
from mooring.discovery.scan import maps


def _gather(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    for entry in maps(format, sheets, context):
        tools = entry.document.data.get("tools")
        listed = isinstance(tools, list) and isinstance(entry.raw, Mapping)
        yield replace(entry, raw={**entry.raw, **_offered(entry.name, tools)}) if listed else entry


def _offered(server: str, tools: list[Any]) -> Mapping[str, Any]:
    """An agent names `@server` for all of its tools, `@server/tool` for one."""
    if {"*", f"@{server}"} & {tool for tool in tools if isinstance(tool, str)}:
        return {}
    beginning = f"@{server}/"
    return {"offered": [str(tool)[len(beginning) :] for tool in tools if str(tool).startswith(beginning)]}


FORMAT = Format(
    tool="amazonq",
    title="Amazon Q CLI",
    places=(
        project(".amazonq/cli-agents/*.json"),
        project(".amazonq/mcp.json"),
        user("~/.aws/amazonq/cli-agents/*.json"),
        user("~/.aws/amazonq/mcp.json"),
    ),
    fields={**COMMON, **fields(timeout="call_timeout", oauthScopes="oauth_scopes", offered="tools_allow")},
    types={"stdio": "stdio", "http": "http"},
    untyped=None,
    dialect=ENV,
    gather=_gather,
)
