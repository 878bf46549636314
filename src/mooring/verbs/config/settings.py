"""`settings`: each setting with its origin, and one more value in a list of the person's own."""

import json
from collections.abc import Collection, Coroutine, Iterable, Iterator, Mapping
from typing import Any

from mooring.auth.store import StoreInfo
from mooring.core.definitions.approved import ForeignServers
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.text.secret import HIDDEN
from mooring.core.text.suggestions import nearest
from mooring.discovery.scan import make_context
from mooring.display.text import problem_line, safe, short_path
from mooring.errors import ConfigError, ParseError
from mooring.permissions.policy import Policy
from mooring.permissions.rules import load_policy
from mooring.settings import SETTINGS, Settings, SettingValue, load, update_settings
from mooring.syntax.edit import edit_bytes, insert_element
from mooring.syntax.parse import parse
from mooring.verbs.config.rules import describe_rules, list_rules
from mooring.verbs.config.secrets import describe_store
from mooring.verbs.verb import ShownLine, ShownTable, VerbResult

STORE = "secretStore"
"""Shown beside the settings, though nobody sets it: the system decides."""


def show_settings(
    workspace: Workspace, key: str | None, added: str | None
) -> VerbResult | Coroutine[Any, Any, VerbResult]:
    """Each setting, or one, with its origin, after a value was added to it if one is given. Raises: ConfigError."""
    if added is not None:
        _add(workspace, key, added)
    _check_key(key)
    return _show_all(workspace) if key is None else _show(workspace, [key])


async def _show_all(workspace: Workspace) -> VerbResult:
    return _show(workspace, SETTINGS, await describe_store(workspace.where))


def _show(workspace: Workspace, keys: Collection[str], store: StoreInfo | None = None) -> VerbResult:
    root = _find_root(workspace)
    settings = load(workspace.where, root)
    are_rules = keys == ["permissions"]
    foreign = _find_foreign(workspace, root) if are_rules else {}
    policy = load_policy(settings, workspace.where, root, foreign=foreign)
    data = {key: _make_data(key, settings.values[key], policy) for key in keys}
    if store is not None:
        data[STORE] = {"value": store.kind, "origin": "system", "path": store.path, "why": store.why}
    home = workspace.where.home
    table = ShownTable(list(_make_rows(keys, settings, store, home)))
    lines = map(ShownLine, describe_rules(policy, workspace.where)) if are_rules else [table]
    return VerbResult(data, lines, notes=[f"  {problem_line(problem, home)}" for problem in settings.problems])


def _check_key(key: str | None) -> None:
    if key is not None and key not in SETTINGS:
        near = nearest(key, SETTINGS, 1)
        guess = f"Did you mean {near[0]}?" if near else f"The settings are: {', '.join(SETTINGS)}."
        raise ConfigError(f"{key} is not a setting. {guess}")


def _add(workspace: Workspace, key: str | None, value: str) -> None:
    _check_key(key)
    if key is None:
        raise ConfigError("Which setting? Write: mooring settings KEY --add VALUE")
    add_to_setting(workspace.where, key, value)


def _find_root(workspace: Workspace) -> str | None:
    """The project whose settings apply, unless `--no-project` leaves them out."""
    if not workspace.project:
        return None
    return make_context(workspace.where, workspace.cwd).root


def _find_foreign(workspace: Workspace, root: str | None) -> ForeignServers:
    """The project's servers that are approved, and which rules apply to each."""
    if root is None:
        return {}
    from mooring.inventory.admit import admit, find_foreign  # only rules need the servers
    from mooring.inventory.load import load as load_inventory

    admitted = admit(load_inventory(workspace, remember=False))
    return find_foreign(admitted.wanted, admitted.aliases)


def _make_rows(
    keys: Iterable[str], settings: Settings, store: StoreInfo | None, home: str
) -> Iterator[tuple[str, str, str]]:
    for name in keys:
        # Of every other setting the highest level wins; the rules of all levels are in force.
        values = settings.every(name) if name == "permissions" else ()
        for value in values or (settings.values[name],):
            origin = short_path(value.path, home) if value.path else value.level
            yield name, safe(json.dumps(_hide_secrets(name, value), ensure_ascii=False)), origin
    if store is not None:
        place = short_path(store.path, home) if store.path else store.name
        yield STORE, json.dumps(store.kind), f"{place}: {store.why}"


def _make_data(name: str, value: SettingValue, policy: Policy) -> Mapping[str, object]:
    shown = list_rules(policy) if name == "permissions" else _hide_secrets(name, value)
    return {"value": shown, "origin": value.level, "path": value.path}


def _hide_secrets(name: str, value: SettingValue) -> object:
    # The values of `env` are given to every server, and are often tokens.
    return dict.fromkeys(value.value, HIDDEN) if name == "env" else value.value


# --- one more value in a list -----------------------------------------------------------------------------------------


def add_to_setting(where: Paths, key: str, value: str) -> str:
    """Add a value to a setting that is a list, unless it has it; the path of the file that holds it.

    Raises:
        ConfigError: the setting is no such list, the machine's settings decide it, or the file cannot be changed.
        FileError: the file cannot be read or written.
    """
    setting = SETTINGS[key]
    if not isinstance(setting.default, list) or not setting.fits([value]):
        raise ConfigError(f"{value} cannot be added to {key}, which is {setting.expects}.")
    current = load(where, None).values[key]
    if current.level == "managed":
        raise ConfigError(f"{key} is set by the machine's settings in {current.path}, which win over yours.")
    path = f"{where.config}/settings.json"

    def change(data: bytes) -> bytes:
        try:
            return edit_bytes(data, lambda text: _add_value(text, key, value))
        except ParseError as error:
            raise ConfigError(f"{path} {error.reason}; add to its `{key}` by hand: {json.dumps(value)}") from None

    update_settings(where, path, change)
    return path


def _add_value(text: str, key: str, value: str) -> str:
    data: Any = parse(text.encode(), "json").data
    values = data.get(key, []) if isinstance(data, dict) else []
    if not isinstance(values, list):
        raise ParseError(f"has a `{key}` that is not a list")
    return text if value in values else insert_element(text, (key, len(values)), value)
