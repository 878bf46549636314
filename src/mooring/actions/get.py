"""`get`: one server in full, with nothing secret in it."""

import math
from collections.abc import Iterator, Mapping

from msgspec import Struct

from mooring.actions.list import Row, RowSource, source, winner
from mooring.core.config import Broken, Http, ServerConfig, Stdio
from mooring.core.template import InputPart, Template
from mooring.display.text import is_bare_name, mask
from mooring.inventory.load import Inventory


class Missing(Struct, frozen=True):
    """A variable the definition names and the environment lacks."""

    where: str
    """The key that needs it, such as `env.TOKEN`."""
    variable: str | None
    """Its name, where showing it could not show a secret."""
    effect: str


class Details(Struct, frozen=True, kw_only=True, rename="camel"):
    """Everything a definition says. Values of env and headers are masked: only variables' names show."""

    server: Row
    key: tuple[str | int, ...]
    env: Mapping[str, str] = {}
    pass_env: tuple[str, ...] = ()
    env_file: str | None = None
    cwd: str | None = None
    headers: Mapping[str, str] = {}
    headers_helper: bool = False
    disabled_by: str | None = None
    standing: str
    required: bool = False
    start_timeout: float | None = None
    call_timeout: float | None = None
    tools_allow: tuple[str, ...] | None = None
    tools_deny: tuple[str, ...] = ()
    oauth: bool = False
    always_load: bool = False
    lifecycle: str = "lazy"
    auto_approve: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    inputs: tuple[str, ...] = ()
    """What would be asked for at the start."""
    trusted_by: str | None = None
    """Another tool's word that it trusts the project: information only."""
    shadowed: tuple[RowSource, ...] = ()
    merged: tuple[str, ...] = ()
    """Other files that contribute to the definition."""


def get(inventory: Inventory, name: str, env: Mapping[str, str]) -> Details:
    """The definition in force under a name.

    Raises:
        UnknownServer: nothing goes by that name.
    """
    choice = inventory.find(name)
    definition = choice.definition
    common = {
        "server": winner(choice),
        "key": definition.origin.key,
        "standing": choice.standing,
        "disabled_by": definition.config.disabled_by,
        "trusted_by": definition.marked_by,
        "shadowed": tuple(source(other.origin) for other in choice.shadowed),
        "merged": definition.origin.layers,
    }
    if isinstance(definition.config, Broken):
        return Details(**common)  # type: ignore[arg-type]
    return Details(**common, **_details(definition.config, env))  # type: ignore[arg-type]


def missing(config: ServerConfig, env: Mapping[str, str]) -> tuple[Missing, ...]:
    """Each variable that a start would need and the environment does not have."""
    return tuple(_missing(config, env))


_EFFECTS = {
    "literal": "stays as written",
    "empty": "becomes empty",
    "omit": "is left out",
    "error": "stops the start",
}


def _missing(config: ServerConfig, env: Mapping[str, str]) -> Iterator[Missing]:
    for where, template in templates(config):
        for variable in template.variables:
            bare = is_bare_name(template)
            if variable.name in env or variable.default is not None or (bare and variable.unset == "literal"):
                continue
            yield Missing(where, None if bare else variable.name, _EFFECTS[variable.unset])
    for name in config.connection.pass_env if isinstance(config.connection, Stdio) else ():
        if name not in env:
            yield Missing("pass_env", name, "is not passed on")


def templates(config: ServerConfig) -> Iterator[tuple[str, Template]]:
    """Every string of a definition with the key it stands under."""
    match config.connection:
        case Stdio() as it:
            yield "command", it.command
            yield from (("args", arg) for arg in it.args)
            yield from ((f"env.{name}", value) for name, value in it.env.items())
            yield from ((key, value) for key, value in (("envFile", it.env_file), ("cwd", it.cwd)) if value)
        case Http() as it:
            yield "url", it.url
            yield from ((f"headers.{name}", value) for name, value in it.headers.items())


def _details(config: ServerConfig, env: Mapping[str, str]) -> dict[str, object]:
    return {
        **_connection(config),
        "required": config.required,
        "start_timeout": _finite(config.start_timeout),
        "call_timeout": _finite(config.call_timeout),
        "tools_allow": config.tools_allow,
        "tools_deny": config.tools_deny,
        "oauth": config.oauth is not None and config.oauth.enabled,
        "always_load": config.always_load,
        "lifecycle": config.lifecycle,
        "auto_approve": config.auto_approve,
        "missing": missing(config, env),
        "inputs": tuple(dict.fromkeys(_inputs(config))),
    }


def _connection(config: ServerConfig) -> dict[str, object]:
    match config.connection:
        case Stdio() as it:
            return {
                "env": {name: mask(value) for name, value in it.env.items()},
                "pass_env": it.pass_env,
                "env_file": it.env_file and it.env_file.text,
                "cwd": it.cwd and it.cwd.text,
            }
        case Http() as it:
            headers = {name: mask(value) for name, value in it.headers.items()}
            return {"headers": headers, "headers_helper": it.headers_helper is not None}


def _inputs(config: ServerConfig) -> Iterator[str]:
    for _, template in templates(config):
        yield from (part.id for part in template.parts if isinstance(part, InputPart))


def _finite(seconds: float | None) -> float | None:
    return None if seconds is None or math.isinf(seconds) else seconds
