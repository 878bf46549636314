"""LM Studio: Cursor's shape without placeholders."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import BASIC, Format, Writes, user_file

FORMAT = Format(
    tool="lmstudio",
    title="LM Studio",
    # Some installations on macOS use the second one.
    places=(user_file("~/.lmstudio/mcp.json"), user_file("~/.cache/lm-studio/mcp.json")),
    dialect=PLAIN,
    writes=Writes(
        user=(user_file("~/.lmstudio/mcp.json"),),
        slots=(*BASIC, "oauth"),
        keys={"oauth": "auth"},
        types={},
        oauth={"client_id": "CLIENT_ID", "client_secret": "CLIENT_SECRET"},
    ),
)
