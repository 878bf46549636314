"""Kimi Code: the common shape in files of its own."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, Obeyed, project_file, user_file

FORMAT = Format(
    tool="kimi",
    title="Kimi Code",
    places=(project_file(".kimi-code/mcp.json"), user_file("~/.kimi-code/mcp.json")),
    dialect=PLAIN,
    obeys=(
        Obeyed("skills", ".kimi-code/skills", "~/.kimi-code/skills"),
        Obeyed("agents", ".kimi-code/agents", "~/.kimi-code/agents"),
    ),
)
