"""Gemini CLI: an old word for HTTP, names compared without regard to case, servers switched off in three places."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import LOOSE
from mooring.discovery.format import COMMON, NO_SERVER, Format, Place, Switch, fields, project, system, user
from mooring.discovery.values import NoServer

_HOME = "${GEMINI_CLI_HOME:-~}/.gemini"
_OVER = system(
    "managed",
    linux="/etc/gemini-cli/settings.json",
    darwin="/Library/Application Support/GeminiCli/settings.json",
    win32="{programdata}/gemini-cli/settings.json",
)
_UNDER = system(
    "user",
    linux="/etc/gemini-cli/system-defaults.json",
    darwin="/Library/Application Support/GeminiCli/system-defaults.json",
    win32="{programdata}/gemini-cli/system-defaults.json",
)
_PLACES = (*_OVER, project(".gemini/settings.json"), user(f"{_HOME}/settings.json"), *_UNDER)
_EXTENSIONS = Place("user", f"{_HOME}/extensions/*/gemini-extension.json", here=("extensionPath",))


def prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The older `httpUrl` says the type, and counts before `url`."""
    if "tcp" in raw and not {"command", "url", "httpUrl"} & raw.keys():
        raise NoServer(f"is no server to connect to: it {NO_SERVER['tcp']}", "nothing to do; it is left out", "tcp")
    return {**raw, "url": None, "type": "http"} if raw.get("httpUrl") else raw


FIELDS = {
    **fields(httpUrl="url"),
    **COMMON,
    **fields(timeout="call_timeout", includeTools="tools_allow", excludeTools="tools_deny"),
}

FORMAT = Format(
    tool="gemini",
    title="Gemini CLI",
    places=(*_PLACES, _EXTENSIONS),
    fields=FIELDS,
    dialect=LOOSE,
    prepare=prepare,
    off=(
        *(Switch(place, ("mcp", "excluded"), fold=True) for place in _PLACES),
        *(Switch(place, ("mcp", "allowed"), "only", fold=True) for place in _PLACES),
        Switch(user(f"{_HOME}/mcp-server-enablement.json"), (), "states", fold=True),
    ),
)
