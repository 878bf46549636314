"""Grok Build: tables of TOML under Codex's word for them."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, project, user

FORMAT = Format(
    tool="grok",
    title="Grok Build",
    places=(project(".grok/config.toml"), user("~/.grok/config.toml")),
    key=("mcp_servers",),
    dialect=PLAIN,
)
