"""Files that several tools share and none owns."""

from mooring.discovery.dialect import CLAUDE, SHARED
from mooring.discovery.format import BASIC, COMMON, Format, Obeyed, Writes, fields, project_file, user_file

FORMAT = Format(
    tool="shared",
    title="shared places",
    places=(
        project_file(".agents/mcp.json"),
        project_file(".agents/.mcp.json"),
        project_file(".agents/mcp_config.json"),
        user_file("{xdg}/mcp/mcp.json"),
        user_file("~/.agents/mcp.json"),
        user_file("~/.agents/.mcp.json"),
        user_file("~/.agents/mcp/mcp.json"),
        # Antigravity's, now and before.
        user_file("~/.gemini/config/mcp_config.json"),
        user_file("~/.gemini/antigravity/mcp_config.json"),
    ),
    fields={**fields(serverUrl="url"), **COMMON},
    suggest_type=True,
    dialect=SHARED,
    writes=Writes(
        user=(user_file("{xdg}/mcp/mcp.json"),),
        project=(project_file(".agents/mcp.json"),),
        keys={"url": "url"},
        dialect=CLAUDE,
    ),
    obeys=(
        Obeyed("skills", ".agents/skills", "~/.agents/skills"),
        Obeyed("agents", ".agents/agents", "~/.agents/agents"),
        Obeyed("commands", ".agents/commands", "~/.agents/commands"),
    ),
)


# `mcp.json` in a project, which belongs to no tool in particular.
GENERIC = Format(
    tool="generic",
    title="mcp.json",
    places=(project_file("mcp.json"),),
    bare_map=True,
    suggest_type=True,
    dialect=SHARED,
    writes=Writes(project=(project_file("mcp.json"),), slots=(*BASIC, "cwd", "enabled", "timeout"), dialect=CLAUDE),
)
