"""Kilo Code: OpenCode's shape in files of its own."""

from mooring.discovery.format import Format, project, user
from mooring.discovery.formats import opencode

FORMAT = Format(
    tool="kilo",
    title="Kilo Code",
    places=(
        project(".kilo/kilo.jsonc"),
        project(".kilo/kilo.json"),
        user("{xdg}/kilo/kilo.jsonc"),
        user("{xdg}/kilo/kilo.json"),
    ),
    key=("mcp",),
    fields=opencode.FORMAT.fields,
    types=opencode.FORMAT.types,
    dialect=opencode.FORMAT.dialect,
    prepare=opencode.FORMAT.prepare,
)
