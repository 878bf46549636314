"""Everything configured for a folder: the scan, the approvals on record and the choice between definitions together."""

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.approved import AllowRule, Standing
from mooring.core.definitions.config import Broken, InProcess, Origin, Scope, ServerConfig, Stdio, list_templates
from mooring.core.definitions.paths import Paths, Workspace, here
from mooring.core.definitions.problem import Problem
from mooring.core.definitions.template import TextPart, VariablePart, literal
from mooring.core.text.suggestions import find_server
from mooring.discovery.choose import Choice, choose
from mooring.discovery.entry import read_entry as understood
from mooring.discovery.format import Format, Place, ScanContext, Sheet
from mooring.discovery.formats import FORMATS
from mooring.discovery.formats.claude import FORMAT as CLAUDE
from mooring.discovery.formats.common_shape import VSCODE_FORMAT as VSCODE
from mooring.discovery.formats.copilot import FORMAT as COPILOT
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.scan import RankedDefinition, Scan, gather_entries, make_context, scan
from mooring.display.text import quote_argument
from mooring.errors import ConfigError, FileError, ParseError
from mooring.files.owner import name_user
from mooring.inventory.overlay import apply_overlay, load_overlay, overlay_path
from mooring.permissions import trust
from mooring.settings import Settings
from mooring.settings import load as load_settings
from mooring.syntax.parse import parse

IF_TRUSTED = "if you trust who owns it: "
"""Comes before the command that makes a repository of another user the project."""


class Inventory(Struct, frozen=True):
    """Everything configured for one folder: which definition of each name wins, and what is wrong."""

    root: str
    choices: tuple[Choice, ...]
    problems: tuple[Problem, ...]
    files: tuple[str, ...]
    """The files that were found and read."""
    approvals: trust.ApprovalRecord
    settings: Settings
    looked: tuple[str, ...] = ()
    """Every path at which a file was looked for, found or not."""

    def __repr__(self) -> str:
        return f"<Inventory of {self.root}: {len(self.choices)} servers, {len(self.problems)} problems>"

    def find(self, name: str) -> Choice:
        """The choice of that name: as written, or, if only one fits, ignoring case.

        Raises:
            UnknownServer: there is none, or several differ in case only.
        """
        by_name = {choice.name: choice for choice in self.choices}
        return by_name[find_server(name, by_name)]

    def standing(self, definition: RankedDefinition) -> Standing:
        """Whether a definition may take effect here."""
        return self.approvals.find_standing(self.root, definition.config)

    def adopted_from(self, definition: RankedDefinition) -> str | None:
        """The tool whose record of an approval was adopted for a definition, if it was not approved here."""
        return self.approvals.find_adopted(self.root, definition.config)

    def applied_rules(self, definition: RankedDefinition) -> tuple[AllowRule, ...]:
        """The rules of the person's settings that they applied to a project's definition when they approved it."""
        applied = self.approvals.find_applied(self.root, definition.config)
        if not applied:
            return ()
        settings = [value for value in self.settings.every("permissions") if value.level == "user"]
        # One that is no longer there allows nothing.
        allowed = {
            AllowRule(rule["tool"], rule.get("pattern", ""))
            for value in settings
            for rule in value.value
            if rule["action"] == "allow"
        }
        return tuple(rule for rule in applied if rule in allowed)

    def list_startable(self) -> Iterator[ServerConfig]:
        """The definitions that win, are switched on, and may be started."""
        for choice in self.choices:
            config = choice.definition.config
            if isinstance(config, ServerConfig) and config.enabled and choice.approved:
                yield config


class RowSource(Struct, frozen=True):
    """Where a definition was written."""

    tool: str
    scope: str
    path: str | None
    local: bool | UnsetType = UNSET
    """Only where it is so: a project's server in the person's own file, as in Claude Code's local scope."""

    @property
    def shown_scope(self) -> str:
        """The scope as people are shown it."""
        return "local" if self.local is True else self.scope


def discover(cwd: "str | None" = None) -> "Inventory":
    """Everything configured for a folder (the current one by default), on this machine, for this person.

    Approvals that another tool recorded are bound to the definitions as they are now, in the person's state folder.

    Raises:
        ConfigError: the person's home folder is not known.
    """
    return load(Workspace(here(os.environ), os.path.abspath(cwd or os.curdir)))


