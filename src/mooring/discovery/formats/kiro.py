"""Kiro, the successor of Amazon Q: the same shape, but a type is optional and placeholders are others."""

from mooring.discovery.dialect import AMP
from mooring.discovery.format import BASIC, COMMON, Format, Obeyed, Writes, fields, project_file, user_file

FORMAT = Format(
    tool="kiro",
    title="Kiro",
    places=(project_file(".kiro/settings/mcp.json"), user_file("~/.kiro/settings/mcp.json")),
    fields={**COMMON, **fields(timeout="call_timeout", disabledTools="tools_deny", oauthScopes="oauth_scopes")},
    dialect=AMP,
    writes=Writes(
        user=(user_file("~/.kiro/settings/mcp.json"),),
        project=(project_file(".kiro/settings/mcp.json"),),
        slots=(*BASIC, "disabled", "tools_deny", "oauth", "oauth_scopes"),
        types={},
        oauth={"client_id": "clientId", "redirect_uri": "redirectUri"},
    ),
    obeys=(
        Obeyed("rules", ".kiro/steering", "~/.kiro/steering"),
        Obeyed("hooks", ".kiro/hooks", "~/.kiro/hooks"),
        Obeyed("agents", ".kiro/agents", "~/.kiro/agents"),
        Obeyed("skills", ".kiro/skills", "~/.kiro/skills"),
        Obeyed("prompts", ".kiro/prompts", "~/.kiro/prompts"),
    ),
)
