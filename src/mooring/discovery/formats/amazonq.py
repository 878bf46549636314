"""Amazon Q CLI: its agents' files before the older `mcp.json`; a remote server must say so; agents list their tools."""

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from mooring.discovery.dialect import CLINE
from mooring.discovery.format import (
    BASIC,
    COMMON,
    Format,
    Obeyed,
    RawEntry,
    ScanContext,
    Sheet,
    Writes,
    fields,
    project_file,
    user_file,
)
from mooring.discovery.scan import gather_entries
from mooring.discovery.values import as_texts


def _gather(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    """The usual maps; an agent's file also lists the tools it may use, of all its servers together."""
    for entry in gather_entries(format, sheets, context):
        tools = entry.document.data.get("tools")
        if isinstance(tools, list) and isinstance(entry.raw, Mapping):
            yield replace(entry, raw={**entry.raw, **_offered_tools(entry.name, as_texts(tools))})
        else:
            yield entry


def _offered_tools(server: str, tools: list[str]) -> dict[str, list[str]]:
    """The tools of one server: an agent writes `@server` for all of them, `@server/tool` for one."""
    if not {"*", f"@{server}"}.isdisjoint(tools):
        return {}
    prefix = f"@{server}/"
    return {"offered": [tool.removeprefix(prefix) for tool in tools if tool.startswith(prefix)]}


FORMAT = Format(
    tool="amazonq",
    title="Amazon Q CLI",
    places=(
        project_file(".amazonq/cli-agents/*.json"),
        project_file(".amazonq/mcp.json"),
        user_file("~/.aws/amazonq/cli-agents/*.json"),
        user_file("~/.aws/amazonq/mcp.json"),
    ),
    fields={**COMMON, **fields(timeout="call_timeout", oauthScopes="oauth_scopes", offered="tools_allow")},
    # Without a type, Amazon Q takes every entry for a program.
    types={"stdio": "stdio", "http": "http"},
    untyped_url=None,
    dialect=CLINE,
    gather=_gather,
    writes=Writes(
        user=(user_file("~/.aws/amazonq/mcp.json"),),
        project=(project_file(".amazonq/mcp.json"),),
        slots=(*BASIC, "call_timeout", "disabled", "oauth_scopes"),
        types={"http": "http"},
    ),
    obeys=(
        Obeyed("agents", ".amazonq/cli-agents", "~/.aws/amazonq/cli-agents"),
        Obeyed("prompts", ".amazonq/prompts", "~/.aws/amazonq/prompts"),
        Obeyed("rules", ".amazonq/rules", "~/.aws/amazonq/rules"),
    ),
)
