"""Every definition found, and every problem: finds and reads the files of each tool by its own rules."""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, product
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from mooring.core.definitions.config import Broken, Origin, Scope, ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.text.suggestions import nearest, suggest_key
from mooring.discovery import entry as entries
from mooring.discovery.dialect import Inputs
from mooring.discovery.documents import Documents, dig
from mooring.discovery.format import (
    Folder,
    Folders,
    Format,
    Place,
    RawEntry,
    ScanContext,
    Sheet,
    StartPolicy,
    Switch,
    Unreadable,
)
from mooring.discovery.mentions import find_mentions, read_switch
from mooring.discovery.values import as_mapping, as_mappings, describe_kind, look_up, text_or_none
from mooring.settings import find_project_folders

if TYPE_CHECKING:
    from mooring.discovery.policy import StartPolicies

_Spot: TypeAlias = tuple[Place, str, Folder]
"""A place, the path it is at, and the folder that this path is in."""


class SheetFinder:
    """Finds the sheets of formats, and the folders of plugins that several formats share only once."""

    def __init__(self, documents: Documents, formats: Sequence[Format]) -> None:
        self._documents = documents
        self._tools = frozenset(format.tool for format in formats)
        self._folders: dict[int, tuple[Folder, ...]] = {}

    def find(self, format: Format) -> tuple[Sheet, ...]:
        """The files of a format that exist and can be read, highest first."""
        sheets: list[Sheet] = []
        for place, path, folder in self._spots(format):
            document = self._documents.read(place, path)
            if document is None:
                continue
            sheet = Sheet(place, path, document, folder)
            if place.may_name_files:
                from mooring.discovery.plugins import read_manifest  # only where plugins are installed

                sheets.extend(read_manifest(sheet, self._documents))
            else:
                sheets.append(sheet)
        return tuple(sheets)

    def _spots(self, format: Format) -> list[_Spot]:
        # Plain places are taken together, because a nearer folder of the project comes first whichever place it is.
        spots: list[_Spot] = []
        for folders, places in groupby(format.places, key=lambda place: place.folders):
            if folders:
                spots.extend(self._spots_inside(folders, places))
            else:
                spots.extend(self._plain_spots(places))
        return spots

    def _plain_spots(self, places: Iterable[Place]) -> list[_Spot]:
        # Two places may lead to one file: ATOMIC_CODING_AGENT_DIR replaces both of Atomic's folders. It is read once,
        # in the rank of the last.
        once: dict[tuple[str, tuple[str, ...] | None, str], Place] = {}
        for place, path in self._documents.paths(places):
            key = (place.scope, place.key, path)
            once[key] = once.pop(key, place)
        return [(place, path, self._surrounding_folder(place, path)) for (*_, path), place in once.items()]

    def _surrounding_folder(self, place: Place, path: str) -> Folder:
        """The folder of a file, where folders are switched off by name as Gemini CLI's extensions are."""
        if not place.off or not os.path.lexists(path):
            return Folder()
        name = os.path.basename(os.path.dirname(path))
        return Folder(disabled_by=find_mentions(self._documents, place.off).find_name(name))

    def _spots_inside(self, folders: Folders, places: Iterable[Place]) -> Iterator[_Spot]:
        """Each place in each of the folders that another file names."""
        if id(folders) not in self._folders:
            self._folders[id(folders)] = self._find_folders(folders)
        for place, folder in product(places, self._folders[id(folders)]):
            yield place, place.path.replace("{each}", folder.path, 1), folder

    def _find_folders(self, folders: Folders) -> tuple[Folder, ...]:
        # A tool that is switched off as a source is not asked for its plugins either.
        if folders.tool not in self._tools:
            return ()
        registries = list(_read_switches(self._documents, folders.registries))
        if not registries:
            return ()
        from mooring.discovery.plugins import find_folders  # only where plugins are installed

        off = find_mentions(self._documents, folders.off)
        answers = [value for _, value in _read_switches(self._documents, folders.answers)]
        return tuple(find_folders(folders.tool, registries, self._documents.context, off, answers))


MOST_SERVERS = 1000
SCOPES: tuple[Scope, ...] = ("cli", "managed", "project", "user")
DORMANT = len(SCOPES)
"""The rank of everything in a plugin that is switched off: it keeps nothing out."""


class RankedDefinition(Struct, frozen=True):
    """One definition and its rank: the lower wins."""

    config: ServerConfig | Broken
    rank: tuple[int, int, int]
    """Scope, tool, and place inside the tool."""
    vouched_by: str | None = None
    """The person's own file in which the tool recorded that they approved this server."""
    marked_by: str | None = None
    """The person's own file in which the tool trusts this project, or any project: information, never a grant."""

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def trusted_by(self) -> str | None:
        """The person's own file in which another tool lets this server start."""
        return self.vouched_by or self.marked_by

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


