"""GitHub Copilot CLI: `local` means stdio, `tools` lists what to offer, a project's file may be a bare map."""

from mooring.discovery.dialect import DOLLAR
from mooring.discovery.format import COMMON, STANDARD_TYPES, Format, Switch, fields, project, user

HOME = "${COPILOT_HOME:-~/.copilot}"

FORMAT = Format(
    tool="copilot-cli",
    title="GitHub Copilot CLI",
    places=(
        project(".github/mcp-config.json"),
        project(".copilot/mcp-config.json"),
        project(".github/mcp.json"),
        user("~/.github/mcp-config.json"),
        user(f"{HOME}/mcp-config.json"),
    ),
    bare=True,
    names=r"[^\x00-\x1f\x7f}]+",
    fields={
        **COMMON,
        **fields(
            tools="tools_allow", timeout="call_timeout", oauthClientId="oauth_client_id", oauthGrantType="oauth_grant"
        ),
    },
    types={"local": "stdio", **STANDARD_TYPES},
    ask_for_type=True,
    dialect=DOLLAR,
    off=(
        Switch(user(f"{HOME}/settings.json"), ("disabledMcpServers",)),
        Switch(project(".github/copilot/settings.json"), ("disabledMcpServers",)),
    ),
    trust_marks=(Switch(user(f"{HOME}/config.json"), ("trusted_folders",), "folders"),),
)
