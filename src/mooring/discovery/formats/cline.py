"""Cline: seconds between 1 and 3600, a flat or a nested `transport`, live tokens that stay where they are."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import CLINE
from mooring.discovery.format import BASIC, SECONDS, Field, Format, Obeyed, Writes, common_without, fields, user_file
from mooring.discovery.untyped import as_mapping

_NAME = "cline_mcp_settings.json"
# Cline clamps times, because people write milliseconds.
TIMEOUT = Field("call_timeout", SECONDS, (1, 3600))


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take the keys of a nested `transport` out of it, so that both shapes are one."""
    return {**raw, **as_mapping(raw.get("transport"))}


_CURRENT = (
    user_file("${CLINE_MCP_SETTINGS_PATH}"),
    user_file(f"${{CLINE_DATA_DIR}}/settings/{_NAME}", unless_set=("CLINE_MCP_SETTINGS_PATH",)),
    user_file(
        f"${{CLINE_DIR:-~/.cline}}/data/settings/{_NAME}", unless_set=("CLINE_MCP_SETTINGS_PATH", "CLINE_DATA_DIR")
    ),
)

FORMAT = Format(
    tool="cline",
    title="Cline",
    places=(
        *_CURRENT,
        # Where older versions of the extension kept it; newer ones move it from there.
        user_file(f"{{app}}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/{_NAME}"),
        user_file(f"~/Documents/Cline/MCP/{_NAME}"),
    ),
    # Cline keeps live tokens in `oauth`, which stay where they are; the client is in `oauthClient`.
    fields={
        **common_without("transport", "oauth", "auth"),
        **fields(transportType="type", timeout=TIMEOUT, oauthClient="oauth"),
    },
    untyped_url="sse",
    dialect=CLINE,
    prepare=_prepare,
    writes=Writes(
        user=_CURRENT,
        slots=(*BASIC, "call_timeout", "disabled", "oauth"),
        types={"stdio": "stdio", "http": "streamableHttp", "sse": "sse"},
        oauth={"client_id": "clientId", "client_secret": "clientSecret"},
    ),
    obeys=(
        Obeyed("rules", ".clinerules", "~/Documents/Cline/Rules"),
        Obeyed("commands", ".cline/workflows", "~/Documents/Cline/Workflows"),
        Obeyed("skills", ".cline/skills", "~/.cline/skills"),
        Obeyed("hooks", ".cline/hooks", "~/Documents/Cline/Hooks"),
    ),
)
