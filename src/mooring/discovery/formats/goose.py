"""Goose: extensions in YAML, most of them parts of itself; times in seconds, secrets in a store of its own."""

from collections.abc import Mapping
from typing import Any

from mooring.core.definitions.template import SecretPart
from mooring.discovery.dialect import GOOSE
from mooring.discovery.format import (
    BASIC,
    SECONDS,
    Field,
    Format,
    Obeyed,
    Place,
    Writes,
    fields,
    system_files,
    user_file,
)
from mooring.discovery.values import EntryRefused, as_list, as_mapping, read_text_map, read_variable_names

_ROOT = "GOOSE_PATH_ROOT"

# Variables that would change which program runs, or what it loads.
_FORBIDDEN_VARIABLES = frozenset(
    {
        "PATH", "PATHEXT", "SYSTEMROOT", "WINDIR", "LD_LIBRARY_PATH", "LD_PRELOAD", "LD_AUDIT", "LD_DEBUG",
        "LD_BIND_NOW", "LD_ASSUME_KERNEL", "DYLD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "DYLD_FRAMEWORK_PATH",
        "PYTHONPATH", "PYTHONHOME", "NODE_OPTIONS", "RUBYOPT", "GEM_PATH", "GEM_HOME", "CLASSPATH", "GO111MODULE",
        "GOROOT", "APPINIT_DLLS", "SESSIONNAME", "COMSPEC", "TEMP", "TMP", "LOCALAPPDATA", "USERPROFILE", "HOMEDRIVE",
        "HOMEPATH",
    }
)  # fmt: skip


def _prepare(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    if raw.get("type") in ("stdio", "streamable_http") and "enabled" not in raw:
        raise EntryRefused("has no `enabled`, which Goose requires", "add `enabled: true` or `enabled: false`")
    _check_variables(raw.get("envs"))
    # An empty list offers every tool.
    tools = raw.get("available_tools") or None
    return {**raw, "available_tools": tools, **_rewrite_socket(raw)}


def _check_variables(envs: Any) -> None:
    forbidden = sorted(name for name in as_mapping(envs) if str(name).upper() in _FORBIDDEN_VARIABLES)
    if forbidden:
        raise EntryRefused(f"sets {forbidden[0]}, which Goose does not let extensions set", "remove it", "envs")


def _rewrite_socket(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """`socket` and the path of `uri` as one address: `unix:///path/of/socket#/path`."""
    socket, uri = raw.get("socket"), raw.get("uri")
    if socket in (None, ""):
        return {}
    if not isinstance(socket, str) or not socket.startswith("/") or not isinstance(uri, str):
        raise EntryRefused("is reached over a socket that has no path", "name a socket by its full path", "socket")
    path = uri.partition("://")[2].partition("/")[2]
    return {"uri": f"unix://{socket}#/{path}"}


def _entry_variables(raw: Mapping[str, Any]) -> Mapping[str, str | SecretPart]:
    """What `$NAME` in a header stands for: `envs` are values, `env_keys` names of secrets."""
    if raw.get("type") != "streamable_http":
        return {}
    names = read_variable_names(as_list(raw.get("env_keys")))
    secrets = {name: SecretPart(name, "goose", variable=True) for name in names}
    return {**secrets, **read_text_map(as_mapping(raw.get("envs")))}


_FIELDS = fields(
    type="type", cmd="command", args="args", envs="env", env_keys="env_secrets", uri="url", headers="headers",
    enabled="enabled", timeout=Field("call_timeout", SECONDS, whole=True), available_tools="tools_allow",
)  # fmt: skip

_USER = (
    user_file(f"${{{_ROOT}}}/config/config.yaml"),
    user_file("{xdg}/goose/config.yaml", platform="linux", unless_set=(_ROOT,)),
    user_file("{xdg}/goose/config.yaml", platform="darwin", unless_set=(_ROOT,)),
    user_file("{app}/Block/goose/config/config.yaml", platform="win32", unless_set=(_ROOT,)),
)

FORMAT = Format(
    tool="goose",
    title="Goose",
    places=(
        *_USER,
        Place("user", "${GOOSE_ADDITIONAL_CONFIG_FILES}", path_list=True),
        *system_files(
            "user",
            linux="/etc/goose/config.yaml",
            darwin="/etc/goose/config.yaml",
            win32="{programdata}/goose/config.yaml",
        ),
    ),
    key=("extensions",),
    fields=_FIELDS,
    types={"stdio": "stdio", "streamable_http": "http", "sse": "sse"},
    type_required=True,
    dialect=GOOSE,
    prepare=_prepare,
    entry_variables=_entry_variables,
    writes=Writes(
        user=_USER,
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
