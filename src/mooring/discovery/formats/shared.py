"""Places that several tools share and none owns."""

from mooring.discovery.dialect import SHARED
from mooring.discovery.format import COMMON, Format, fields, project, user

FORMAT = Format(
    tool="shared",
    title="shared places",
    places=(
        project(".agents/mcp.json"),
        project(".agents/.mcp.json"),
        project(".agents/mcp_config.json"),
        user("{xdg}/mcp/mcp.json"),
        user("~/.agents/mcp.json"),
        user("~/.agents/.mcp.json"),
        user("~/.agents/mcp/mcp.json"),
        user("~/.gemini/config/mcp_config.json"),
        user("~/.gemini/antigravity/mcp_config.json"),
    ),
    fields={**fields(serverUrl="url"), **COMMON},
    ask_for_type=True,
    dialect=SHARED,
)
