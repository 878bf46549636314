"""Windsurf and its successor Devin: `serverUrl` beside `url`, files and variables in placeholders."""

from mooring.discovery.dialect import WINDSURF
from mooring.discovery.format import BASIC, COMMON, Format, Obeyed, Writes, fields, project_file, user_file

FORMAT = Format(
    tool="windsurf",
    title="Windsurf",
    # The third of the person's files is that of the plugin for JetBrains.
    places=(
        project_file(".windsurf/mcp_config.json"),
        project_file(".devin/mcp_config.json"),
        user_file("~/.codeium/windsurf/mcp_config.json"),
        user_file("~/.codeium/windsurf-next/mcp_config.json"),
        user_file("~/.codeium/mcp_config.json"),
        user_file("{xdg}/devin/mcp_config.json"),
    ),
    fields={**fields(serverUrl="url"), **COMMON, **fields(disabledTools="tools_deny")},
    dialect=WINDSURF,
    writes=Writes(
        user=(user_file("~/.codeium/windsurf/mcp_config.json"),),
        project=(project_file(".windsurf/mcp_config.json"),),
        slots=(*BASIC, "disabled", "tools_deny"),
        types={},
    ),
    obeys=(
        Obeyed("rules", ".windsurf/rules"),
        Obeyed("rules", ".windsurfrules"),
        Obeyed("commands", ".windsurf/workflows", "~/.codeium/windsurf/global_workflows"),
        Obeyed("skills", ".windsurf/skills"),
        Obeyed("hooks", ".windsurf/hooks.json", "~/.codeium/windsurf/hooks.json"),
    ),
)
