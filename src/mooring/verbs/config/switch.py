"""`enable` and `disable`: in Mooring's own files where the server is defined; otherwise in the person's own record."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.core.definitions.config import Broken, ServerConfig
from mooring.core.definitions.paths import Workspace
from mooring.discovery.format import document_kind
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope
from mooring.display.text import describe_path, quote_argument, safe
from mooring.errors import ConfigError
from mooring.inventory.load import load
from mooring.inventory.overlay import check_overlay, forget_switch, save_switch
from mooring.syntax.edit import edit_bytes, put_value, remove_value
from mooring.verbs.config.add import update_config
from mooring.verbs.config.locate import check_files_are_read
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.verb import ShownLine, VerbResult

Reach: TypeAlias = Literal["file", "user", "project"]
"""Where it was switched: in the file that defines it, or in the record for everywhere or for this project."""


class Switched(Struct, frozen=True, rename="camel"):
    """How a server stands now."""

    name: str
    enabled: bool
    changed: bool
    reach: Reach
    path: str | None
    """The file that defines it."""
    disabled_by: str | None = None
    approved: bool = True


def _switch(on: bool, workspace: Workspace, name: str, scope: WriteScope | None) -> VerbResult:
    """Turn a server on or off for good. Raises: as `switch`."""
    result = switch(workspace, name, on, scope)
    lines = show_switch(result, on, workspace.where.home)
    return VerbResult({"switched": result}, lines, is_healthy=result.enabled == on)


enable = partial(_switch, True)
disable = partial(_switch, False)


def switch(workspace: Workspace, name: str, on: bool, scope: WriteScope | None = None) -> Switched:
    """Enable or disable a server for good. An entry of Mooring's own is changed; another tool's file stays as it is.

    Raises:
        UnknownServer: no server has that name.
        ConfigError: its definition cannot be used, or the file cannot be changed.
        FileError: a file cannot be read or written.
    """
    refuse_below_mooring(f"mooring mcp {'enable' if on else 'disable'}")
    check_files_are_read(workspace)
    check_overlay(workspace.where)
    inventory = load(workspace, remember=False)
    choice = inventory.find(name)
    config = choice.definition.config
    if isinstance(config, Broken):
        raise ConfigError(f"{choice.name} cannot be used: it {config.problem.message} ({config.problem.path}).")
    if config.enabled == on:
        return _report(workspace, choice.name, False, "file")
    # The record is the person's own: `local` is what `project` is there.
    scope = "project" if scope == "local" else scope
    is_ours = config.origin.tool == OWN.tool and scope in (None, config.origin.scope)
    if on:
        forget_switch(workspace.where, choice.name, inventory.root)
    if is_ours and config.origin.path is not None:
        change = _make_change(config, config.origin.path, on)
        update_config(config.origin.path, lambda data: edit_bytes(data, change), workspace.where)
        return _report(workspace, choice.name, True, "file")
    reach: Literal["user", "project"] = "user" if scope in (None, "user") else "project"
    # What was only switched off by the record is on again without it.
    if not on or not load(workspace, remember=False).find(choice.name).definition.config.enabled:
        save_switch(workspace.where, choice.name, on, inventory.root, everywhere=reach == "user")
    return _report(workspace, choice.name, True, reach)


def show_switch(result: Switched, on: bool, home: str) -> Iterator[ShownLine]:
    """What came of switching a server on or off, and what is still missing before one that is on can start."""
    # A server that did not become what was asked is no data.
    yield ShownLine(_describe_switch(result, on, home), is_note=result.enabled != on)
    if on and result.enabled and not result.approved:
        command = f"mooring mcp approve {quote_argument(result.name)}"
        yield ShownLine(f"It comes from the project and is not approved: {command}", is_note=True)


def _describe_switch(result: Switched, on: bool, home: str) -> str:
    name, word = safe(result.name), "enabled" if on else "disabled"
    path = safe(describe_path(result.path, home))
    if result.enabled != on:
        return f"{name} stays disabled by {safe(result.disabled_by or 'its file')}."
    if not result.changed:
        return f"{name} is {word} already."
    if result.reach == "file":
        return f"{word.capitalize()} {name} in {path}."
    # Whichever tool the file belongs to goes by it, not by our record.
    where = "in Mooring, for this project" if result.reach == "project" else "in Mooring"
    return f"{word.capitalize()} {name} {where}; {path} stays as it is."


def _make_change(config: ServerConfig, path: str, on: bool) -> Callable[[str], str]:
    kind, key = document_kind(path), config.origin.key

    def change(text: str) -> str:
        if not on:
            return put_value(text, kind, (*key, "enabled"), False)
        for switch in ("enabled", "disabled"):
            if switch in config.raw:
                text = remove_value(text, kind, (*key, switch))
        return text

    return change


def _report(workspace: Workspace, name: str, changed: bool, reach: Reach) -> Switched:
    choice = load(workspace, remember=False).find(name)
    config = choice.definition.config
    return Switched(
        name=choice.name,
        enabled=config.enabled,
        changed=changed,
        reach=reach,
        path=config.origin.path,
        disabled_by=config.disabled_by,
        approved=choice.approved,
    )