def load(workspace: Workspace, *, remember: bool = True, drafts: Mapping[str, bytes] | None = None) -> Inventory:
    """Read everything and decide. Starts nothing, expands nothing, opens nothing but configuration files.

    With `remember`, approvals that another tool recorded are bound to the definition as it is now. With `drafts`, it is
    as if these files had these contents already.

    Raises:
        ConfigError: a file named on the command line does not exist.
    """
    place = replace(make_context(workspace.where, workspace.cwd, workspace.project), drafts=drafts or {})
    settings = load_settings(workspace.where, place.root if workspace.project else None)
    formats = list(_command_line_formats(workspace))
    # The demo is for trying things out: nothing else is started beside it, unless a file is named as well.
    if not workspace.demo:
        formats += [format for format in FORMATS if settings["sources"].get(format.tool, True)]
    root = trust.identify_project(place.root)
    overlay, overlay_damage = load_overlay(workspace.where)
    switches = {} if overlay is None else overlay.list_switches(root)
    switched_on = workspace.switched_on | {name for name, is_on in switches.items() if is_on}
    found = scan(place, formats, keep=settings["mcpRemote"] == "keep", switched_on=switched_on)
    approvals, damage = trust.load(workspace.where)
    problems = [*settings.problems, *found.problems]
    if overlay_damage is not None:
        problems.append(overlay_damage)
    if workspace.project:
        problems.extend(_name_foreign_root(workspace, place.root, approvals))
    if damage is not None:
        problems.append(damage)
    elif remember:
        approvals, failure = _adopt_approvals(workspace.where, root, approvals, found, settings)
        if failure is not None:
            problems.append(failure)
    switched_off = switches.keys() - switched_on
    definitions = (*_demo_definitions(workspace), *apply_overlay(found.definitions, overlay, switched_off))
    chosen = choose(definitions, lambda definition: approvals.find_standing(root, definition.config))
    choices, lookalikes = _refuse_lookalikes(chosen)
    problems.extend(lookalikes)
    records = trust.record_path(workspace.where), overlay_path(workspace.where)
    looked = (*found.looked, *found.files, *settings.looked, *records)
    return Inventory(root, choices, tuple(problems), found.files, approvals, settings, looked)


def _name_foreign_root(workspace: Workspace, root: str, approvals: trust.ApprovalRecord) -> Iterator[Problem]:
    """What a repository of another user above this folder means: it is not the project, unless a setting names it."""
    repository = files.repository_folders(workspace.cwd)[-1]
    owner = files.find_foreign_owner(workspace.cwd, repository)
    if owner is None or repository == root:
        return
    kept = {each.name for each in approvals.decisions if each.project == trust.identify_project(repository)}
    unused = f"; what you decided there about {', '.join(sorted(kept))} is not used here" if kept else ""
    message = f"The repository above belongs to another user ({name_user(owner)}), so it is not the project{unused}"
    command = f"mooring settings trustedFolders --add {quote_argument(os.path.realpath(repository))}"
    yield Problem(repository, message, f"{IF_TRUSTED}{command}")


def load_given(servers: Mapping[str, Any], workspace: Workspace) -> Inventory:
    """Servers that a program passes in, in the shape of `mcpServers`, instead of everything configured.

    Raises:
        ConfigError: they are not what they should be. One bad entry is a problem, not an error.
    """
    settings = load_settings(workspace.where, None)
    format, document = _find_shape(servers)
    key = format.key[0]
    values = {name: server for name, server in document[key].items() if not _is_data(server)}
    entries = {name: entry for name, entry in document[key].items() if name not in values}
    context = make_context(workspace.where, workspace.cwd, False)
    found, problems = read_data({**document, key: entries}, replace(format, tool=OWN.tool), "cli", None, context)
    found += [_make_config(name, server) for name, server in values.items()]
    definitions = [RankedDefinition(config, (0, 0, order)) for order, config in enumerate(found)]
    choices, lookalikes = _refuse_lookalikes(choose(definitions, lambda _: "own"))
    problems = (*settings.problems, *problems, *lookalikes)
    return Inventory(workspace.cwd, choices, problems, (), trust.ApprovalRecord(), settings)


