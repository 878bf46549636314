"""Warp: the common shape under any of four keys."""

from mooring.discovery.dialect import VARS
from mooring.discovery.format import Format, fields, project, user, without

FORMAT = Format(
    tool="warp",
    title="Warp",
    places=(project(".warp/.mcp.json"), user("~/.warp/.mcp.json")),
    also=(("servers",), ("mcp", "servers"), ("mcp_servers",)),
    fields={
        **fields(serverUrl="url", working_directory="cwd", workingDirectory="cwd"),
        **without("timeout"),
    },
    dialect=VARS,
)
