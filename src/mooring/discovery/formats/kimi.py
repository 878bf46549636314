"""Kimi Code: the common shape in files of its own."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, project_file, user_file

FORMAT = Format(
    tool="kimi",
    title="Kimi Code",
    places=(project_file(".kimi-code/mcp.json"), user_file("~/.kimi-code/mcp.json")),
    dialect=PLAIN,
)
