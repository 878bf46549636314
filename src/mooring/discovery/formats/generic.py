"""`mcp.json` in a project, which belongs to no tool in particular."""

from mooring.discovery.dialect import CLAUDE, SHARED
from mooring.discovery.format import BASIC, Format, Writes, project_file

FORMAT = Format(
    tool="generic",
    title="mcp.json",
    places=(project_file("mcp.json"),),
    bare_map=True,
    suggest_type=True,
    dialect=SHARED,
    writes=Writes(project=(project_file("mcp.json"),), slots=(*BASIC, "cwd", "enabled", "timeout"), dialect=CLAUDE),
)
