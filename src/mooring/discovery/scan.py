"""Every definition found, and every problem: reads files by each tool's own rules, and nothing else."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.config import Broken, Origin, Scope, ServerConfig
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.discovery import entry as entries
from mooring.discovery.dialect import Inputs
from mooring.discovery.documents import Documents, dig, said, told
from mooring.discovery.format import Format, RawEntry, ScanContext, Sheet, StartPolicy, Switch, Unreadable
from mooring.discovery.values import describe_kind

if TYPE_CHECKING:
    from mooring.discovery.policy import StartPolicies

MOST_SERVERS = 1000
SCOPES: tuple[Scope, ...] = ("cli", "managed", "project", "user")
DORMANT = len(SCOPES)
"""The rank of what lies in a plugin that is switched off: it keeps nothing out."""


class RankedDefinition(Struct, frozen=True):
    """One definition and its rank: the lower wins."""

    config: ServerConfig | Broken
    rank: tuple[int, int, int]
    """Scope, tool, and place inside the tool."""
    vouched_by: str | None = None
    """The person's own file in which the tool recorded that they approved of this server."""
    marked_by: str | None = None
    """The person's own file in which the tool calls this whole project trusted: information, never a grant."""

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def origin(self) -> Origin:
        return self.config.origin


class Scan(Struct, frozen=True):
    """What the files say: definitions by rank, highest first, and what is wrong."""

    definitions: tuple[RankedDefinition, ...]
    problems: tuple[Problem, ...]
    files: tuple[str, ...]
    looked: tuple[str, ...] = ()
    """Everywhere a file was looked for, found or not: whatever changes there may change what is configured."""


def context(where: Where, cwd: str, with_project: bool = True) -> ScanContext:
    """The folders to search from `cwd`: up to the nearest that holds `.git`, else `cwd` alone."""
    if not with_project:
        return ScanContext(where, cwd, ())
    folders = files.upwards(cwd)
    return ScanContext(where, cwd, tuple(folders), tuple(map(os.path.realpath, folders)))


def scan(
    context: ScanContext, formats: Sequence[Format], *, keep: bool = False, switched_on: Collection[str] = ()
) -> Scan:
    """Read every format's files. Never raises for what a file holds, never expands, runs or follows anything in it.

    With `keep`, programs that only lead to an address stay programs. What files say of being off does not count for
    servers that are `switched_on`.
    """
    shelf = Documents(context, formats)
    found: list[RankedDefinition] = []
    for order, format in enumerate(formats):
        found.extend(_definitions(shelf, format, order, keep, switched_on))
        for program in format.unreadable:
            shelf.problems.extend(_out_of_reach(shelf, program))
    found.sort(key=lambda definition: definition.rank)
    return Scan(tuple(found), tuple(shelf.problems), tuple(shelf.seen), tuple(shelf.looked))


def _definitions(
    shelf: Documents, format: Format, order: int, keep: bool, switched_on: Collection[str]
) -> Iterator[RankedDefinition]:
    if shelf.context.where.platform == "win32" and (other := format.dialect.on_windows):
        format = replace(format, dialect=other)
    sheets = shelf.sheets(format)
    off, on = said(shelf, format.off), said(shelf, format.on)
    policies = _compile_policies(shelf, format)
    approved = said(shelf, [switch for switch in format.approved_in if switch.place.scope == "user"])
    trusted = said(shelf, [switch for switch in format.trust_marks if switch.place.scope == "user"])
    owner = shelf.present(format.exclusive)
    found = tuple((format.gather or maps)(format, sheets, shelf.context))
    mine = {entry.name for entry in found if entry.origin.scope == "user"} if format.user_first else frozenset()
    for entry in found:
        blocked = f"{owner} has exclusive control" if owner and entry.origin.scope != "managed" else None
        wanted = entry.name in switched_on
        disabled_by = blocked or (None if wanted else off.of(entry)) or entry.disabled_by
        result = entries.read_entry(
            entry, format, disabled_by, keep_mcp_remote=keep, force_on=wanted or on.of(entry) is not None
        )
        shelf.problems.extend(result.problems)
        if result.definition is not None:
            scope, place = DORMANT if entry.disabled_by else SCOPES.index(entry.origin.scope), entry.order
            if entry.origin.scope == "project" and entry.name in mine:
                scope, place = SCOPES.index("user"), entry.order + len(sheets)
            foreign = entry.origin.scope == "project" and not entry.origin.owned
            words = (approved.of(entry), trusted.of(entry)) if foreign else (None, None)
            yield RankedDefinition(_judge(policies, result.definition), (scope, order, place), *words)
    shelf.problems.extend(problem for sheet in sheets for problem in _misplaced(format, sheet, shelf.context))


