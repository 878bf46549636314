"""Junie and JetBrains AI Assistant: the common shape without placeholders."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, project, user

FORMAT = Format(
    tool="junie",
    title="Junie",
    places=(project(".junie/mcp/mcp.json"), project(".ai/mcp/mcp.json"), user("~/.junie/mcp/mcp.json")),
    dialect=PLAIN,
)
