"""Zed: `context_servers` in its settings, times in seconds; what an extension sets up is no server of ours."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import NO_SERVER, SECONDS, Field, Format, fields, project, user
from mooring.discovery.values import NoServer


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    match raw.get("command"):
        case None if "url" not in raw:
            reason = f"is no server to connect to: it {NO_SERVER['extension']}"
            raise NoServer(reason, "nothing to do; it is left out", "settings" if "settings" in raw else None)
        case Mapping() as older:
            return {**raw, "command": older.get("path"), "args": older.get("args"), "env": older.get("env")}
        case _:
            return raw


_FIELDS = fields(
    command="command", args="args", env="env", url="url", headers="headers", enabled="enabled", oauth="oauth",
    timeout=Field("call_timeout", SECONDS),
)  # fmt: skip

FORMAT = Format(
    tool="zed",
    title="Zed",
    places=(
        project(".zed/settings.json"),
        user("{xdg}/zed/settings.json", only="linux"),
        user("~/.config/zed/settings.json", only="darwin"),
        user("{app}/Zed/settings.json", only="win32"),
    ),
    key=("context_servers",),
    fields=_FIELDS,
    defaults={"timeout": ("context_server_timeout",)},
    untyped="http",
    dialect=PLAIN,
    prepare=_prepare,
)
