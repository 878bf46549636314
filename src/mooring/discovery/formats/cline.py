"""Cline: seconds between 1 and 3600, a flat or a nested `transport`, live tokens that stay where they are."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import CLINE, ROO
from mooring.discovery.format import (
    BASIC,
    COMMON,
    SECONDS,
    Field,
    Folders,
    Format,
    Obeyed,
    Switch,
    Writes,
    common_without,
    fields,
    files_in,
    obeyed_everywhere,
    project_file,
    user_file,
)
from mooring.discovery.values import as_mapping

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
        obeyed_everywhere("skills", ".cline/skills"),
        Obeyed("hooks", ".cline/hooks", "~/Documents/Cline/Hooks"),
    ),
)


_ROO_EDITORS = tuple(f"{{app}}/{name}/User" for name in ("Code", "Code - Insiders", "Cursor"))
_ROO_STORAGE = "globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json"
_ROO_MOVED = tuple(
    Switch(user_file(f"{editor}/settings.json"), ("roo-cline.customStoragePath",)) for editor in _ROO_EDITORS
)

# Roo Code: a URL needs a type, times are seconds between 1 and 3600; a setting of the editor may move its files.
ROO_FORMAT = Format(
    tool="roo",
    title="Roo Code",
    places=(
        *files_in(Folders("roo", registries=_ROO_MOVED), "settings/mcp_settings.json"),
        project_file(".roo/mcp.json"),
        *(user_file(f"{editor}/{_ROO_STORAGE}") for editor in _ROO_EDITORS),
    ),
    fields={**COMMON, **fields(timeout=TIMEOUT, disabledTools="tools_deny")},
    types={"stdio": "stdio", "sse": "sse", "streamable-http": "http"},
    untyped_url=None,
    dialect=ROO,
    writes=Writes(
        user=(user_file(f"{_ROO_EDITORS[0]}/{_ROO_STORAGE}"),),
        project=(project_file(".roo/mcp.json"),),
        slots=(*BASIC, "cwd", "call_timeout", "disabled", "tools_deny"),
        types={"stdio": "stdio", "http": "streamable-http", "sse": "sse"},
    ),
    obeys=(
        obeyed_everywhere("rules", ".roo/rules"),
        Obeyed("rules", ".roorules"),
        Obeyed("agents", ".roomodes"),
        obeyed_everywhere("commands", ".roo/commands"),
        obeyed_everywhere("skills", ".roo/skills"),
    ),
)
