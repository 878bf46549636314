"""`settings`: each setting with its origin; and a value set, removed, or added to a list."""

import json
from collections.abc import Callable, Collection, Coroutine, Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from mooring import files
from mooring.auth.store import StoreInfo
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.text.secret import HIDDEN
from mooring.core.text.suggestions import nearest
from mooring.display.text import problem_line, safe, short_path
from mooring.errors import ConfigError, ParseError
from mooring.permissions.policy import Policy
from mooring.permissions.rules import load_policy
from mooring.settings import PROJECT_LIMIT, SETTINGS, Setting, Settings, SettingValue, complain, load, update_settings
from mooring.syntax.edit import edit_bytes, insert_element, put_value, remove_value
from mooring.syntax.parse import parse
from mooring.tools.arguments.plain import loads
from mooring.verbs.config.add import refuse_unreadable
from mooring.verbs.config.locate import check_files_are_read, check_stays_inside
from mooring.verbs.config.rules import describe_rules, find_root, list_rules, load_rules, refuse_below_mooring
from mooring.verbs.config.secrets import describe_store
from mooring.verbs.parse import UsageError
from mooring.verbs.verb import ShownLine, ShownTable, VerbResult

STORE = "secretStore"
"""Shown beside the settings, though nobody sets it: the system decides."""


def run_settings(
    workspace: Workspace,
    key: str | None,
    value: str | None,
    added: str | None,
    unset: bool,
    user: bool,
    project: bool,
) -> VerbResult | Coroutine[Any, Any, VerbResult]:
    """Each setting, or one, with its origin, after it was changed as the options say. Raises: ConfigError, Denied."""
    changes = [value is not None, added is not None, unset]
    if sum(changes) > 1:
        raise UsageError("Give a value, --add or --unset: they cannot be combined.")
    if user and project:
        raise UsageError("--user and --project cannot be combined.")
    if key is None:
        if any(changes) or user or project:
            raise UsageError("Which setting? Write: mooring settings KEY VALUE")
        return _show_all(workspace)
    _check_key(key)
    if not any(changes):
        if user or project:
            raise UsageError("--user and --project say where to write a value: mooring settings KEY VALUE")
        return _show(workspace, [key])
    refuse_below_mooring(f"mooring settings {key}")
    check_files_are_read(workspace)
    if key == "permissions" and (value is not None or unset):
        # One word would drop every deny.
        raise UsageError("Rules have commands of their own: mooring allow, deny and ask, and mooring rules --remove.")
    if value is not None:
        set_setting(workspace, key, value, project)
    elif unset:
        unset_setting(workspace, key, project)
    elif project:
        raise UsageError("--add is for your own settings; it cannot be combined with --project.")
    else:
        add_to_setting(workspace.where, key, added or "")
    return _show_changed(workspace, key, project) if not unset else _show(workspace, [key])


def _show_changed(workspace: Workspace, key: str, project: bool) -> VerbResult:
    """The setting as it is in force now, and why that is not what was written, if it isn't."""
    shown = _show(workspace, [key])
    level = "project" if project else "user"
    values = load(workspace.where, find_root(workspace)).every(key)
    above = [value for value in values if value.level != level]
    # Rules of all levels are in force; of any other setting, the highest level wins.
    if key == "permissions" or not above or values[0].level == level:
        return shown
    path = short_path(values[0].path or "", workspace.where.home)
    whose = "The machine's settings" if values[0].level == "managed" else "Your own settings"
    return replace(shown, notes=[*shown.notes, f"{whose} win: {path} sets {key}."])


async def _show_all(workspace: Workspace) -> VerbResult:
    return _show(workspace, SETTINGS, await describe_store(workspace.where))


def _show(workspace: Workspace, keys: Collection[str], store: StoreInfo | None = None) -> VerbResult:
    root = find_root(workspace)
    settings = load(workspace.where, root)
    are_rules = keys == ["permissions"]
    policy = load_rules(workspace, settings) if are_rules else load_policy(settings, workspace.where, root)
    data = {key: _make_data(key, settings.values[key], policy) for key in keys}
    if store is not None:
        data[STORE] = {"value": store.kind, "origin": "system", "path": store.path, "why": store.why}
    home = workspace.where.home
    table = ShownTable(list(_make_rows(keys, settings, store, home)))
    lines = map(ShownLine, describe_rules(policy, workspace.where)) if are_rules else [table]
    return VerbResult(data, lines, notes=[f"  {problem_line(problem, home)}" for problem in settings.problems])


def _check_key(key: str) -> None:
    if key not in SETTINGS:
        near = nearest(key, SETTINGS, 1)
        guess = f"Did you mean {near[0]}?" if near else f"The settings are: {', '.join(SETTINGS)}."
        raise ConfigError(f"{key} is not a setting. {guess}")


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


# --- a value ------------------------------------------------------------------------------------------------------


def set_setting(workspace: Workspace, key: str, text: str, project: bool) -> str:
    """Set a value, written as JSON or as a text, in the person's settings or the project's; the path of that file.

    Raises:
        ConfigError: it doesn't fit, a project may not hold it, or the file cannot be changed.
        FileError: the file cannot be read or written.
    """
    setting = SETTINGS[key]
    value = _parse_value(key, setting, text)
    if project:
        complaint = complain(key, value, "project")
        if complaint is not None:
            raise ConfigError(f"{complaint[0].partition(';')[0]}.", "Without --project it goes into your own settings.")
    return _change_file(workspace, project, lambda content: put_value(content, "json", (key,), value))


def _parse_value(key: str, setting: Setting, text: str) -> Any:
    """The value that a person typed: JSON where that fits, else the text itself. Raises: ConfigError."""
    try:
        value = loads(text)
    except ValueError:
        value = text
    for meant in (value, text):
        if setting.fits(meant):
            return meant
    raise ConfigError(f"{key} should be {setting.expects}, not {text!r}.")


def unset_setting(workspace: Workspace, key: str, project: bool) -> str:
    """Remove a setting from the person's settings or the project's, so that the next level decides; the file's path.

    Raises: as `set_setting`; ConfigError if it is not set there.
    """

    def remove(content: str) -> str:
        data: Any = parse(content.encode(), "json").data
        if not isinstance(data, dict) or key not in data:
            path = short_path(_find_file(workspace, project), workspace.where.home)
            raise ConfigError(f"{path} does not set {key}.", f"To see which file does: mooring settings {key}")
        return remove_value(content, "json", (key,))

    return _change_file(workspace, project, remove)


def _change_file(workspace: Workspace, project: bool, edit: Callable[[str], str]) -> str:
    path = _find_file(workspace, project)

    def change(data: bytes) -> bytes:
        return edit_bytes(data, edit)

    with refuse_unreadable(path):
        if project:
            files.update(path, change, f"{workspace.where.state}/locks", PROJECT_LIMIT)
        else:
            update_settings(workspace.where, path, change)
    return path


def _find_file(workspace: Workspace, project: bool) -> str:
    if not project:
        return f"{workspace.where.config}/settings.json"
    root = find_root(workspace)
    if root is None:
        raise ConfigError("--no-project leaves the project's files out, so nothing is written there.")
    path = f"{root}/.mooring/settings.json"
    check_stays_inside(path, root)
    return path


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
