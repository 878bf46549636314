"""Junie and JetBrains AI Assistant: the common shape without placeholders."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, project_file, user_file

FORMAT = Format(
    tool="junie",
    title="Junie",
    places=(project_file(".junie/mcp/mcp.json"), project_file(".ai/mcp/mcp.json"), user_file("~/.junie/mcp/mcp.json")),
    dialect=PLAIN,
)
