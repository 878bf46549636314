"""Cursor: the common shape with an editor's placeholders; which servers are on is kept in its database."""

from mooring.discovery.dialect import VSCODE
from mooring.discovery.format import BASIC, Format, Obeyed, Writes, common_without, project_file, user_file

FORMAT = Format(
    tool="cursor",
    title="Cursor",
    # The last one is not documented, but others look there, too.
    places=(project_file(".cursor/mcp.json"), user_file("~/.cursor/mcp.json"), user_file("{app}/Cursor/User/mcp.json")),
    fields=common_without("timeout"),
    dialect=VSCODE,
    writes=Writes(
        user=(user_file("~/.cursor/mcp.json"),),
        project=(project_file(".cursor/mcp.json"),),
        slots=(*BASIC, "env_file", "oauth"),
        keys={"oauth": "auth"},
        types={},
        oauth={"client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET", "scopes": "scopes"},
    ),
    obeys=(
        Obeyed("agents", ".cursor/agents", "~/.cursor/agents"),
        Obeyed("skills", ".cursor/skills", "~/.cursor/skills"),
        Obeyed("commands", ".cursor/commands", "~/.cursor/commands"),
        Obeyed("rules", ".cursor/rules", "~/.cursor/rules"),
        Obeyed("rules", ".cursorrules"),
        Obeyed("hooks", ".cursor/hooks.json", "~/.cursor/hooks.json"),
    ),
)
