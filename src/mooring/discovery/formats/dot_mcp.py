"""`.mcp.json`, which Claude Code began and many tools share; its approvals are in Claude Code's own files."""

from mooring.discovery.dialect import CLAUDE, SHARED
from mooring.discovery.format import BASIC, COMMON, PROJECT, Format, Switch, Writes, fields, project_file, user_file
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
    # Only what the person's own files say, and only about this project: a repository must not approve its own servers,
    # and a name approved for every project would approve whatever the next clone puts behind it.
    approved_in=(Switch(claude.OWN, ("projects", PROJECT, "enabledMcpjsonServers")),),
    trust_marks=(
        Switch(claude.SETTINGS, ("enabledMcpjsonServers",)),
        Switch(claude.SETTINGS, ("enableAllProjectMcpServers",), "true"),
        Switch(claude.OWN, ("projects", PROJECT, "hasTrustDialogAccepted"), "true"),
    ),
    exclusive=claude.MANAGED,
    policies=claude.POLICIES,
    only_managed_allow=claude.ONLY_MANAGED_ALLOW,
    writes=Writes(
        project=(project_file(".mcp.json"),),
        slots=(*BASIC, "timeout", "always_load", "headers_helper", "oauth"),
        types=claude.TYPES,
        oauth=claude.OAUTH,
        joined_scopes=True,
        dialect=CLAUDE,
    ),
)
