"""`mcp.json` in a project, which belongs to no one tool."""

from mooring.discovery.dialect import SHARED
from mooring.discovery.format import Format, project

FORMAT = Format(
    tool="generic",
    title="mcp.json",
    places=(project("mcp.json"),),
    bare=True,
    ask_for_type=True,
    dialect=SHARED,
)
