"""Agent Plugins (agent-plugins.org), in the folders of installed plugins: every entry says its type."""

from mooring.discovery.dialect import BRACES
from mooring.discovery.format import Format, Place, fields
from mooring.discovery.formats.claude_plugins import FOLDERS

FORMAT = Format(
    tool="shared",
    title="Agent Plugins",
    places=(Place("user", "{each}/mcp.json", each=FOLDERS),),
    fields=fields(type="type", command="command", args="args", env="env", cwd="cwd", url="url", headers="headers"),
    types={"stdio": "stdio", "http": "http", "sse": "sse"},
    typed=True,
    dialect=BRACES,
)
