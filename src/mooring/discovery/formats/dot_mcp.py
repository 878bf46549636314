"""`.mcp.json`, which Claude Code began and many tools share; Claude's records say who approved which of its servers."""

from mooring.discovery.dialect import SHARED
from mooring.discovery.format import COMMON, PROJECT, Format, Switch, fields, project, user
from mooring.discovery.formats import claude

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
        *(
            Switch(place, ("disabledMcpjsonServers",))
            for place in (claude.SETTINGS, *claude.MANAGED_SETTINGS, *claude.PROJECT_SETTINGS)
        ),
    ),
    approved_in=(
        Switch(claude.OWN, ("projects", PROJECT, "enabledMcpjsonServers")),
        Switch(claude.SETTINGS, ("enabledMcpjsonServers",)),
        Switch(claude.SETTINGS, ("enableAllProjectMcpServers",), "true"),
    ),
    trust_marks=(Switch(claude.OWN, ("projects", PROJECT, "hasTrustDialogAccepted"), "true"),),
    exclusive=claude.MANAGED,
    policies=claude.POLICIES,
)