def make_context(where: Paths, cwd: str, with_project: bool = True) -> ScanContext:
    """The folders to search from `cwd`: up to the nearest that holds `.git`, else `cwd` alone."""
    if not with_project:
        return ScanContext(where, cwd, ())
    folders = find_project_folders(where, cwd)
    return ScanContext(where, cwd, tuple(folders), tuple(map(os.path.realpath, folders)))


def scan(
    context: ScanContext, formats: Sequence[Format], *, keep: bool = False, switched_on: Collection[str] = ()
) -> Scan:
    """Read every format's files. Never raises for what a file holds, never expands, runs or follows anything in it.

    With `keep`, programs that only lead to an address stay programs. Servers in `switched_on` are on whatever files
    say, unless a policy refuses them.
    """
    documents = Documents(context, formats)
    finder = SheetFinder(documents, formats)
    found: list[RankedDefinition] = []
    for order, format in enumerate(formats):
        found.extend(_FormatScan(documents, finder, format, order).run(keep, switched_on))
        for program in format.unreadable:
            documents.problems.extend(_report_unreadable(documents, program))
    if (left_out := documents.budget.problem) is not None:
        documents.problems.append(left_out)
    found.sort(key=lambda definition: definition.rank)
    return Scan(tuple(found), tuple(documents.problems), tuple(documents.seen), tuple(documents.looked))


def read_sheet_entry(format: Format, sheet: Sheet, context: ScanContext, name: str) -> entries.ParsedEntry | None:
    """What one file says about a server, whatever others say about it; `None` if it has no entry of that name."""
    format = _for_platform(format, context)
    for entry in (format.gather or gather_entries)(format, (sheet,), context):
        if entry.name == name:
            return entries.read_entry(entry, format)
    return None


class _FormatScan:
    """The files of one format, and what other files say about the servers in them."""

    def __init__(self, documents: Documents, finder: SheetFinder, format: Format, order: int) -> None:
        self._documents = documents
        self._format = format = _for_platform(format, documents.context)
        self._order = order
        self._sheets = finder.find(format)
        self._off = find_mentions(documents, format.off)
        self._on = find_mentions(documents, format.on)
        self._policies = _compile_policies(documents, format)
        self._approved = find_mentions(documents, _by_person(format.approved_in))
        self._trusted = find_mentions(documents, _by_person(format.trust_marks))
        self._exclusive = documents.find_present(format.exclusive)
        self._entries = tuple((format.gather or gather_entries)(format, self._sheets, documents.context))
        self._user_names = {entry.name for entry in self._entries if entry.origin.scope == "user"}

    def run(self, keep: bool, switched_on: Collection[str]) -> Iterator[RankedDefinition]:
        """The definitions of the format; what is wrong goes to the problems of the documents."""
        for entry in self._entries:
            if entry.origin.foreign and not self._documents.budget.allows_server():
                continue
            wanted = entry.name in switched_on
            forced = wanted or self._on.find(entry) is not None
            disabled_by = self._find_off(entry, wanted)
            result = entries.read_entry(entry, self._format, disabled_by, keep_mcp_remote=keep, force_on=forced)
            self._documents.problems.extend(result.problems)
            if result.definition is not None:
                yield self._rank_definition(entry, self._judge(result.definition))
        for sheet in self._sheets:
            self._documents.problems.extend(_report_shape(self._format, sheet, self._documents.context))

    def _find_off(self, entry: RawEntry, wanted: bool) -> str | None:
        # A managed file of Claude Code that exists is the only one whose servers may start.
        if self._exclusive and entry.origin.scope != "managed":
            return f"{self._exclusive} has exclusive control"
        switched_off = None if wanted else self._off.find(entry)
        return switched_off or entry.disabled_by

    def _judge(self, config: ServerConfig | Broken) -> ServerConfig | Broken:
        if self._policies is None or isinstance(config, Broken) or not config.enabled:
            return config
        return replace(config, disabled_by=self._policies.find_refusal(config))

    def _rank_definition(self, entry: RawEntry, config: ServerConfig | Broken) -> RankedDefinition:
        rank = self._rank(entry)
        if not entry.origin.foreign:
            return RankedDefinition(config, rank)
        return RankedDefinition(config, rank, self._approved.find(entry), self._trusted.find(entry))

    def _rank(self, entry: RawEntry) -> tuple[int, int, int]:
        """Scope before tool before place inside the tool: a project wins over the person's own, whichever tools."""
        scope = entry.origin.scope
        # In Factory the person's own entry wins over a project's of the same name, which then ranks behind it.
        gives_way = self._format.user_first and scope == "project" and entry.name in self._user_names
        if gives_way:
            return SCOPES.index("user"), self._order, entry.order + len(self._sheets)
        first = DORMANT if entry.disabled_by else SCOPES.index(scope)
        return first, self._order, entry.order