def _find_shape(servers: Mapping[str, Any]) -> tuple[Format, Mapping[str, Any]]:
    """The format that the servers are written in, and the whole document: of a file, or made around a bare mapping."""
    for format in (OWN, VSCODE):
        inner = servers.get(format.key[0])
        # A server may be called `servers`.
        if isinstance(inner, Mapping) and not isinstance(inner.get("command", inner.get("url")), str):
            return format, servers
    return OWN, {OWN.key[0]: servers}


def _is_data(server: Any) -> bool:
    """Whether this is an entry as in a file, and no value or object; a wrong one is reported like a file's."""
    return server is None or isinstance(server, Mapping | str | int | float | list | tuple)


def _make_config(name: str, server: Any) -> ServerConfig:
    """The definition of something that is no entry of a file. Raises: ConfigError if it is no server either."""
    from mooring.servers.in_process import is_server_object  # lazy: listings and files have no objects

    if isinstance(server, ServerConfig):
        return replace(server, name=name)
    if not is_server_object(server):
        message = f"The server {name!r} is given as a value of type {type(server).__name__}."
        shapes = (
            'Give an entry such as {"command": "…"}, a ServerConfig, or an object of mooring.testing, fastmcp or mcp.'
        )
        raise ConfigError(message, shapes)
    origin = Origin("mooring", "cli", None, ("mcpServers", name))
    return ServerConfig(name=name, origin=origin, connection=InProcess(server))


def read_data(
    data: Mapping[str, Any], format: Format, scope: Scope, path: str | None, context: ScanContext
) -> tuple[list[ServerConfig | Broken], tuple[Problem, ...]]:
    """Servers that a program passes in, or that a part of a file defines, by the rules of a whole file in a format.

    Raises: ConfigError if they can't be understood at all. One bad entry is a problem.
    """
    place = Place(scope, path or "servers", literal=True)
    try:
        document = parse(json.dumps(data).encode(), "json")
    except (TypeError, ValueError, ParseError) as error:
        whose = f"{path}: its servers" if path else "The servers given"
        raise ConfigError(f"{whose} cannot be understood: {error}.") from None
    format = replace(format, places=(place,), closed=False)
    entries = gather_entries(format, (Sheet(place, path or "", document),), context)
    read = [understood(replace(entry, origin=replace(entry.origin, path=path)), format) for entry in entries]
    definitions = [one.definition for one in read if one.definition is not None]
    return definitions, tuple(chain.from_iterable(one.problems for one in read))


_AGENT_FORMATS: Mapping[str, Format] = {"claude": CLAUDE, "copilot": COPILOT}
"""Whose rules hold for what an agent's file says; Mooring's own for all others."""


def load_agent_servers(
    workspace: Workspace, servers: Mapping[str, Mapping[str, Any]], tool: str, scope: Scope, path: str
) -> Inventory:
    """An inventory of the servers that an agent's file defines for its agent alone.

    Those of a project's file are approved as any other of the project's are.

    Raises: as `read_data`.
    """
    context = make_context(workspace.where, workspace.cwd, workspace.project)
    format = _AGENT_FORMATS.get(tool, OWN)
    found, problems = read_data({format.key[0]: servers}, format, scope, path, context)
    approvals, _ = trust.load(workspace.where)
    root = trust.identify_project(context.root)
    definitions = [RankedDefinition(config, (0, 0, order)) for order, config in enumerate(found)]
    choices = choose(definitions, lambda definition: approvals.find_standing(root, definition.config))
    settings = load_settings(workspace.where, root if workspace.project else None)
    return Inventory(root, choices, problems, (path,), approvals, settings)


def _refuse_lookalikes(choices: tuple[Choice, ...]) -> tuple[tuple[Choice, ...], tuple[Problem, ...]]:
    # Plain names of the person's own pass for no other: most listings need not load what compares them.
    is_project = any(choice.definition.origin.foreign for choice in choices)
    names = "".join(choice.name for choice in choices)
    are_plain = names.isascii() and names.isprintable() and " " not in names
    if are_plain and not is_project:
        return choices, ()
    from mooring.inventory.lookalike import refuse_lookalikes

    return refuse_lookalikes(choices)


