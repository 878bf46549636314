"""Qwen Code: Gemini's shape, but an address without a type is SSE, and its own state is elsewhere."""

from mooring.discovery.dialect import LOOSE
from mooring.discovery.format import Format, Switch, fields, project, user
from mooring.discovery.formats import gemini

_PLACES = (project(".qwen/settings.json"), user("~/.qwen/settings.json"))

FORMAT = Format(
    tool="qwen",
    title="Qwen Code",
    places=_PLACES,
    fields={**gemini.FIELDS, **fields(discoveryTimeoutMs="start_timeout", alwaysLoadTools="always_load")},
    untyped="sse",
    dialect=LOOSE,
    prepare=gemini.prepare,
    off=(
        *(Switch(place, ("mcp", "excluded"), fold=True) for place in _PLACES),
        *(Switch(place, ("mcp", "allowed"), "only", fold=True) for place in _PLACES),
        Switch(user("~/.qwen/mcp-server-enablement.json"), (), "states", fold=True),
    ),
)
