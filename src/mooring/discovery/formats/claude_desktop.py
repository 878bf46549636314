"""Claude Desktop: programs only; what is remote it reaches through `mcp-remote`."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, user

FORMAT = Format(
    tool="claude-desktop",
    title="Claude Desktop",
    places=(
        user("{app}/Claude/claude_desktop_config.json"),
        user("{local}/Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json", only="win32"),
    ),
    dialect=PLAIN,
)
