"""Tools for a terminal: each takes entries in a shape of its own."""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from mooring.core.definitions.template import SecretPart
from mooring.discovery.dialect import ATOMIC, CLINE, CRUSH, GOOSE, MCPORTER
from mooring.discovery.format import (
    BASIC,
    COMMON,
    MINUTES,
    SECONDS,
    Field,
    Format,
    Obeyed,
    Place,
    RawEntry,
    ScanContext,
    Sheet,
    Slot,
    Unreadable,
    Writes,
    common_without,
    fields,
    obeyed_folders,
    project_file,
    system_files,
    user_file,
)
from mooring.discovery.scan import gather_entries
from mooring.discovery.values import (
    EntryRefused,
    NoServer,
    as_list,
    as_mapping,
    as_texts,
    read_text_map,
    read_variable_names,
)

_GOOSE_ROOT = "GOOSE_PATH_ROOT"

# Variables that would change which program runs, or what it loads.
_GOOSE_FORBIDDEN_VARIABLES = frozenset(
    {
        "PATH", "PATHEXT", "SYSTEMROOT", "WINDIR", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LD_DEBUG",
        "LD_BIND_NOW", "LD_ASSUME_KERNEL", "DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_FRAMEWORK_PATH",
        "PYTHONPATH", "PYTHONHOME", "NODE_OPTIONS", "RUBYOPT", "GEM_PATH", "GEM_HOME", "CLASSPATH", "GO111MODULE",
        "GOROOT", "APPINIT_DLLS", "SESSIONNAME", "COMSPEC", "TEMP", "TMP", "LOCALAPPDATA", "USERPROFILE", "HOMEDRIVE",
        "HOMEPATH",
    }
)  # fmt: skip