def _for_platform(format: Format, context: ScanContext) -> Format:
    windows = format.dialect.on_windows
    if context.where.platform != "win32" or windows is None:
        return format
    return replace(format, dialect=windows)


def _by_person(switches: Iterable[Switch]) -> list[Switch]:
    """Those in the person's own files: no project vouches for itself."""
    return [switch for switch in switches if switch.place.scope == "user"]


def _compile_policies(documents: Documents, format: Format) -> "StartPolicies | None":
    policies = tuple(_read_policies(documents, format))
    if not policies:
        return None
    from mooring.discovery.policy import StartPolicies  # only where a person or a machine has such rules

    return StartPolicies(policies)


def _read_policies(documents: Documents, format: Format) -> Iterator[StartPolicy]:
    only_managed = any(value is True for _, value in _read_switches(documents, format.only_managed_allow))
    for switch in format.policies:
        scope = switch.place.scope
        if only_managed and switch.says == "allowed" and scope != "managed":
            continue
        for path, value in read_switch(documents, switch):
            where = f"`{switch.key[-1]}` in {path}"
            yield StartPolicy(switch.says, tuple(_list_rules(switch.says, value)), where, scope)


def _list_rules(says: str, value: Any) -> list[Any]:
    # Amp's rules are kept whole, whatever they are: one that cannot be read may be one that rejects.
    if says == "rules":
        return value if isinstance(value, list) else [value]
    # Anything but a list holds no rule, and so allows nothing, as in Claude Code.
    return list(as_mappings(value))


def _read_switches(documents: Documents, switches: Iterable[Switch]) -> Iterator[tuple[str, Any]]:
    return chain.from_iterable(read_switch(documents, switch) for switch in switches)


def _report_unreadable(documents: Documents, program: Unreadable) -> Iterator[Problem]:
    """Notes on servers that are out of reach: magenta.nvim's are set up in Lua, Crush's in a shell script."""
    for place, path in documents.paths((program.place,)):
        text = documents.read_program(place, path)
        if text is not None and all(word in text for word in program.words):
            yield Problem(path, program.message, program.hint, level="note")


# --- entries ------------------------------------------------------------------------------------------------


def gather_entries(format: Format, sheets: tuple[Sheet, ...], context: ScanContext) -> Iterator[RawEntry]:
    """The usual way to collect entries: a map of names under the format's key, in each file."""
    for order, sheet in enumerate(sheets):
        for key, container in _find_containers(format, sheet, context):
            for step, name, raw in _list_named(format, container):
                yield _make_entry(format, sheet, (*key, step), name, raw, order)
        data = as_mapping(sheet.document.data)
        if format.single_entry and _is_entry(data):
            name = os.path.basename(sheet.path).partition(".")[0]
            yield _make_entry(format, sheet, (), name, data, order)


def _find_containers(format: Format, sheet: Sheet, context: ScanContext) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The maps and lists of servers in a file, and the keys that lead to them; the file itself may be one."""
    for key in format.list_container_keys(sheet.place):
        yield from dig(sheet.document.data, key, context)
    data = as_mapping(sheet.document.data)
    # A file is itself the map if some of its values say what to start or where to connect.
    if format.bare_map and not CONTAINERS & data.keys() and _holds_entries(data):
        yield (), {name: raw for name, raw in data.items() if isinstance(raw, Mapping)}


def _list_named(format: Format, container: Any) -> Iterable[tuple[str | int, str, Any]]:
    """The entries of a map or list: the key or index of each, its name, and what it says."""
    rows: list[tuple[str | int, str | None, Any]] = []
    match container:
        case Mapping():
            rows = [(name, name, raw) for name, raw in container.items()]
        case list() if format.as_list:
            rows = [(index, _own_name(raw), raw) for index, raw in enumerate(container)]
    return [(step, name, raw) for step, name, raw in rows[:MOST_SERVERS] if name]


def _own_name(raw: Any) -> str | None:
    """The name that an entry of a list gives itself, as Continue's do."""
    return text_or_none(as_mapping(raw).get("name"))


_GIVEN_TO_PROGRAMS = ("PLUGIN_ROOT", "PLUGIN_DATA")


