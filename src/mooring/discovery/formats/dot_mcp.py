"""`.mcp.json`, which Claude Code began and many tools share; Claude's records say who approved which of its servers."""

from mooring.discovery.dialect import SHARED
from mooring.discovery.format import COMMON, PROJECT, Format, Switch, fields, project, user
from mooring.discovery.formats import claude

_SETTINGS = user(f"{claude.HOME}/settings.json")

FORMAT = Format(
    tool="claude-code",
    title="Claude Code (.mcp.json)",
    places=(project(".mcp.json"), user(f"{claude.HOME}/.mcp.json"), user("~/.mcp.json")),
    bare=True,
    fields={**COMMON, **fields(tools="tools_policy")},
    ask_for_type=True,
    dialect=SHARED,
    off=(
        claude.OFF,
        Switch(claude.OWN, ("projects", PROJECT, "disabledMcpjsonServers")),
        Switch(_SETTINGS, ("disabledMcpjsonServers",)),
        Switch(project(".claude/settings.json"), ("disabledMcpjsonServers",)),
        Switch(project(".claude/settings.local.json"), ("disabledMcpjsonServers",)),
    ),
    approved_in=(
        Switch(claude.OWN, ("projects", PROJECT, "enabledMcpjsonServers")),
        Switch(_SETTINGS, ("enabledMcpjsonServers",)),
        Switch(_SETTINGS, ("enableAllProjectMcpServers",), "true"),
    ),
    exclusive=claude.MANAGED,
    policies=claude.POLICIES,
)
