"""`get`: one server in full, with nothing secret in it."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from mooring.core.definitions.config import (
    Broken,
    Connection,
    Http,
    InProcess,
    ServerConfig,
    Stdio,
    list_inputs,
    list_templates,
)
from mooring.core.definitions.template import Template, effect_of_unset, find_unset, is_bare_name, written_text
from mooring.core.protocol.era import EraName
from mooring.display.text import mask
from mooring.inventory.load import Inventory, RowSource, describe_source
from mooring.verbs.config.list import Row, describe_winner, finite_seconds


class MissingVariable(Struct, frozen=True):
    """A variable the definition names and the environment lacks."""

    where: str
    """The key that needs it, such as `env.TOKEN`."""
    variable: str | None
    """Its name, unless that could be a secret itself."""
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
    max_in_flight: int | None = None
    max_message_bytes: int | None = None
    era: EraName | None = None
    tools_allow: tuple[str, ...] | None = None
    tools_deny: tuple[str, ...] = ()
    oauth: bool = False
    always_load: bool = False
    lifecycle: str = "lazy"
    auto_approve: tuple[str, ...] = ()
    missing: tuple[MissingVariable, ...] = ()
    inputs: tuple[str, ...] = ()
    """What the person would be asked for at the start."""
    trusted_by: str | None = None
    """Where another tool lets it start: information only."""
    shadowed: tuple[RowSource, ...] = ()
    merged: tuple[str, ...] = ()
    """Other files that contribute to the definition."""


def get_details(inventory: Inventory, name: str, env: Mapping[str, str]) -> Details:
    """The definition that wins under a name.

    Raises:
        UnknownServer: no server has that name.
    """
    choice = inventory.find(name)
    definition = choice.definition
    common = {
        "server": describe_winner(inventory, choice),
        "key": definition.origin.key,
        "standing": choice.standing,
        "disabled_by": definition.config.disabled_by,
        "trusted_by": definition.trusted_by,
        "shadowed": tuple(describe_source(other.origin) for other in choice.shadowed),
        "merged": definition.origin.layers,
    }
    # A broken definition still owns its name, but nothing else is known of it.
    if isinstance(definition.config, Broken):
        return Details(**common)  # type: ignore[arg-type]
    return Details(**common, **_describe_config(definition.config, env))  # type: ignore[arg-type]


def find_missing_variables(config: ServerConfig, env: Mapping[str, str]) -> tuple[MissingVariable, ...]:
    """Each variable that a start would need and the environment does not have."""
    missing: list[MissingVariable] = []
    for key, template in list_templates(config.connection):
        missing += _find_unset(key, template, env)
    if isinstance(config.connection, Stdio):
        absent = [name for name in config.connection.pass_env if name not in env]
        missing += [MissingVariable("pass_env", name, "is not passed on") for name in absent]
    return tuple(missing)


KEPT = ("stays as written", "becomes empty")
"""The effects of a missing variable with which its value is still used."""

_EFFECTS = {
    "literal": "stays as written",
    "empty": "becomes empty",
    "omit": "is left out",
    "error": "stops the start",
}


def _find_unset(key: str, template: Template, env: Mapping[str, str]) -> Iterator[MissingVariable]:
    # A value such as `TOKEN` may be the name of a variable, or a secret that looks like one: it is not shown, and if it
    # would stay as written, nothing is missing.
    is_bare = is_bare_name(template)
    for variable in find_unset(template, env):
        effect = effect_of_unset(key, template, variable)
        if not is_bare:
            yield MissingVariable(key, variable.name, _EFFECTS[effect])
        elif effect != "literal":
            yield MissingVariable(key, None, _EFFECTS[effect])


_SHOWN_AS_WRITTEN = (
    "required", "max_in_flight", "max_message_bytes", "era", "tools_allow", "tools_deny", "always_load", "lifecycle",
    "auto_approve",
)  # fmt: skip


def _describe_config(config: ServerConfig, env: Mapping[str, str]) -> dict[str, object]:
    return {
        **_describe_connection(config.connection),
        **{name: getattr(config, name) for name in _SHOWN_AS_WRITTEN},
        "start_timeout": finite_seconds(config.start_timeout),
        "call_timeout": finite_seconds(config.call_timeout),
        "oauth": config.oauth is not None and config.oauth.enabled,
        "missing": find_missing_variables(config, env),
        "inputs": tuple(dict.fromkeys(part.id for part in list_inputs(config.connection))),
    }


def _describe_connection(connection: Connection) -> dict[str, object]:
    match connection:
        case Stdio() as program:
            return {
                "env": _mask(program.env),
                "pass_env": program.pass_env,
                "env_file": written_text(program.env_file),
                "cwd": written_text(program.cwd),
            }
        case Http() as remote:
            return {"headers": _mask(remote.headers), "headers_helper": remote.headers_helper is not None}
        case InProcess():
            return {}


def _mask(values: Mapping[str, Template]) -> dict[str, str]:
    return {name: mask(value) for name, value in values.items()}