def _command_line_formats(workspace: Workspace) -> Iterable[Format]:
    for path in workspace.configs:
        absolute = os.path.abspath(os.path.join(workspace.cwd, path))
        _check_named_file(absolute, path)
        place = Place("cli", absolute, literal=True)
        # Often another tool's file, with keys of its own.
        yield replace(OWN, places=(place,), bare_map=True, closed=False)


def _check_named_file(path: str, written: str) -> None:
    """A file that a person names has to exist and to be readable; one that is merely found does not."""
    data = files.read(path)
    if data is None:
        raise ConfigError(f"{written} does not exist; --config takes a file like .mcp.json.")
    try:
        parse(data, "json")
    except ParseError as error:
        raise ConfigError(f"{written}: the file {error.reason} (line {error.line or 1}).") from None


def _demo_definitions(workspace: Workspace) -> Iterable[RankedDefinition]:
    if not workspace.demo:
        return
    # -I: neither the current folder nor PYTHONPATH can put another program in its place.
    program = Stdio(literal(sys.executable), tuple(map(literal, ("-I", "-m", "mooring.demo"))))
    config = ServerConfig(name="demo", origin=Origin("mooring", "cli", None), connection=program)
    yield RankedDefinition(config, (0, 0, 0))


def _adopt_approvals(
    where: Paths, root: str, approvals: trust.ApprovalRecord, found: Scan, settings: Settings
) -> tuple[trust.ApprovalRecord, Problem | None]:
    """Bind approvals that a definition's own tool recorded to the definition as it is when first seen.

    Other tools approve a name: without a record of our own, a later change would be approved as well. So an approval
    that cannot be recorded does not count.
    """
    vouched = _find_vouched(found)
    wanted = [config for name, config in vouched.items() if approvals.may_adopt(root, name)]
    if not wanted:
        return approvals, None
    new = [_make_adopted(where, root, config, settings) for config in wanted]
    try:
        # No waiting for the lock: reading must not hang because another program is writing.
        return trust.record(where, new, seconds=0), None
    except FileError as error:
        message = f"An approval that another tool recorded could not be kept, so it is ignored: it {error.reason}"
        return approvals, Problem(error.path, message, "make the file writable, or approve here", level="warning")


def _make_adopted(where: Paths, root: str, config: ServerConfig, settings: Settings) -> trust.Decision:
    # Lazy: only the first listing after an approval in another tool gets here.
    from mooring.servers.launch.environment import default_search_path
    from mooring.servers.launch.target import resolve_target

    path = default_search_path(where, settings["env"])
    return trust.Decision(
        project=root,
        name=config.name,
        digest=trust.digest(config),
        verdict="approved",
        by=config.origin.tool,
        target=resolve_target(config.connection, root, where, path),
        at=utc_timestamp(),
    )


def _find_vouched(found: Scan) -> dict[str, ServerConfig]:
    """The definitions that their own tool approved, by name; of several, the one that comes first."""
    vouched: dict[str, ServerConfig] = {}
    for definition in found.definitions:
        config = definition.config
        if definition.vouched_by and isinstance(config, ServerConfig) and _is_adoptable(config):
            vouched.setdefault(definition.name, config)
    return vouched


def _is_adoptable(config: ServerConfig) -> bool:
    """Whether the tool that approved a definition and Mooring mean the same by it.

    `!command` is plain text in a header that Claude Code sends, and it reads no `envFile`: its approval of a definition
    says nothing about what Mooring would run or read for it.
    """
    templates = list(list_templates(config.connection, config.oauth))
    keys = {key for key, _ in templates}
    if keys & {"envFile", "headersHelper"}:
        return False
    return all(isinstance(part, TextPart | VariablePart) for _, template in templates for part in template.parts)


def describe_source(origin: Origin) -> RowSource:
    """Where a definition was written, without the keys that lead to it."""
    is_local = origin.shown_scope == "local"
    return RowSource(origin.tool, origin.scope, origin.path, is_local or UNSET)


def utc_timestamp() -> str:
    """The current time, as it is recorded with decisions."""
    return datetime.now(UTC).isoformat(timespec="seconds")