def _prepare_goose(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if raw.get("type") in ("stdio", "streamable_http") and "enabled" not in raw:
        raise EntryRefused("has no `enabled`, which Goose requires", "add `enabled: true` or `enabled: false`")
    _check_goose_variables(raw.get("envs"))
    # An empty list offers every tool.
    tools = raw.get("available_tools") or None
    return {**raw, "available_tools": tools, **_rewrite_goose_socket(raw)}


def _check_goose_variables(envs: Any) -> None:
    forbidden = sorted(name for name in as_mapping(envs) if str(name).upper() in _GOOSE_FORBIDDEN_VARIABLES)
    if forbidden:
        raise EntryRefused(f"sets {forbidden[0]}, which Goose does not let extensions set", "remove it", "envs")


def _rewrite_goose_socket(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """`socket` and the path of `uri` as one address: `unix:///path/of/socket#/path`."""
    socket, uri = raw.get("socket"), raw.get("uri")
    if socket in (None, ""):
        return {}
    if not isinstance(socket, str) or not socket.startswith("/") or not isinstance(uri, str):
        raise EntryRefused("is reached over a socket that has no path", "name a socket by its full path", "socket")
    path = uri.partition("://")[2].partition("/")[2]
    return {"uri": f"unix://{socket}#/{path}"}


def _list_goose_variables(raw: Mapping[str, Any]) -> Mapping[str, str | SecretPart]:
    """What `$NAME` in a header stands for: `envs` are values, `env_keys` names of secrets."""
    if raw.get("type") != "streamable_http":
        return {}
    names = read_variable_names(as_list(raw.get("env_keys")))
    secrets = {name: SecretPart(name, "goose", variable=True) for name in names}
    return {**secrets, **read_text_map(as_mapping(raw.get("envs")))}


_GOOSE_FIELDS = fields(
    type="type", cmd="command", args="args", envs="env", env_keys="env_secrets", uri="url", headers="headers",
    enabled="enabled", timeout=Field("call_timeout", SECONDS, whole=True), available_tools="tools_allow",
)  # fmt: skip

_GOOSE_USER = (
    user_file(f"${{{_GOOSE_ROOT}}}/config/config.yaml"),
    user_file("{xdg}/goose/config.yaml", platform="linux", unless_set=(_GOOSE_ROOT,)),
    user_file("{xdg}/goose/config.yaml", platform="darwin", unless_set=(_GOOSE_ROOT,)),
    user_file("{app}/Block/goose/config/config.yaml", platform="win32", unless_set=(_GOOSE_ROOT,)),
)

# Goose: extensions in YAML, most of them parts of itself; times in seconds, secrets in a store of its own.
GOOSE_FORMAT = Format(
    tool="goose",
    title="Goose",
    places=(
        *_GOOSE_USER,
        Place("user", "${GOOSE_ADDITIONAL_CONFIG_FILES}", path_list=True),
        *system_files("user", linux="/etc/goose/config.yaml", win32="{programdata}/goose/config.yaml"),
    ),
    key=("extensions",),
    fields=_GOOSE_FIELDS,
    types={"stdio": "stdio", "streamable_http": "http", "sse": "sse"},
    type_required=True,
    dialect=GOOSE,
    prepare=_prepare_goose,
    entry_variables=_list_goose_variables,
    writes=Writes(
        user=_GOOSE_USER,
        slots=(*BASIC, "env_secrets", "enabled", "call_timeout", "tools_allow"),
        types={"stdio": "stdio", "http": "streamable_http"},
        always={"enabled": True, "description": ""},
        # Without them, Goose leaves the extension out.
        always_args=True,
        name_key="name",
    ),
    obeys=(
        Obeyed("rules", ".goosehints", "{xdg}/goose/.goosehints"),
        Obeyed("commands", ".goose/recipes", "{xdg}/goose/recipes"),
        Obeyed("skills", ".goose/skills", "{xdg}/goose/skills"),
    ),
)


def _gather_amazonq(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    """The usual maps; an agent's file also lists the tools it may use, of all its servers together."""
    for entry in gather_entries(format, sheets, context):
        tools = entry.document.data.get("tools")
        if isinstance(tools, list) and isinstance(entry.raw, Mapping):
            yield replace(entry, raw={**entry.raw, **_list_amazonq_tools(entry.name, as_texts(tools))})
        else:
            yield entry


def _list_amazonq_tools(server: str, tools: list[str]) -> dict[str, list[str]]:
    """The tools of one server: an agent writes `@server` for all of them, `@server/tool` for one."""
    if not {"*", f"@{server}"}.isdisjoint(tools):
        return {}
    prefix = f"@{server}/"
    return {"offered": [tool.removeprefix(prefix) for tool in tools if tool.startswith(prefix)]}


# Amazon Q CLI: its agents' files before the older `mcp.json`; a remote server must say so; agents list their tools.
AMAZONQ = Format(
    tool="amazonq",
    title="Amazon Q CLI",
    places=(
        project_file(".amazonq/cli-agents/*.json"),
        project_file(".amazonq/mcp.json"),
        user_file("~/.aws/amazonq/cli-agents/*.json"),
        user_file("~/.aws/amazonq/mcp.json"),
    ),
    fields={**COMMON, **fields(timeout="call_timeout", oauthScopes="oauth_scopes", offered="tools_allow")},
    # Without a type, Amazon Q takes every entry for a program.
    types={"stdio": "stdio", "http": "http"},
    untyped_url=None,
    dialect=CLINE,
    gather=_gather_amazonq,
    writes=Writes(
        user=(user_file("~/.aws/amazonq/mcp.json"),),
        project=(project_file(".amazonq/mcp.json"),),
        slots=(*BASIC, "call_timeout", "disabled", "oauth_scopes"),
        types={"http": "http"},
    ),
    obeys=(
        Obeyed("agents", ".amazonq/cli-agents", "~/.aws/amazonq/cli-agents"),
        *obeyed_folders(".amazonq", "prompts", "rules", user="~/.aws/amazonq"),
    ),
)


def _list_crush_files(variable: str, usual: str, name: str) -> tuple[Place, Place]:
    """A file in a folder that a variable moves."""
    return user_file(f"${{{variable}}}/{name}"), user_file(f"{usual}/crush/{name}", unless_set=(variable,))


_CRUSH_CONFIG = ("CRUSH_GLOBAL_CONFIG", "{xdg}")
_CRUSH_SCRIPTS = (project_file(".crushrc"), project_file("crushrc"), *_list_crush_files(*_CRUSH_CONFIG, "crushrc"))


def _prepare_crush(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    # Crush writes the tokens of servers from other layers into its data file.
    if raw and raw.keys() <= {"oauth_token", "oauth_client_id", "oauth_client_secret"}:
        raise NoServer("is not a server: it only has the login of one", "nothing to do; it is skipped")
    return raw


_CRUSH_FIELDS = fields(
    type="type", command="command", args="args", env="env", url="url", headers="headers", disabled="disabled",
    enabled="enabled", timeout=Field("call_timeout", SECONDS, whole=True),
    disabled_tools="tools_deny", enabled_tools="tools_allow",
    oauth="oauth", oauth_client_id="oauth_client_id", oauth_client_secret="oauth_client_secret",
    oauth_callback_port="oauth_port",
)  # fmt: skip

_CRUSH_SLOTS: tuple[Slot, ...] = (
    *BASIC, "disabled", "call_timeout", "tools_allow", "tools_deny",
    "oauth_client_id", "oauth_client_secret", "oauth_port",
)  # fmt: skip

# Crush: values go through a shell; an entry may be only a login, and its other files are shell scripts.
CRUSH_FORMAT = Format(
    tool="crush",
    title="Crush",
    places=(
        project_file(".crush.json"),
        project_file("crush.json"),
        *_list_crush_files("CRUSH_GLOBAL_DATA", "{data}", "crush.json"),
        *_list_crush_files(*_CRUSH_CONFIG, "crush.json"),
        *system_files("user", linux="/etc/crush/crush.json", win32="{programdata}/crush/crush.json"),
    ),
    key=("mcp",),
    fields=_CRUSH_FIELDS,
    types={"stdio": "stdio", "http": "http", "sse": "sse"},
    type_required=True,
    dialect=CRUSH,
    prepare=_prepare_crush,
    unreadable=tuple(
        Unreadable(
            place,
            "The file is a shell script, so the servers that it sets up for Crush cannot be read",
            "move them to crush.json beside it, under `mcp`",
            (b"mcp",),
        )
        for place in _CRUSH_SCRIPTS
    ),
    writes=Writes(
        user=_list_crush_files(*_CRUSH_CONFIG, "crush.json"),
        project=(project_file(".crush.json"), project_file("crush.json")),
        slots=_CRUSH_SLOTS,
        types={"stdio": "stdio", "http": "http", "sse": "sse"},
    ),
    obeys=(
        Obeyed("rules", "CRUSH.md", "{xdg}/crush/CRUSH.md"),
        Obeyed("rules", "CRUSH.local.md"),
        *obeyed_folders(".crush", "commands", "skills", user="{xdg}/crush"),
    ),
)


def _prepare_atomic(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    timeout = raw.get("timeoutMs")
    if isinstance(timeout, int | float) and timeout <= 0:
        hint = "remove it, or set a time"
        raise EntryRefused("`timeoutMs` is not above 0, which Atomic does not accept", hint, "timeoutMs")
    # `auth` only names a kind of login or forbids one; what is known about the client is in `oauth`.
    if raw.get("auth") is False:
        return {**raw, "oauth": False}
    return {**raw, "auth": None}


_ATOMIC_FIELDS = {
    **common_without("timeout"),
    **fields(timeoutMs="call_timeout", requestTimeoutMs="call_timeout", bearerToken="bearer",
             bearerTokenEnv="bearer_env", includeTools="tools_allow", excludeTools="tools_deny",
             idleTimeout=Field("idle_timeout", MINUTES), httpTransport="type"),
}  # fmt: skip

# Atomic and pi: milliseconds for calls, minutes for rest, bearer tokens by value or by name, `~` in folders.
ATOMIC_FORMAT = Format(
    tool="atomic",
    title="Atomic",
    places=(
        project_file(".atomic/mcp.json"),
        project_file(".pi/mcp.json"),
        user_file("${ATOMIC_CODING_AGENT_DIR:-~/.atomic/agent}/mcp.json"),
        user_file("${ATOMIC_CODING_AGENT_DIR:-~/.pi/agent}/mcp.json"),
    ),
    other_keys=(("mcp-servers",),),
    fields=_ATOMIC_FIELDS,
    defaults={"idleTimeout": ("settings", "idleTimeout")},
    dialect=ATOMIC,
    prepare=_prepare_atomic,
    writes=Writes(
        slots=(*BASIC, "cwd", "call_timeout", "idle_timeout", "tools_deny", "lifecycle", "oauth"),
        types={},
        oauth={"client_id": "clientId", "client_secret": "clientSecret", "scopes": "scope", "grant": "grantType"},
        joined_scopes=True,
    ),
)


_MCPORTER_ALLOWED = {"allowedTools", "allowed_tools"}
_MCPORTER_BLOCKED = {"blockedTools", "blocked_tools"}


def _prepare_mcporter(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if _MCPORTER_ALLOWED & raw.keys() and _MCPORTER_BLOCKED & raw.keys():
        raise EntryRefused("names both allowed and blocked tools", "keep one of the two lists", "blockedTools")
    entry = {**raw, **_split_command(raw)}
    # `auth` only names a kind of login. The other lifecycle, "ephemeral", is what servers have here anyway.
    entry["auth"] = None
    if entry.get("lifecycle") != "keep-alive":
        entry["lifecycle"] = None
    return entry


def _split_command(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The program and its arguments, out of a list or a whole line; nothing if `command` is only a program."""
    match raw.get("command"):
        case [str(program), *rest]:
            return {"command": program, "args": [*rest, *(raw.get("args") or [])]}
        case str(line) if "args" not in raw and len(line.split()) > 1:
            return _split_line(line)
        case _:
            return {}


def _split_line(line: str) -> Mapping[str, Any]:
    from shlex import split  # only if a command is a whole line

    try:
        program, *rest = split(line)
    except ValueError:
        raise EntryRefused("`command` has an unclosed quote", "close it", "command") from None
    return {"command": program, "args": rest}


_MCPORTER_CAMEL: dict[str, Slot] = {
    "baseUrl": "url", "url": "url", "serverUrl": "url", "executable": "command", "bearerToken": "bearer",
    "bearerTokenEnv": "bearer_env", "allowedTools": "tools_allow", "blockedTools": "tools_deny",
    "oauthClientId": "oauth_client_id", "oauthClientSecret": "oauth_client_secret", "oauthScope": "oauth_scopes",
}  # fmt: skip


def _to_snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


_MCPORTER_SNAKE = {_to_snake(name): slot for name, slot in _MCPORTER_CAMEL.items()}
_MCPORTER_FIELDS = {**common_without("timeout"), **fields({**_MCPORTER_CAMEL, **_MCPORTER_SNAKE})}

_MCPORTER_USER = (
    user_file("${MCPORTER_CONFIG}"),
    *(
        user_file(f"{home}/mcporter.{kind}", unless_set=("MCPORTER_CONFIG",))
        for home in ("~/.mcporter", "{xdg}/mcporter")
        for kind in ("json", "jsonc")
    ),
)

_MCPORTER_SLOTS: tuple[Slot, ...] = (
    *BASIC, "cwd", "lifecycle", "tools_allow", "tools_deny",
    "oauth_client_id", "oauth_client_secret", "oauth_scopes",
)  # fmt: skip

# mcporter: two spellings of every key, a command as a line, a list or a word; an unset variable stops the start.
MCPORTER_FORMAT = Format(
    tool="mcporter",
    title="mcporter",
    places=(_MCPORTER_USER[0], project_file("config/mcporter.json"), *_MCPORTER_USER[1:]),
    fields=_MCPORTER_FIELDS,
    untyped_url="http",
    dialect=MCPORTER,
    prepare=_prepare_mcporter,
    relative_paths=True,
    writes=Writes(
        user=_MCPORTER_USER,
        slots=_MCPORTER_SLOTS,
        keys={"url": "baseUrl", "command": "command"},
        types={},
        joined_scopes=True,
    ),
)