def _judge(policies: "StartPolicies | None", config: ServerConfig | Broken) -> ServerConfig | Broken:
    if policies is None or isinstance(config, Broken) or not config.enabled:
        return config
    return replace(config, disabled_by=policies.find_refusal(config))


def _compile_policies(shelf: Documents, format: Format) -> "StartPolicies | None":
    policies = tuple(_policies(shelf, format.policies))
    if not policies:
        return None
    from mooring.discovery.policy import StartPolicies  # only where a person or a machine has such rules

    return StartPolicies(policies)


def _policies(shelf: Documents, switches: Iterable[Switch]) -> Iterator[StartPolicy]:
    managed_only = False
    for switch in switches:
        managed = switch.place.scope == "managed"
        for path, value in told(shelf, switch):
            managed_only = managed_only or (switch.says == "true" and managed and value is True)
            if switch.says != "true" and not (switch.says == "allowed" and managed_only and not managed):
                # What is no list allows nothing, as in Claude Code.
                rules = tuple(rule for rule in value if isinstance(rule, Mapping)) if isinstance(value, list) else ()
                yield StartPolicy(switch.says, rules, f"`{switch.key[-1]}` in {path}", switch.place.scope)


def _out_of_reach(shelf: Documents, program: Unreadable) -> Iterator[Problem]:
    for path in shelf.paths(program.place):
        text = shelf.text(program.place, path)
        if text is not None and all(word in text for word in program.words):
            yield Problem(path, program.message, program.hint, level="note")


