"""Tools inside editors: each takes entries in a shape of its own."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from mooring.discovery.dialect import CLINE, CONTINUE, LUA, PLAIN, ROO
from mooring.discovery.format import (
    BASIC,
    COMMON,
    NO_SERVER,
    PROJECT,
    SECONDS,
    Field,
    Folders,
    Format,
    Obeyed,
    Place,
    Remark,
    Switch,
    Writes,
    common_without,
    fields,
    files_in,
    obeyed_everywhere,
    obeyed_folders,
    project_file,
    user_file,
)
from mooring.discovery.values import EntryRefused, NoServer, as_mapping
from mooring.syntax.document import Document


def _prepare_zed(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    command = raw.get("command")
    if command is None and "url" not in raw:
        reason = f"is not a server to connect to: it {NO_SERVER['extension']}"
        raise NoServer(reason, "nothing to do; it is skipped", "settings" if "settings" in raw else None)
    # Older files have the program and its arguments inside `command`.
    if isinstance(command, Mapping):
        return {**raw, "command": command.get("path"), "args": command.get("args"), "env": command.get("env")}
    return raw


_ZED_FIELDS = fields(
    command="command", args="args", env="env", url="url", headers="headers", enabled="enabled", oauth="oauth",
    timeout=Field("call_timeout", SECONDS, whole=True),
)  # fmt: skip

# On macOS, too, Zed uses ~/.config, but without $XDG_CONFIG_HOME.
_ZED_USER = (
    user_file("{xdg}/zed/settings.json", platform="linux"),
    user_file("~/.config/zed/settings.json", platform="darwin"),
    user_file("{app}/Zed/settings.json", platform="win32"),
)

# Zed: `context_servers` in its settings, times in seconds; an entry that configures an extension is not a server.
ZED = Format(
    tool="zed",
    title="Zed",
    places=(project_file(".zed/settings.json"), *_ZED_USER),
    key=("context_servers",),
    fields=_ZED_FIELDS,
    defaults={"timeout": ("context_server_timeout",)},
    untyped_url="http",
    dialect=PLAIN,
    prepare=_prepare_zed,
    writes=Writes(
        user=_ZED_USER,
        slots=(*BASIC, "enabled", "call_timeout", "oauth"),
        types={},
        oauth={"client_id": "client_id", "client_secret": "client_secret"},
        # Without them, Zed takes the entry for the settings of an extension.
        always_args=True,
    ),
    obeys=(
        Obeyed("rules", ".rules"),
        Obeyed("hooks", ".zed/tasks.json", "{xdg}/zed/tasks.json"),
        Obeyed("settings", ".zed/settings.json", "{xdg}/zed/settings.json"),
    ),
)


_CLINE_NAME = "cline_mcp_settings.json"
# Cline clamps times, because people write milliseconds.
_CLINE_TIMEOUT = Field("call_timeout", SECONDS, (1, 3600))


def _prepare_cline(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """Take the keys of a nested `transport` out of it, so that both shapes are one."""
    return {**raw, **as_mapping(raw.get("transport"))}


_CLINE_CURRENT = (
    user_file("${CLINE_MCP_SETTINGS_PATH}"),
    user_file(f"${{CLINE_DATA_DIR}}/settings/{_CLINE_NAME}", unless_set=("CLINE_MCP_SETTINGS_PATH",)),
    user_file(
        f"${{CLINE_DIR:-~/.cline}}/data/settings/{_CLINE_NAME}",
        unless_set=("CLINE_MCP_SETTINGS_PATH", "CLINE_DATA_DIR"),
    ),
)

# Cline: seconds between 1 and 3600, a flat or a nested `transport`, live tokens that stay where they are.
CLINE_FORMAT = Format(
    tool="cline",
    title="Cline",
    places=(
        *_CLINE_CURRENT,
        # Where older versions of the extension kept it; newer ones move it from there.
        user_file(f"{{app}}/Code/User/globalStorage/saoudrizwan.claude-dev/settings/{_CLINE_NAME}"),
        user_file(f"~/Documents/Cline/MCP/{_CLINE_NAME}"),
    ),
    # Cline keeps live tokens in `oauth`, which stay where they are; the client is in `oauthClient`.
    fields={
        **common_without("transport", "oauth", "auth"),
        **fields(transportType="type", timeout=_CLINE_TIMEOUT, oauthClient="oauth"),
    },
    untyped_url="sse",
    dialect=CLINE,
    prepare=_prepare_cline,
    writes=Writes(
        user=_CLINE_CURRENT,
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
    fields={**COMMON, **fields(timeout=_CLINE_TIMEOUT, disabledTools="tools_deny")},
    types={"stdio": "stdio", "sse": "sse", "streamable-http": "http"},
    untyped_url=None,
    dialect=ROO,
    writes=Writes(
        user=(user_file(f"{_ROO_EDITORS[0]}/{_ROO_STORAGE}"),),
        slots=(*BASIC, "cwd", "call_timeout", "disabled", "tools_deny"),
        types={"stdio": "stdio", "http": "streamable-http", "sse": "sse"},
    ),
    obeys=(
        obeyed_everywhere("rules", ".roo/rules"),
        Obeyed("rules", ".roorules"),
        Obeyed("agents", ".roomodes"),
        *obeyed_folders(".roo", "commands", "skills"),
    ),
)


_CONTINUE_HOME = "${CONTINUE_GLOBAL_DIR:-~/.continue}"


# A folder of files, each with one server or several, which other tools' files can be copied into.
def _list_continue_blocks(make: Callable[..., Place], folder: str) -> tuple[Place, ...]:
    return tuple(make(f"{folder}/mcpServers/*.{suffix}") for suffix in ("yaml", "yml", "json"))


def _remark_on_continue(raw: Mapping[str, Any]) -> Iterable[Remark]:
    # Continue's own cookbooks write 30, which is 30 milliseconds.
    timeout = raw.get("connectionTimeout")
    if isinstance(timeout, int) and 0 < timeout < 1000:
        yield "connectionTimeout", f"is {timeout} milliseconds, where seconds may be meant", "write milliseconds"


# Continue: a list of servers with names, in YAML or in JSON files that others' tools could have written.
CONTINUE_FORMAT = Format(
    tool="continue",
    title="Continue",
    places=(
        *_list_continue_blocks(project_file, ".continue"),
        user_file(f"{_CONTINUE_HOME}/config.yaml"),
        *_list_continue_blocks(user_file, _CONTINUE_HOME),
    ),
    # A copied ~/.claude.json also has servers for single projects.
    other_keys=(("projects", PROJECT, "mcpServers"),),
    as_list=True,
    single_entry=True,
    fields={
        **common_without("timeout", "oauth", "auth"),
        **fields({"requestOptions.headers": "headers"}, apiKey="bearer", connectionTimeout="start_timeout"),
    },
    dialect=CONTINUE,
    remarks=_remark_on_continue,
    writes=Writes(
        project=(),
        slots=(*BASIC, "cwd", "start_timeout"),
        keys={"headers": "requestOptions.headers"},
        types={"stdio": "stdio", "http": "streamable-http", "sse": "sse"},
        name_key="name",
        starter={"name": "Local Config", "version": "1.0.0", "schema": "v1"},
    ),
    obeys=(
        obeyed_everywhere("rules", ".continue/rules"),
        Obeyed("rules", ".continuerules"),
        *obeyed_folders(".continue", "prompts", "agents"),
    ),
)


def _prepare_magenta(raw: Mapping[str, Any]) -> Mapping[str, Any]:
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


_MAGENTA_FIELDS = fields(
    {"requestInit.headers": "headers"}, command="command", args="args", env="env", url="url", enabled="enabled",
)  # fmt: skip


def _arrange_magenta(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"command": raw["command"], "args": [], **raw} if "command" in raw else raw


# magenta.nvim: no types and no placeholders; a list of tools makes an entry a mock.
MAGENTA = Format(
    tool="magenta",
    title="magenta.nvim",
    places=(project_file(".magenta/options.json"), user_file("~/.magenta/options.json")),
    name_pattern="[A-Za-z0-9-]+",
    fields=_MAGENTA_FIELDS,
    dialect=PLAIN,
    prepare=_prepare_magenta,
    writes=Writes(types={}, arrange=_arrange_magenta),
)


# Where people set up plugins: by hand, or in the folders that lazy.nvim and the common starter configurations read.
_LUA_FILES = ("init.lua", "lua/*.lua", "lua/plugins/*.lua", "lua/config/*.lua", "lua/custom/plugins/*.lua",
              "plugin/*.lua", "after/plugin/*.lua", "lua/*/magenta.lua", "lua/*/plugins/magenta.lua")  # fmt: skip


def _read_magenta_program(data: bytes) -> Document | None:
    # A configuration has dozens of files, and only one of them is about this.
    if b"magenta" not in data or b"mcpServers" not in data:
        return None
    from mooring.discovery.neovim import read_plugin_option  # only where there is such a file

    return read_plugin_option(data, "magenta", "mcpServers")


def _prepare_magenta_lua(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    from mooring.discovery.neovim import refuse_computed  # loaded already: it read the entry

    refuse_computed({key: raw[key] for key in ("command", "args", "env", "url", "requestInit", "tools") if key in raw})
    # An empty table of Lua is a list as much as a map.
    return _prepare_magenta({**raw, "args": []} if raw.get("args") == {} else raw)


_LUA_PLACES = tuple(
    Place("user", f"{{xdg}}/${{NVIM_APPNAME:-nvim}}/{path}", read_program=_read_magenta_program) for path in _LUA_FILES
)
# magenta.nvim in the Lua of a Neovim configuration: literal tables are read, and nothing is run.
MAGENTA_LUA = replace(
    MAGENTA, title="magenta.nvim (Lua)", places=_LUA_PLACES, dialect=LUA, prepare=_prepare_magenta_lua, writes=None
)
