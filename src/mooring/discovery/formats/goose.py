"""Goose: extensions in YAML, most of them parts of itself; times in seconds, secrets in a store of its own."""

from collections.abc import Mapping
from typing import Any

from mooring.core.template import SecretPart
from mooring.discovery.dialect import NAMED
from mooring.discovery.format import SECONDS, Field, Format, Place, fields, system, user
from mooring.discovery.values import EntryRefused, mapping, variable_names

_ROOT = "GOOSE_PATH_ROOT"
_REFUSED = frozenset(
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
    envs = raw.get("envs")
    if taken := sorted(name for name in envs if str(name).upper() in _REFUSED) if isinstance(envs, Mapping) else ():
        raise EntryRefused(f"sets {taken[0]}, which Goose lets no extension set", "remove it", "envs")
    return {**raw, "available_tools": raw.get("available_tools") or None, **_socket(raw)}


def _socket(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    match raw.get("socket"), raw.get("uri"):
        case str(path), str(uri) if path.startswith("/"):
            return {"uri": f"unix://{path}#/{uri.partition('://')[2].partition('/')[2]}"}
        case (None | "", _):
            return {}
        case _:
            raise EntryRefused("is reached over a socket that has no path", "name a socket by its full path", "socket")


def _fixed(raw: Mapping[str, Any]) -> Mapping[str, str | SecretPart]:
    """What `$NAME` in a header stands for."""
    if raw.get("type") != "streamable_http":
        return {}
    kept = variable_names(raw["env_keys"]) if isinstance(raw.get("env_keys"), list) else ()
    given = mapping(raw["envs"]) if isinstance(raw.get("envs"), Mapping) else {}
    return {**{name: SecretPart(name, "goose", variable=True) for name in kept}, **given}


_FIELDS = fields(
    type="type", cmd="command", args="args", envs="env", env_keys="env_secrets", uri="url", headers="headers",
    enabled="enabled", timeout=Field("call_timeout", SECONDS), available_tools="tools_allow",
)  # fmt: skip

FORMAT = Format(
    tool="goose",
    title="Goose",
    places=(
        user(f"${{{_ROOT}}}/config/config.yaml"),
        user("{xdg}/goose/config.yaml", only="linux", unless=(_ROOT,)),
        user("{xdg}/goose/config.yaml", only="darwin", unless=(_ROOT,)),
        user("{app}/Block/goose/config/config.yaml", only="win32", unless=(_ROOT,)),
        Place("user", "${GOOSE_ADDITIONAL_CONFIG_FILES}", several=True),
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
