"""magenta.nvim: no types and no placeholders; a list of tools makes an entry a mock; its Lua cannot be read."""

from collections.abc import Mapping
from typing import Any

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import NO_SERVER, Format, Unreadable, fields, project, user
from mooring.discovery.values import EntryRefused, NoServer

_LUA = ("{xdg}/nvim/init.lua", "{xdg}/nvim/lua/*.lua", "{xdg}/nvim/lua/plugins/*.lua", "{xdg}/nvim/plugin/*.lua")


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if isinstance(raw.get("tools"), list):
        raise NoServer(f"is no server to connect to: it {NO_SERVER['mock']}", "remove `tools` to make it one", "tools")
    if "url" in raw:
        return {**raw, "command": None}
    if "command" in raw and not isinstance(raw.get("args"), list):
        raise EntryRefused("has no list of `args`, which magenta.nvim requires", 'add "args": []')
    return raw


_FIELDS = fields(
    {"requestInit.headers": "headers"}, command="command", args="args", env="env", url="url", enabled="enabled",
)  # fmt: skip

FORMAT = Format(
    tool="magenta",
    title="magenta.nvim",
    places=(project(".magenta/options.json"), user("~/.magenta/options.json")),
    names="[A-Za-z0-9-]+",
    fields=_FIELDS,
    dialect=PLAIN,
    prepare=_prepare,
    unreadable=tuple(
        Unreadable(
            user(path),
            "The file sets up magenta.nvim in Lua, so the servers under its `mcpServers` cannot be read",
            "move them into ~/.magenta/options.json, under `mcpServers`",
            (b"magenta", b"mcpServers"),
        )
        for path in _LUA
    ),
)
