"""The vocabulary in which a tool's configuration is a row: where it lies, how an entry reads, what switches it off."""

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from mooring.core.config import Origin, Scope, Transport
from mooring.core.where import Platform, Where
from mooring.discovery.dialect import BRACES, Dialect, Inputs
from mooring.syntax import Document, Kind

PROJECT = "<project>"
"""In a key path: the folder one stands in, or the nearest one above it that is named there."""

SECONDS = 1.0
MILLISECONDS = 0.001
MIB = 1024 * 1024


class Place(Struct, frozen=True):
    """A file to look for.

    A project's path is relative, and looked for in each folder from the one we stand in up to the project's root.
    Other paths begin with `~`, `{app}`, `{xdg}`, `{mooring}` (see `Where`) or `${VARIABLE:-fallback}`, and may hold
    one `*`. A place whose variable is unset and has no fallback does not exist.
    """

    scope: Scope
    path: str
    key: tuple[str, ...] | None = None
    owned: bool = False
    """The file is the person's own though it speaks of a project: what it says needs no approval."""
    only: Platform | None = None
    literal: bool = False
    """The path is taken as it is: nothing in it is a variable or a pattern."""
    limit: int = MIB
    pick: Callable[[bytes], Any] | None = None
    """How to take the wanted part out of a file that is larger than `MIB`."""

    @property
    def kind(self) -> Kind:
        return "toml" if self.path.endswith(".toml") else "json"


def user(path: str, *key: str) -> Place:
    return Place("user", path, key or None)


def project(path: str, *key: str) -> Place:
    return Place("project", path, key or None)


def system(scope: Scope, *, linux: str, darwin: str, win32: str) -> tuple[Place, ...]:
    """A file of the machine rather than the person, by platform."""
    paths: tuple[tuple[Platform, str], ...] = (("linux", linux), ("darwin", darwin), ("win32", win32))
    return tuple(Place(scope, path, only=platform) for platform, path in paths)


class Switch(Struct, frozen=True):
    """A word on servers kept in some other file: a list of their names, a plain true, or the word `trusted`.

    One in a project's file concerns the project's own servers alone.
    """

    place: Place
    key: tuple[str, ...]
    says: Literal["names", "true", "trusted"] = "names"


Slot: TypeAlias = Literal[
    "type", "command", "args", "env", "pass_env", "env_file", "cwd",
    "url", "headers", "env_headers", "bearer", "bearer_env", "headers_helper",
    "enabled", "disabled", "required", "timeout", "start_timeout", "call_timeout",
    "tools_allow", "tools_deny", "tools_policy", "oauth", "oauth_client_id", "oauth_scopes", "oauth_resource",
    "oauth_grant", "always_load", "lifecycle", "auto_approve",
]  # fmt: skip


class Field(Struct, frozen=True):
    """What a tool's key means; for times, in which unit."""

    slot: Slot
    unit: float = MILLISECONDS


Fields: TypeAlias = Mapping[str, Field]


def fields(**slots: Slot | Field) -> dict[str, Field]:
    return {key: slot if isinstance(slot, Field) else Field(slot) for key, slot in slots.items()}


COMMON: Fields = MappingProxyType(fields(
    type="type", transport="type", command="command", args="args", env="env", cwd="cwd", envFile="env_file",
    url="url", headers="headers", headersHelper="headers_helper",
    enabled="enabled", disabled="disabled", required="required", timeout="timeout",
    oauth="oauth", auth="oauth", alwaysLoad="always_load", lifecycle="lifecycle",
    autoApprove="auto_approve", alwaysAllow="auto_approve", trust="auto_approve",
))  # fmt: skip

STANDARD_TYPES: Mapping[str, Transport] = MappingProxyType(
    {
        "stdio": "stdio",
        "http": "http",
        "streamable-http": "http",
        "streamable_http": "http",
        "streamableHttp": "http",
        "sse": "sse",
    }
)

NO_SERVER: Mapping[str, str] = {
    "ws": "speaks WebSocket, which no released revision of the protocol has",
    "websocket": "speaks WebSocket, which no released revision of the protocol has",
    "sdk": "lives inside the program that configured it",
    "sse-ide": "belongs to an editor's own connection",
    "ws-ide": "belongs to an editor's own connection",
    "claudeai-proxy": "is reached through the account of claude.ai",
}


class Sheet(Struct, frozen=True):
    """One file that was read for a format."""

    place: Place
    path: str
    document: Document


class Context(Struct, frozen=True):
    """From where the search looks: the machine, the folder, and the folders up to the project's root."""

    where: Where
    cwd: str
    folders: tuple[str, ...]
    """Nearest first; the last is the project's root. Empty where projects are left out."""

    @property
    def root(self) -> str:
        return self.folders[-1] if self.folders else self.cwd


class Entry(Struct, frozen=True):
    """One named entry as written, before it is understood."""

    name: str
    raw: Any
    origin: Origin
    document: Document
    order: int
    """Its place among the entries of its tool: the lower wins."""
    inputs: Inputs = {}


Prepare: TypeAlias = Callable[[Mapping[str, Any]], Mapping[str, Any]]


class Format(Struct, frozen=True, kw_only=True):
    """One tool's configuration.

    `places` are listed highest first inside each scope. `bare` lets a file be the map of servers itself.
    `untyped` is what an address without a type means, and `ask_for_type` says that its tool would not take it.
    `prepare` may rewrite an entry into the common shape; `gather` replaces the way entries are collected.
    """

    tool: str
    title: str
    places: tuple[Place, ...]
    key: tuple[str, ...] = ("mcpServers",)
    bare: bool = False
    fields: Fields = COMMON
    types: Mapping[str, Transport] = STANDARD_TYPES
    untyped: Transport = "auto"
    ask_for_type: bool = False
    dialect: Dialect = BRACES
    prepare: Prepare | None = None
    gather: Callable[..., Iterable[Entry]] | None = None
    """`gather(format, sheets, context)`"""
    off: tuple[Switch, ...] = ()
    approved_in: tuple[Switch, ...] = ()
    """Where the tool records which of a project's servers the person approved."""
    trust_marks: tuple[Switch, ...] = ()
    exclusive: tuple[Place, ...] = ()
    """Where one of these exists, nothing of this format outside it may start."""


_VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_ABSOLUTE = re.compile(r"/|[A-Za-z]:[/\\]|\\\\")


def locate(place: Place, where: Where) -> str | None:
    """The absolute path, or pattern, a place outside a project stands for; `None` where it does not exist.

    A variable with a relative path names no place: it would make a repository's file the person's own.
    """
    if place.literal:
        return place.path
    if place.only is not None and place.only != where.platform:
        return None
    missing = False

    def value(found: re.Match[str]) -> str:
        nonlocal missing
        given = where.env.get(found[1]) or found[2]
        missing = missing or given is None
        return given or ""

    path = _VARIABLE.sub(value, place.path)
    if missing:
        return None
    if path.startswith("~/"):
        path = where.home + path[1:]
    for mark, folder in (("{app}", where.app_config), ("{xdg}", where.xdg_config), ("{mooring}", where.config)):
        path = path.replace(mark, folder, 1)
    if not _ABSOLUTE.match(path):
        return None
    return where.system + path if place.only is not None else path
