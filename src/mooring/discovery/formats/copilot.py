"""GitHub Copilot CLI: `local` means stdio, `tools` lists what to offer, a project's file may be a bare map."""

from mooring.discovery.dialect import DOLLAR
from mooring.discovery.format import COMMON, STANDARD_TYPES, Format, Switch, fields, project, user

_HOME = "${COPILOT_HOME:-~/.copilot}"

FORMAT = Format(
    tool="copilot-cli",
    title="GitHub Copilot CLI",
    places=(
        project(".github/mcp-config.json"),
        project(".copilot/mcp-config.json"),
        project(".github/mcp.json"),
        user("~/.github/mcp-config.json"),
        user(f"{_HOME}/mcp-config.json"),
    ),
    bare=True,
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
        Switch(user(f"{_HOME}/settings.json"), ("disabledMcpServers",)),
        Switch(project(".github/copilot/settings.json"), ("disabledMcpServers",)),
    ),
)
