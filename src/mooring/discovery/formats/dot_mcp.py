"""`.mcp.json`, which Claude Code began and many tools share; its approvals are in Claude Code's own files."""

from mooring.discovery.dialect import SHARED
from mooring.discovery.format import COMMON, PROJECT, Format, Switch, fields, project_file, user_file
from mooring.discovery.formats import claude

FORMAT = Format(
    tool="claude-code",
    title="Claude Code (.mcp.json)",
    places=(project_file(".mcp.json"), user_file(f"{claude.HOME}/.mcp.json"), user_file("~/.mcp.json")),
    bare_map=True,
    fields={**COMMON, **fields(tools="tools_policy")},
    suggest_type=True,
    dialect=SHARED,
    off=(
        claude.OFF,
        Switch(claude.OWN, ("projects", PROJECT, "disabledMcpjsonServers")),
        *(
            Switch(place, ("disabledMcpjsonServers",))
            for place in (claude.SETTINGS, *claude.MANAGED_SETTINGS, *claude.PROJECT_SETTINGS)
        ),
    ),
    # Only what the person's own files say: a repository must not approve its own servers.
    approved_in=(
        Switch(claude.OWN, ("projects", PROJECT, "enabledMcpjsonServers")),
        Switch(claude.SETTINGS, ("enabledMcpjsonServers",)),
        Switch(claude.SETTINGS, ("enableAllProjectMcpServers",), "true"),
    ),
    trust_marks=(Switch(claude.OWN, ("projects", PROJECT, "hasTrustDialogAccepted"), "true"),),
    exclusive=claude.MANAGED,
    policies=claude.POLICIES,
    only_managed_allow=claude.ONLY_MANAGED_ALLOW,
)
