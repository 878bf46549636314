"""GitHub Copilot CLI: `local` means stdio, `tools` lists what to offer, a project's file may be a bare map."""

from mooring.discovery.dialect import COPILOT
from mooring.discovery.format import COMMON, STANDARD_TYPES, Format, Switch, fields, project_file, user_file

HOME = "${COPILOT_HOME:-~/.copilot}"

FORMAT = Format(
    tool="copilot-cli",
    title="GitHub Copilot CLI",
    places=(
        project_file(".github/mcp-config.json"),
        project_file(".copilot/mcp-config.json"),
        project_file(".github/mcp.json"),
        user_file("~/.github/mcp-config.json"),
        user_file(f"{HOME}/mcp-config.json"),
    ),
    bare_map=True,
    name_pattern=r"[^\x00-\x1f\x7f}]+",
    fields={
        **COMMON,
        **fields(
            tools="tools_allow", timeout="call_timeout", oauthClientId="oauth_client_id", oauthGrantType="oauth_grant"
        ),
    },
    types={"local": "stdio", **STANDARD_TYPES},
    suggest_type=True,
    dialect=COPILOT,
    # Both lists apply together.
    off=(
        Switch(user_file(f"{HOME}/settings.json"), ("disabledMcpServers",)),
        Switch(project_file(".github/copilot/settings.json"), ("disabledMcpServers",)),
    ),
    trust_marks=(Switch(user_file(f"{HOME}/config.json"), ("trusted_folders",), "folders"),),
)
