"""LM Studio: Cursor's shape without placeholders."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, user

FORMAT = Format(
    tool="lmstudio",
    title="LM Studio",
    places=(user("~/.lmstudio/mcp.json"), user("~/.cache/lm-studio/mcp.json")),
    dialect=PLAIN,
)
