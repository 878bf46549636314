"""Windsurf and its successor Devin: `serverUrl` beside `url`, files and variables in placeholders."""

from mooring.discovery.dialect import FILES
from mooring.discovery.format import COMMON, Format, fields, project, user

FORMAT = Format(
    tool="windsurf",
    title="Windsurf",
    places=(
        project(".windsurf/mcp_config.json"),
        project(".devin/mcp_config.json"),
        user("~/.codeium/windsurf/mcp_config.json"),
        user("~/.codeium/windsurf-next/mcp_config.json"),
        user("~/.codeium/mcp_config.json"),
        user("{xdg}/devin/mcp_config.json"),
    ),
    fields={**fields(serverUrl="url"), **COMMON, **fields(disabledTools="tools_deny")},
    dialect=FILES,
)
