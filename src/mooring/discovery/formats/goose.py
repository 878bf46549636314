"""Goose: extensions in YAML, most of them parts of itself; times in seconds, secrets by name."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import NAMED
from mooring.discovery.format import SECONDS, Field, Format, fields, system, user
from mooring.discovery.values import Refused, mapping

_SOCKET = "is reached over a Unix socket inside Goose's own settings, which is not read here"


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if raw.get("type") in ("stdio", "streamable_http") and "enabled" not in raw:
        raise Refused("has no `enabled`, which Goose requires", "add `enabled: true` or `enabled: false`")
    if raw.get("socket"):
        raise Refused(_SOCKET, "use its address", "socket")
    tools = raw.get("available_tools")
    return {**raw, "available_tools": tools or None}


def _fixed(raw: Mapping[str, Any]) -> Mapping[str, str]:
    """What `$NAME` in a header stands for."""
    return mapping(raw["envs"]) if raw.get("type") == "streamable_http" and isinstance(raw.get("envs"), Mapping) else {}


_FIELDS = fields(
    type="type", cmd="command", args="args", envs="env", env_keys="pass_env", uri="url", headers="headers",
    enabled="enabled", timeout=Field("call_timeout", SECONDS), available_tools="tools_allow",
)  # fmt: skip

FORMAT = Format(
    tool="goose",
    title="Goose",
    places=(
        user("${GOOSE_ADDITIONAL_CONFIG_FILES}"),
        user("~/.config/goose/config.yaml", only="linux"),
        user("~/.config/goose/config.yaml", only="darwin"),
        user("{app}/Block/goose/config/config.yaml", only="win32"),
        *system(
            "user",
            linux="/etc/goose/config.yaml",
            darwin="/etc/goose/config.yaml",
            win32="{programdata}/goose/config.yaml",
        ),
    ),
    key=("extensions",),
    fields=_FIELDS,
    types={"stdio": "stdio", "streamable_http": "http", "sse": "sse"},
    typed=True,
    dialect=NAMED,
    prepare=_prepare,
    fixed=_fixed,
)
