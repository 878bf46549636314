"""Cursor: the common shape with an editor's placeholders; which servers are on is kept in its database."""

from mooring.discovery.dialect import EDITOR
from mooring.discovery.format import Format, project, user, without

FORMAT = Format(
    tool="cursor",
    title="Cursor",
    places=(project(".cursor/mcp.json"), user("~/.cursor/mcp.json"), user("{app}/Cursor/User/mcp.json")),
    fields=without("timeout"),
    dialect=EDITOR,
)
