"""Grok Build: TOML tables under the same key as Codex's."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, Obeyed, project_file, user_file

FORMAT = Format(
    tool="grok",
    title="Grok Build",
    places=(project_file(".grok/config.toml"), user_file("~/.grok/config.toml")),
    key=("mcp_servers",),
    dialect=PLAIN,
    obeys=(
        Obeyed("rules", "GROK.md", "~/.grok/GROK.md"),
        Obeyed("skills", ".grok/skills", "~/.grok/skills"),
        Obeyed("hooks", ".grok/hooks", "~/.grok/hooks"),
    ),
)
