"""Amp: one key with a dot in it; rules of its own say what may start."""

from mooring.discovery.dialect import VARS
from mooring.discovery.format import COMMON, Format, Switch, fields, project, system, user

_MANAGED = system(
    "managed",
    linux="/etc/ampcode/managed-settings.json",
    darwin="/Library/Application Support/ampcode/managed-settings.json",
    win32="{programdata}/ampcode/managed-settings.json",
)
_USER = (user("{xdg}/amp/settings.json"), user("{xdg}/amp/settings.jsonc"))

FORMAT = Format(
    tool="amp",
    title="Amp",
    places=(*_MANAGED, project(".amp/settings.json"), project(".amp/settings.jsonc"), *_USER),
    key=("amp.mcpServers",),
    names="[A-Za-z0-9@/_-]+",
    fields={**COMMON, **fields(includeTools="tools_allow")},
    dialect=VARS,
    policies=tuple(Switch(place, ("amp.mcpPermissions",), "rules") for place in (*_MANAGED, *_USER)),
    trust_marks=tuple(Switch(place, ("amp.mcpTrustedServers",), "servers") for place in _USER),
)
