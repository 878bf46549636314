"""Kimi Code: the common shape in files of its own."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, project, user

FORMAT = Format(
    tool="kimi",
    title="Kimi Code",
    places=(project(".kimi-code/mcp.json"), user("~/.kimi-code/mcp.json")),
    dialect=PLAIN,
)
