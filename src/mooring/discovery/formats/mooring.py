"""Mooring's own files: the common shape with every key that any tool has, published as a JSON schema."""

from mooring.discovery.dialect import MOORING
from mooring.discovery.format import BASIC, COMMON, Format, Obeyed, Writes, fields, project_file, user_file

LOGIN_KEYS = {
    "client_id": "clientId",
    "client_secret": "clientSecret",
    "callback_port": "callbackPort",
    "redirect_uri": "redirectUri",
    "scopes": "scopes",
    "metadata_url": "authServerMetadataUrl",
    "resource": "resource",
    "grant": "grantType",
    "credential_id": "credentialId",
    "private_key": "privateKey",
    "assertion": "assertion",
    "id_token": "idToken",
    "idp_token_endpoint": "idpTokenEndpoint",
    "idp_client_id": "idpClientId",
    "pkce": "pkce",
}
"""The fields of a login and Mooring's keys for them."""

FORMAT = Format(
    tool="mooring",
    title="Mooring",
    places=(project_file(".mooring/mcp.json"), user_file("{mooring}/mcp.json")),
    fields={
        **COMMON,
        **fields(
            passEnv="pass_env",
            startTimeout="start_timeout",
            callTimeout="call_timeout",
            maxInFlight="max_in_flight",
            maxMessageBytes="max_message_bytes",
            era="era",
            allowedTools="tools_allow",
            blockedTools="tools_deny",
        ),
    },
    closed=True,
    dialect=MOORING,
    writes=Writes(
        user=(user_file("{mooring}/mcp.json"),),
        project=(project_file(".mooring/mcp.json"),),
        slots=(
            *BASIC,
            "cwd",
            "pass_env",
            "env_file",
            "headers_helper",
            "enabled",
            "required",
            "start_timeout",
            "call_timeout",
            "max_in_flight",
            "max_message_bytes",
            "era",
            "tools_allow",
            "tools_deny",
            "oauth",
            "always_load",
            "lifecycle",
        ),
        oauth=LOGIN_KEYS,
    ),
    obeys=(
        Obeyed("agents", ".mooring/agents", "{mooring}/agents"),
        Obeyed("skills", ".mooring/skills", "{mooring}/skills"),
        Obeyed("commands", ".mooring/commands", "{mooring}/commands"),
        Obeyed("instructions", "", "{mooring}/AGENTS.md"),
    ),
)