def maps(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    """The usual way to collect entries: a map of names under the format's key, in each file."""
    for order, sheet in enumerate(sheets):
        data = sheet.document.data
        for key, container in _containers(format, sheet, context):
            if isinstance(container, Mapping):
                yield from _map(format, sheet, key, container, order)
            elif isinstance(container, list) and format.as_list:
                yield from _list(format, sheet, key, container, order)
        if format.bare_map and _is_bare(data):
            bare = {name: raw for name, raw in data.items() if isinstance(raw, Mapping)}
            yield from _map(format, sheet, (), bare, order)
        if format.single_entry and isinstance(data, Mapping) and {"command", "url"} & data.keys():
            yield _entry(format, sheet, (), os.path.basename(sheet.path).partition(".")[0], data, order)


def _containers(format: Format, sheet: Sheet, context: ScanContext) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key in (sheet.place.key,) if sheet.place.key else (format.key, *format.other_keys):
        yield from dig(sheet.document.data, key, context)


def _map(
    format: Format, sheet: Sheet, key: tuple[str, ...], container: Mapping[str, Any], order: int
) -> Iterator[RawEntry]:
    for name, raw in list(container.items())[:MOST_SERVERS]:
        if name:
            yield _entry(format, sheet, (*key, name), name, raw, order)


def _list(format: Format, sheet: Sheet, key: tuple[str, ...], container: list[Any], order: int) -> Iterator[RawEntry]:
    for index, raw in enumerate(container[:MOST_SERVERS]):
        name = raw.get("name") if isinstance(raw, Mapping) else None
        if isinstance(name, str) and name:
            yield _entry(format, sheet, (*key, index), name, raw, order)


_GIVEN = ("PLUGIN_ROOT", "PLUGIN_DATA")


def _entry(format: Format, sheet: Sheet, key: tuple[str | int, ...], name: str, raw: Any, order: int) -> RawEntry:
    origin = Origin(format.tool, sheet.place.scope, sheet.path, key, sheet.place.owned)
    folder = sheet.folder
    base = folder.path or os.path.dirname(sheet.path)
    fixed = {**dict.fromkeys(sheet.place.folder_variables, base), **folder.variables}
    given = {name: value for name, value in fixed.items() if name.endswith(_GIVEN)} if sheet.place.folders else {}
    inputs = _inputs(sheet.document.data, key)
    return RawEntry(
        folder.prefix + name, raw, origin, sheet.document, order, inputs, fixed, folder.disabled_by, given,
        base if format.relative_paths else "", folder.id, sheet.place.prepare,
    )  # fmt: skip


def _inputs(data: Any, key: tuple[str | int, ...]) -> Inputs:
    """The questions defined beside the map of servers, by their ids."""
    for step in key[:-2]:
        data = data.get(step) if isinstance(data, Mapping) else None
    listed = data.get("inputs") if isinstance(data, Mapping) else None
    asked = listed if isinstance(listed, list) else []
    return {item["id"]: item for item in asked if isinstance(item, Mapping) and isinstance(item.get("id"), str)}


# --- shapes -------------------------------------------------------------------------------------------------


def _misplaced(format: Format, sheet: Sheet, context: ScanContext) -> Iterator[Problem]:
    data, key = sheet.document.data, sheet.place.key or format.key
    if not isinstance(data, Mapping):
        yield Problem(sheet.path, f"The file should hold an object, but holds {describe_kind(data)}", "mend it", line=1)
        return
    for path, container in dig(data, key, context):
        if (complaint := _complaint(format, path, container)) is not None:
            message, hint = complaint
            yield Problem(sheet.path, message, hint, line=sheet.document.line(path) or 1)
    yield from _wrong_container(format, sheet)


def _complaint(format: Format, path: tuple[str, ...], container: Any) -> tuple[str, str] | None:
    key = ".".join(path) or "the file"
    if format.as_list and isinstance(container, list):
        nameless = any(not (isinstance(raw, Mapping) and isinstance(raw.get("name"), str)) for raw in container)
        hint = "name it, or move what a hub keeps into the file"
        return ("A server in the list has no name of its own and is left out", hint) if nameless else None
    if not isinstance(container, Mapping):
        return (
            f"`{key}` should be an object, but is {describe_kind(container)}",
            "write it as a map of names to servers",
        )
    if len(container) > MOST_SERVERS:
        return f"`{key}` holds more than {MOST_SERVERS} servers; the rest is left out", "remove what is not needed"
    if "" in container:
        return "A server has an empty name and is left out", "name it"
    return None


CONTAINERS = frozenset({"mcpServers", "servers", "mcp_servers", "mcp-servers", "context_servers", "mcp"})


def _wrong_container(format: Format, sheet: Sheet) -> Iterator[Problem]:
    """Another tool's word for the map, where this tool's own is missing."""
    if sheet.place.key or not format.key or format.single_entry or format.key[0] in sheet.document.data:
        return
    others = CONTAINERS - {key[0] for key in format.other_keys}
    for word in sorted(others & sheet.document.data.keys()):
        if _holds_entries(sheet.document.data[word]):
            message, line = f"The key `{word}` is not read here", sheet.document.line((word,))
            yield Problem(sheet.path, message, f"rename it to `{format.key[0]}`", line=line)


def _is_bare(data: Any) -> bool:
    """A file that is itself the map: some of its values say what to start or where to connect."""
    return isinstance(data, Mapping) and not CONTAINERS & data.keys() and _holds_entries(data)


def _holds_entries(data: Any) -> bool:
    return isinstance(data, Mapping) and any(
        isinstance(raw, Mapping) and ("command" in raw or "url" in raw) for raw in data.values()
    )
