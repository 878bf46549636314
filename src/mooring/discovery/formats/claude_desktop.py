"""Claude Desktop: programs only; it reaches remote servers through `mcp-remote`."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import PROGRAM, Format, Writes, user_file

FORMAT = Format(
    tool="claude-desktop",
    title="Claude Desktop",
    places=(
        user_file("{app}/Claude/claude_desktop_config.json"),
        # Builds from the Microsoft Store keep a copy of their own.
        user_file("{local}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json", platform="win32"),
    ),
    dialect=PLAIN,
    writes=Writes(user=(user_file("{app}/Claude/claude_desktop_config.json"),), slots=PROGRAM),
)
