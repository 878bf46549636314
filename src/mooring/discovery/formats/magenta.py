"""magenta.nvim: no types and no placeholders; a list of tools makes an entry a mock."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from mooring.discovery.dialect import LUA, PLAIN
from mooring.discovery.format import NO_SERVER, Format, Place, Writes, fields, project_file, user_file
from mooring.discovery.values import EntryRefused, NoServer
from mooring.syntax.document import Document


def prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    # An entry copied from Copilot's files, where `tools` is a filter, stops being a real server in magenta.nvim.
    if isinstance(raw.get("tools"), list):
        raise NoServer(
            f"is not a server to connect to: it {NO_SERVER['mock']}", "remove `tools` to make it one", "tools"
        )
    # A url wins over a command.
    if "url" in raw:
        return {**raw, "command": None}
    if "command" in raw and not isinstance(raw.get("args"), list):
        raise EntryRefused(
            "has no list of `args`, which magenta.nvim requires", "add `args`, as an empty list if there are none"
        )
    return raw


_FIELDS = fields(
    {"requestInit.headers": "headers"}, command="command", args="args", env="env", url="url", enabled="enabled",
)  # fmt: skip


def _arrange(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"command": raw["command"], "args": [], **raw} if "command" in raw else raw


FORMAT = Format(
    tool="magenta",
    title="magenta.nvim",
    places=(project_file(".magenta/options.json"), user_file("~/.magenta/options.json")),
    name_pattern="[A-Za-z0-9-]+",
    fields=_FIELDS,
    dialect=PLAIN,
    prepare=prepare,
    writes=Writes(
        user=(user_file("~/.magenta/options.json"),),
        project=(project_file(".magenta/options.json"),),
        types={},
        arrange=_arrange,
    ),
)


# Where people set up plugins: by hand, or in the folders that lazy.nvim and the common starter configurations read.
_LUA_FILES = ("init.lua", "lua/*.lua", "lua/plugins/*.lua", "lua/config/*.lua", "lua/custom/plugins/*.lua",
              "plugin/*.lua", "after/plugin/*.lua", "lua/*/magenta.lua", "lua/*/plugins/magenta.lua")  # fmt: skip


def _read_program(data: bytes) -> Document | None:
    # A configuration has dozens of files, and only one of them is about this.
    if b"magenta" not in data or b"mcpServers" not in data:
        return None
    from mooring.discovery.neovim import read_plugin_option  # only where there is such a file

    return read_plugin_option(data, "magenta", "mcpServers")


def _prepare_lua(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    from mooring.discovery.neovim import refuse_computed  # loaded already: it read the entry

    refuse_computed({key: raw[key] for key in ("command", "args", "env", "url", "requestInit", "tools") if key in raw})
    # An empty table of Lua is a list as much as a map.
    return prepare({**raw, "args": []} if raw.get("args") == {} else raw)


_LUA_PLACES = tuple(
    Place("user", f"{{xdg}}/${{NVIM_APPNAME:-nvim}}/{path}", read_program=_read_program) for path in _LUA_FILES
)
# magenta.nvim in the Lua of a Neovim configuration: literal tables are read, and nothing is run.
MAGENTA_LUA = replace(
    FORMAT, title="magenta.nvim (Lua)", places=_LUA_PLACES, dialect=LUA, prepare=_prepare_lua, writes=None
)
