"""magenta.nvim in the Lua of a Neovim configuration: literal tables are read, and nothing is run."""

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from mooring.discovery.dialect import LUA
from mooring.discovery.format import Place
from mooring.discovery.formats import magenta
from mooring.syntax.document import Document

# Where people set up plugins: by hand, or in the folders that lazy.nvim and the common starter configurations read.
_FILES = ("init.lua", "lua/*.lua", "lua/plugins/*.lua", "lua/config/*.lua", "lua/custom/plugins/*.lua", "plugin/*.lua",
          "after/plugin/*.lua", "lua/*/magenta.lua", "lua/*/plugins/magenta.lua")  # fmt: skip


def _read_program(data: bytes) -> Document | None:
    # A configuration has dozens of files, and only one of them is about this.
    if b"magenta" not in data or b"mcpServers" not in data:
        return None
    from mooring.discovery.neovim import read_plugin_option  # only where there is such a file

    return read_plugin_option(data, "magenta", "mcpServers")


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    from mooring.discovery.neovim import refuse_computed  # loaded already: it read the entry

    refuse_computed({key: raw[key] for key in ("command", "args", "env", "url", "requestInit", "tools") if key in raw})
    # An empty table of Lua is a list as much as a map.
    return magenta.prepare({**raw, "args": []} if raw.get("args") == {} else raw)


_PLACES = tuple(Place("user", f"{{xdg}}/${{NVIM_APPNAME:-nvim}}/{path}", read_program=_read_program) for path in _FILES)
FORMAT = replace(magenta.FORMAT, title="magenta.nvim (Lua)", places=_PLACES, dialect=LUA, prepare=_prepare, writes=None)
