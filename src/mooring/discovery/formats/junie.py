"""Junie and JetBrains AI Assistant: the common shape without placeholders."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, Obeyed, Writes, project_file, user_file

FORMAT = Format(
    tool="junie",
    title="Junie",
    places=(project_file(".junie/mcp/mcp.json"), project_file(".ai/mcp/mcp.json"), user_file("~/.junie/mcp/mcp.json")),
    dialect=PLAIN,
    writes=Writes(user=(user_file("~/.junie/mcp/mcp.json"),), project=(project_file(".junie/mcp/mcp.json"),), types={}),
    obeys=(
        Obeyed("rules", ".junie/guidelines.md", "~/.junie/guidelines.md"),
        Obeyed("rules", ".junie/AGENTS.md"),
        Obeyed("agents", ".junie/agents", "~/.junie/agents"),
        Obeyed("skills", ".junie/skills", "~/.junie/skills"),
        Obeyed("commands", ".junie/commands", "~/.junie/commands"),
    ),
)