def _make_entry(format: Format, sheet: Sheet, key: tuple[str | int, ...], name: str, raw: Any, order: int) -> RawEntry:
    folder = sheet.folder
    base = folder.path or os.path.dirname(sheet.path)
    fixed = {**dict.fromkeys(sheet.place.folder_variables, base), **folder.variables}
    given = {name: value for name, value in fixed.items() if name.endswith(_GIVEN_TO_PROGRAMS)}
    return RawEntry(
        folder.prefix + name,
        raw,
        Origin(format.tool, sheet.place.scope, sheet.path, key, sheet.place.owned),
        sheet.document,
        order,
        inputs=_find_inputs(sheet.document.data, key),
        variables=fixed,
        disabled_by=folder.disabled_by,
        plugin_env=given if sheet.place.folders else {},
        base=base if format.relative_paths else "",
        keeper=folder.id,
        prepare=sheet.place.prepare,
    )


def _find_inputs(data: Any, key: tuple[str | int, ...]) -> Inputs:
    """The questions that VS Code keeps beside the map of servers, by their ids."""
    questions = as_mappings(look_up(data, (*key[:-2], "inputs")))
    return {item["id"]: item for item in questions if isinstance(item.get("id"), str)}


# --- shapes -------------------------------------------------------------------------------------------------


def _report_shape(format: Format, sheet: Sheet, context: ScanContext) -> Iterator[Problem]:
    """What is wrong with a file as a whole."""
    data = sheet.document.data
    if not isinstance(data, Mapping):
        message = f"The file should contain an object, but contains {describe_kind(data)}"
        yield Problem(sheet.path, message, "fix it", line=1, hides_servers=True)
        return
    for path, container in dig(data, sheet.place.key or format.key, context):
        complaint = _complain(format, path, container)
        if complaint is not None:
            message, hint = complaint
            line = sheet.document.line(path) or 1
            yield Problem(sheet.path, message, hint, line=line, hides_servers=True)
    yield from _report_foreign_key(format, sheet)
    if format.closed:
        yield from _report_unknown_keys(format, sheet)


def _complain(format: Format, path: tuple[str, ...], container: Any) -> tuple[str, str] | None:
    """What is wrong with a map or list of servers, and what to do."""
    key = ".".join(path) or "the file"
    if format.as_list and isinstance(container, list):
        if all(_own_name(raw) is not None for raw in container):
            return None
        hint = "name it, or copy its definition from the hub into the file"
        return "A server in the list has no name and is skipped", hint
    if not isinstance(container, Mapping):
        message = f"`{key}` should be an object, but is {describe_kind(container)}"
        return message, "write it as a map of names to servers"
    if len(container) > MOST_SERVERS:
        return f"`{key}` holds more than {MOST_SERVERS} servers; the rest is skipped", "remove what is not needed"
    if "" in container:
        return "A server has an empty name and is skipped", "name it"
    return None


CONTAINERS = frozenset({"mcpServers", "servers", "mcp_servers", "mcp-servers", "context_servers", "mcp"})


def _report_foreign_key(format: Format, sheet: Sheet) -> Iterator[Problem]:
    """Another tool's key for the map, if this tool's own is missing."""
    data = sheet.document.data
    # Where any file may hold a map without a key, or a single entry, no key is the one that is missing.
    reads_by_key = format.key and not sheet.place.key and not format.single_entry
    if not reads_by_key or format.key[0] in data:
        return
    own_words = {key[0] for key in format.other_keys}
    candidates = sorted(data.keys() - own_words)
    # A slip such as `mcpServer` counts as another word for it.
    for word in filter(lambda word: _holds_entries(data[word]), candidates):
        if word in CONTAINERS or nearest(word, [format.key[0]]):
            message, line = f"The key `{word}` is not read here", sheet.document.line((word,))
            yield Problem(sheet.path, message, f"rename it to `{format.key[0]}`", line=line, hides_servers=True)


def _report_unknown_keys(format: Format, sheet: Sheet) -> Iterator[Problem]:
    """Keys beside the map of servers that nobody reads."""
    known = ("$schema", *format.key)
    unknown = [word for word in sheet.document.data if word not in known and word not in CONTAINERS]
    for word in unknown[: entries.MOST_UNKNOWN]:
        # A misspelled map of servers is reported as such.
        if not _holds_entries(sheet.document.data[word]):
            line = sheet.document.line((word,))
            message = f"`{word}` is no key of this file; it is ignored"
            yield Problem(sheet.path, message, suggest_key(word, known), line=line, level="warning")


def _holds_entries(data: Any) -> bool:
    return any(map(_is_entry, as_mapping(data).values()))


def _is_entry(raw: Any) -> bool:
    return not as_mapping(raw).keys().isdisjoint(("command", "url"))
