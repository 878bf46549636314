"""Kilo Code: OpenCode's shape in files of its own."""

from msgspec.structs import replace

from mooring.discovery.format import Format, Obeyed, project_file, user_file
from mooring.discovery.formats import opencode

FORMAT = Format(
    tool="kilo",
    title="Kilo Code",
    places=(
        project_file(".kilo/kilo.jsonc"),
        project_file(".kilo/kilo.json"),
        user_file("{xdg}/kilo/kilo.jsonc"),
        user_file("{xdg}/kilo/kilo.json"),
    ),
    # Not OpenCode's `gather`: these files are not layers, and the higher entry wins as a whole.
    key=("mcp",),
    fields=opencode.FORMAT.fields,
    types=opencode.FORMAT.types,
    dialect=opencode.FORMAT.dialect,
    prepare=opencode.FORMAT.prepare,
    writes=replace(
        opencode.WRITES,
        user=(user_file("{xdg}/kilo/kilo.jsonc"), user_file("{xdg}/kilo/kilo.json")),
        project=(project_file(".kilo/kilo.jsonc"), project_file(".kilo/kilo.json")),
    ),
    obeys=(
        Obeyed("rules", ".kilocode/rules", "~/.kilocode/rules"),
        Obeyed("commands", ".kilocode/workflows", "~/.kilocode/workflows"),
        Obeyed("agents", ".kilocodemodes"),
        Obeyed("skills", ".kilocode/skills", "~/.kilocode/skills"),
    ),
)
