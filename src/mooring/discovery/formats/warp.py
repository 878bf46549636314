"""Warp: the common shape under any of four keys."""

from mooring.discovery.dialect import AMP
from mooring.discovery.format import BASIC, Format, Obeyed, Writes, common_without, fields, project_file, user_file

FORMAT = Format(
    tool="warp",
    title="Warp",
    places=(project_file(".warp/.mcp.json"), user_file("~/.warp/.mcp.json")),
    other_keys=(("servers",), ("mcp", "servers"), ("mcp_servers",)),
    fields={
        **fields(serverUrl="url", working_directory="cwd", workingDirectory="cwd"),
        **common_without("timeout"),
    },
    dialect=AMP,
    writes=Writes(
        user=(user_file("~/.warp/.mcp.json"),),
        project=(project_file(".warp/.mcp.json"),),
        slots=(*BASIC, "cwd"),
        keys={"url": "url"},
        types={},
    ),
    obeys=(
        Obeyed("rules", "WARP.md"),
        Obeyed("skills", ".warp/skills", "~/.warp/skills"),
        Obeyed("commands", ".warp/workflows", "~/.warp/workflows"),
    ),
)
