"""`mooring settings`: prints each setting with its origin."""

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mooring.cli.base import Globals, print_columns, print_json, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.core.definitions.approved import ForeignServers
from mooring.core.definitions.paths import Workspace
from mooring.core.text.secret import HIDDEN
from mooring.core.text.suggestions import nearest
from mooring.discovery.scan import make_context
from mooring.display.text import problem_line, safe, short_path
from mooring.errors import ConfigError
from mooring.settings import SETTINGS, Settings, SettingValue, load

if TYPE_CHECKING:
    from mooring.auth.store import StoreInfo
    from mooring.permissions.policy import Policy


STORE = "secretStore"
"""Shown beside the settings, though nobody sets it: the system decides."""


def run(options: Globals, key: str | None, added: str | None) -> None:
    """Show each setting with its origin."""
    request = options.workspace()
    if added is not None:
        _add(request, key, added)
    root = _find_root(request)
    settings = load(request.where, root)
    _check_key(key)
    values = settings.values if key is None else {key: settings.values[key]}
    policy = _load_policy(settings, request, root, _find_foreign(options, root) if key == "permissions" else {})
    store = _find_store(request) if key is None else None
    if options.json:
        data = {name: _make_data(name, value, policy) for name, value in values.items()}
        print_json({**data, STORE: _make_store_data(store)} if store else data)
    elif key == "permissions":
        _print_rules(policy, request)
    else:
        rows = [row for name in values for row in _make_rows(name, settings, request.where.home)]
        print_columns([*rows, _make_store_cells(store, request.where.home)] if store else rows)
    for problem in settings.problems:
        say(f"  {problem_line(problem, request.where.home)}", err=True)


def _check_key(key: str | None) -> None:
    if key is not None and key not in SETTINGS:
        near = nearest(key, SETTINGS, 1)
        guess = f"Did you mean {near[0]}?" if near else f"The settings are: {', '.join(SETTINGS)}."
        raise ConfigError(f"{key} is not a setting. {guess}")


def _add(request: Workspace, key: str | None, value: str) -> None:
    from mooring.verbs.config.change_setting import add_to_setting  # few runs change anything

    _check_key(key)
    if key is None:
        raise ConfigError("Which setting? Write: mooring settings KEY --add VALUE")
    add_to_setting(request.where, key, value)


def _find_root(request: Workspace) -> str | None:
    """The project whose settings apply, unless `--no-project` leaves them out."""
    if not request.project:
        return None
    return make_context(request.where, request.cwd).root


def _find_foreign(options: Globals, root: str | None) -> ForeignServers:
    """The project's servers that are approved, and which rules apply to each."""
    if root is None:
        return {}
    from mooring.inventory.admit import admit, find_foreign

    admitted = admit(options.inventory(remember=False))
    return find_foreign(admitted.wanted, admitted.aliases)


def _load_policy(settings: Settings, request: Workspace, root: str | None, foreign: ForeignServers) -> "Policy":
    from mooring.permissions.rules import load_policy  # completion loads this module too, and needs no rules

    return load_policy(settings, request.where, root, foreign=foreign)


def _print_rules(policy: "Policy", request: Workspace) -> None:
    from mooring.verbs.config.rules import describe_rules

    for line in describe_rules(policy, request.where):
        say(line)


def _find_store(request: Workspace) -> "StoreInfo":

    from mooring.verbs.config.secrets import describe_store

    return run_until_interrupted(describe_store(request.where))


def _make_store_data(store: "StoreInfo") -> Mapping[str, object]:
    return {"value": store.kind, "origin": "system", "path": store.path, "why": store.why}


def _make_store_cells(store: "StoreInfo", home: str) -> tuple[str, str, str]:
    place = short_path(store.path, home) if store.path else store.name
    return STORE, json.dumps(store.kind), f"{place}: {store.why}"


def _make_data(name: str, value: SettingValue, policy: "Policy") -> Mapping[str, object]:
    data = {"value": _hide_secrets(name, value), "origin": value.level, "path": value.path}
    if name != "permissions":
        return data
    from mooring.verbs.config.rules import list_rules

    # Of every other setting the highest level wins; the rules of all levels are in force.
    return {**data, "value": list_rules(policy)}


def _hide_secrets(name: str, value: SettingValue) -> object:
    # The values of `env` are given to every server, and are often tokens.
    return dict.fromkeys(value.value, HIDDEN) if name == "env" else value.value


def _make_rows(name: str, settings: Settings, home: str) -> Iterator[tuple[str, str, str]]:
    values = settings.every(name) if name == "permissions" else ()
    for value in values or (settings.values[name],):
        yield _make_cells(name, value, home)


def _make_cells(name: str, value: SettingValue, home: str) -> tuple[str, str, str]:
    origin = short_path(value.path, home) if value.path else value.level
    return name, safe(json.dumps(_hide_secrets(name, value), ensure_ascii=False)), origin
