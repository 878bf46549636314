"""Definitions copied into a tool's file: what may be copied, the questions, and one write for all of them.

`import` and `export` differ only in which definitions they take and whose file they write.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.conversation.question import Ask, ChangeFile, MissingValue, Yes
from mooring.core.definitions.config import Broken, ServerConfig, list_inputs, list_templates
from mooring.core.definitions.paths import Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.definitions.template import OWN_KEEPER, InputPart, SecretPart, TextPart
from mooring.core.text.suggestions import find_server
from mooring.discovery.choose import Choice
from mooring.discovery.edit import describe_taken, is_same_entry, list_unread_keys, write_entry
from mooring.discovery.format import document_kind
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.discovery.targets import WriteScope
from mooring.discovery.template import list_secret_keys
from mooring.discovery.translate import Equivalents, translate_config
from mooring.display.text import count_noun, problem_line, quote_argument, safe, short_path
from mooring.errors import ConfigError, UnknownServer
from mooring.inventory.load import Inventory
from mooring.verbs.config.add import (
    Destination,
    approve_entries,
    check_name,
    check_target_name,
    follow_link,
    refuse_unreadable,
    update_config,
)
from mooring.verbs.config.clearance import Clearance, SkippedServer
from mooring.verbs.config.file_diff import diff_file, mask_entry
from mooring.verbs.config.secrets import list_stored_secrets, name_secret, store_secret
from mooring.verbs.config.stand_ins import StandIn, fill_in, find_stand_ins, spell_stand_ins

T = TypeVar("T")


class ServerKey(Struct, frozen=True):
    """A key of a server's definition, such as `env.TOKEN`."""

    name: str
    key: str


class SecretForInput(Struct, frozen=True):
    """An input of a definition, such as `${input:token}`, and the stored secret that takes its place."""

    server: str
    secret: str
    input: InputPart


class CopyOptions(Struct, frozen=True):
    """How to copy."""

    scope: WriteScope = "user"
    replace: bool = False
    """A definition takes the place of another one that has its name."""
    dry_run: bool = False
    """Only find out what would be written; nobody is asked anything."""
    confirm: bool = True
    """Show the change and ask before the file is written, if there is anybody to ask."""


class Copied(Struct, frozen=True, rename="camel"):
    """What was written, and where."""

    tool: str
    scope: WriteScope
    path: str
    leads_to: str | None = None
    """The file that is changed, if the path is a symbolic link."""
    planned: tuple[str, ...] = ()
    """What can be written. All of it was, unless it was a dry run, the person declined, or somebody was faster."""
    written: tuple[str, ...] = ()
    skipped: tuple[SkippedServer, ...] = ()
    not_expressed: tuple[ServerKey, ...] = ()
    """What the tool cannot express; it is left out."""
    plain_secrets: tuple[ServerKey, ...] = ()
    """What looks like a secret, and is written as it is because the server needs it."""
    from_project: tuple[str, ...] = ()
    """What the project defines, and the person's own file has from now on."""
    approved: tuple[str, ...] = ()
    """What is in a project's file now, and approved there."""
    stored: tuple[ServerKey, ...] = ()
    """The secrets that take the place of inputs, by their servers."""
    diff: str = ""
    """The change, line by line and without secrets."""
    declined: bool = False
    """The person saw the change and said no."""
    unread: tuple[Problem, ...] = ()
    """Files with servers that could not be read."""


class CopyCandidate(Struct, frozen=True):
    """A definition to copy."""

    choice: Choice
    is_named: bool = False
    """The person named the server."""

    @property
    def name(self) -> str:
        return self.choice.name

    @property
    def config(self) -> ServerConfig | Broken:
        return self.choice.definition.config


def list_candidates(choices: Iterable[Choice], names: Sequence[str], whose: str = "") -> list[CopyCandidate]:
    """The choices of these names, or all of them if there are no names; `whose` says where they were looked for.

    Raises:
        UnknownServer: none has one of the names.
    """
    by_name = {choice.name: choice for choice in choices}
    if not names:
        return [CopyCandidate(choice) for choice in by_name.values()]
    try:
        found = dict.fromkeys(find_server(name, by_name) for name in names)
    except UnknownServer as error:
        raise UnknownServer(error.name, error.near, what=f"server {whose}".rstrip()) from None
    return [CopyCandidate(by_name[name], is_named=True) for name in found]


async def copy_servers(
    workspace: Workspace,
    inventory: Inventory,
    candidates: Iterable[CopyCandidate],
    destination: Destination,
    options: CopyOptions,
    ask: Ask | None,
    left_out: Sequence[SkippedServer] = (),
) -> Copied:
    """Copy definitions into a file. A project's definition is copied only once the person has approved it.

    `left_out` is what the caller left out already, for the report.

    Raises:
        ConfigError: the file is not understood well enough to be changed.
        FileError: it cannot be read or written.
    """
    prepared = [_prepare(candidate, destination, workspace, options.scope) for candidate in candidates]
    skipped = [*left_out, *(each for each in prepared if isinstance(each, SkippedServer))]
    entries = [each for each in prepared if isinstance(each, _Entry)]
    before = files.read(destination.path, destination.place.limit) or b""
    wanted, present = _sort(entries, destination, before, options.replace, workspace.where.home)
    clearance = Clearance(workspace, inventory, None if options.dry_run else ask)
    cleared, refused = await _clear(wanted, clearance)
    answered = await _answer_inputs(workspace, cleared, None if options.dry_run else ask)
    skips = (*skipped, *present, *refused, *answered.skipped)
    report = _plan(destination, options, answered.entries, before, skips, workspace.where.home)
    if options.dry_run or not answered.entries:
        return report
    if options.confirm and ask:
        path = short_path(report.path, workspace.where.home)
        question = ChangeFile(path, report.planned, report.diff, tuple(_list_notes(report, workspace.where.home)))
        if not isinstance(await ask(question), Yes):
            return replace(report, declined=True)
    # Before the file: an entry whose secret is missing would not start.
    for name, value in answered.values.items():
        await store_secret(workspace.where, name, value)
    return _write(workspace, report, answered.entries, destination, options)


# --- which definitions --------------------------------------------------------------------------------------


class _Entry(Struct, frozen=True):
    """A definition as an entry of the file."""

    candidate: CopyCandidate
    config: ServerConfig
    raw: Mapping[str, Any]
    lost: tuple[str, ...]
    inputs: tuple[SecretForInput, ...] = ()
    plain_secrets: tuple[str, ...] = ()
    """The keys under which there is a secret itself."""

    @property
    def name(self) -> str:
        return self.config.name

    @property
    def is_foreign(self) -> bool:
        return self.config.origin.foreign


def _prepare(
    candidate: CopyCandidate, destination: Destination, workspace: Workspace, scope: WriteScope
) -> _Entry | SkippedServer:
    name, config = candidate.name, candidate.config
    format = destination.target.format
    if isinstance(config, Broken):
        return SkippedServer(name, _describe_broken(config, workspace.where.home), "broken")
    if not config.enabled and not candidate.is_named:
        return SkippedServer(name, "disabled", "disabled", "Name one to copy it as it is.")
    try:
        check_name(name)
        check_target_name(name, format)
        inputs = _list_inputs(config) if format.tool == OWN.tool else ()
        config = translate_config(
            spell_stand_ins(config), format, _find_equivalents(workspace, destination, scope, inputs)
        )
        entry = write_entry(config, format)
    except ConfigError as error:
        return SkippedServer(name, str(error).removesuffix("."), "refused")
    if "disabled" in entry.lost:
        why = f"it is disabled, which {format.title} cannot express: there it would be on"
        return SkippedServer(name, why, "refused")
    if entry.lacks:
        # The copy would come before the definition that has all of it.
        return SkippedServer(name, f"{format.title} cannot express {_describe_lack(config, entry.lacks)}", "refused")
    # What other tools' files say in their own ways stays theirs.
    stand_ins = find_stand_ins(name, entry.raw) if format.tool == OWN.tool else ()
    asked = [SecretForInput(name, each.secret, _describe_stand_in(each)) for each in stand_ins]
    raw = fill_in(entry.raw, {each: f"${{keyring:{each.secret}}}" for each in stand_ins})
    # A transport that nobody named is not missed.
    lost = [key for key in entry.lost if key != "transport" or config.transport != "auto"]
    secrets = [key for key in list_secret_keys(config) if key not in {each.key for each in stand_ins}]
    wanted = (*_keep_used(inputs, config), *dict.fromkeys(asked))
    return _Entry(candidate, config, raw, (*lost, *list_unread_keys(config)), wanted, tuple(secrets))


def _describe_stand_in(stand_in: StandIn) -> InputPart:
    """What a page left for the person to fill in, as what a definition asks them for."""
    return InputPart(stand_in.key, secret=stand_in.is_secret, description=f"{stand_in.text} stands for it")


def _describe_lack(config: ServerConfig, lacks: Sequence[str]) -> str:
    """The keys that a copy would lack, with the placeholders that are to blame."""
    templates = dict(list_templates(config.written or config.connection, config.oauth))
    described = []
    for key in lacks:
        parts = templates[key].all_parts if key in templates else ()
        blamed = dict.fromkeys(part.written for part in parts if not isinstance(part, TextPart))
        described.append(f"`{key}`" + (f" ({', '.join(blamed)})" if blamed else ""))
    return f"{', '.join(described)}, so the copy would lack it"


def _list_inputs(config: ServerConfig) -> tuple[SecretForInput, ...]:
    """What Mooring could store for a server: its inputs, and what another tool's store has for it."""
    connection = config.written or config.connection
    inputs = [*list_inputs(connection, config.oauth), *_list_foreign_secrets(config)]
    found = [SecretForInput(config.name, name_secret(config.name, each.id), each) for each in inputs]
    return tuple(dict.fromkeys(found))


def _list_foreign_secrets(config: ServerConfig) -> Iterator[InputPart]:
    """The secrets of a server that another tool stores, as inputs."""
    connection = config.written or config.connection
    for _, template in list_templates(connection, config.oauth):
        secrets = [part for part in template.all_parts if isinstance(part, SecretPart)]
        foreign = [secret for secret in secrets if secret.keeper != OWN_KEEPER]
        yield from (InputPart(secret.name, secret=True) for secret in foreign)


def _keep_used(inputs: Iterable[SecretForInput], config: ServerConfig) -> tuple[SecretForInput, ...]:
    templates = list_templates(config.written or config.connection, config.oauth)
    used = {name for _, template in templates for name in template.own_secrets}
    return tuple(each for each in inputs if each.secret in used)


def _find_equivalents(
    workspace: Workspace, destination: Destination, scope: WriteScope, inputs: Sequence[SecretForInput]
) -> Equivalents:
    where = workspace.where
    folder = destination.context.root
    places = {
        "workspace": folder,
        "workspace-name": os.path.basename(folder),
        "separator": "\\" if where.platform == "win32" else "/",
    }
    if scope == "user":
        # Whoever shares a project's file has another home.
        places["home"] = where.home
    home_variable = "USERPROFILE" if where.platform == "win32" else "HOME"
    return Equivalents(places, home_variable, {each.input.id: each.secret for each in inputs})


def _describe_broken(config: Broken, home: str) -> str:
    problem = config.problem
    line = f":{problem.line}" if problem.line else ""
    return f"it {problem.message} ({short_path(problem.path, home) if problem.path else 'as given'}{line})"


def _sort(
    entries: Iterable[_Entry], destination: Destination, data: bytes, may_replace: bool, home: str
) -> tuple[list[_Entry], list[SkippedServer]]:
    """The entries that a file does not have, and why the others are not written."""
    with refuse_unreadable(destination.path):
        there = destination.list(data)
    path = short_path(destination.path, home)
    wanted: list[_Entry] = []
    same: list[SkippedServer] = []
    taken: list[SkippedServer] = []
    for entry in entries:
        name = entry.name
        if name not in there:
            wanted.append(entry)
        elif is_same_entry(name, there[name], entry.raw, destination.target.format):
            same.append(SkippedServer(name, f"already in {path}", "same"))
        elif may_replace:
            wanted.append(entry)
        else:
            taken.append(SkippedServer(name, describe_taken(name, path), "refused", "--replace replaces it."))
    return wanted, [*same, *taken]


async def _clear(entries: Iterable[_Entry], clearance: Clearance) -> tuple[list[_Entry], list[SkippedServer]]:
    """The entries that may be copied, and why the others may not."""
    cleared, refused = [], []
    for entry in entries:
        candidate = entry.candidate
        objection = await clearance.find_objection(candidate.choice, is_named=candidate.is_named)
        if objection is None:
            cleared.append(entry)
        else:
            refused.append(objection)
    return cleared, refused


class _AnsweredInputs(Struct, frozen=True):
    """Entries whose inputs are secrets now, the values to store, and the servers whose inputs nobody gave."""

    entries: tuple[_Entry, ...]
    values: Mapping[str, str] = {}
    """By the names of the secrets."""
    skipped: tuple[SkippedServer, ...] = ()


async def _answer_inputs(workspace: Workspace, entries: Sequence[_Entry], ask: Ask | None) -> _AnsweredInputs:
    """Offer to store what definitions ask for; a secret that is stored already is used as it is."""
    if not any(entry.inputs for entry in entries):
        return _AnsweredInputs(tuple(entries))
    stored = {secret.name for secret in await list_stored_secrets(workspace.where)}
    answered, skipped = [], []
    values: dict[str, str] = {}
    for entry in entries:
        missing = [each for each in entry.inputs if each.secret not in stored and each.secret not in values]
        given = {each.secret: await _ask_for_input(each, ask) for each in missing}
        lacking = [each for each in missing if given[each.secret] is None]
        if lacking:
            skipped.append(_skip_for_inputs(entry.name, lacking))
            continue
        values |= {name: value for name, value in given.items() if value is not None}
        answered.append(entry)
    return _AnsweredInputs(tuple(answered), values, tuple(skipped))


async def _ask_for_input(wanted: SecretForInput, ask: Ask | None) -> str | None:
    if ask is None:
        return None
    asked = wanted.input
    description = f"{asked.description} (stored as the secret {wanted.secret})".lstrip()
    question = MissingValue(wanted.server, asked.id, description, asked.default, asked.secret, asked.options)
    answer = await ask(question)
    return str(answer.content) if isinstance(answer, Yes) and answer.content else None


def _skip_for_inputs(name: str, lacking: Sequence[SecretForInput]) -> SkippedServer:
    asked = ", ".join(each.input.id for each in lacking)
    commands = "; ".join(f"mooring secret set {quote_argument(each.secret)}" for each in lacking)
    return SkippedServer(
        name, f"it asks for {asked}, which nobody gave", "refused", f"Store it, then try again: {commands}"
    )


# --- the file -----------------------------------------------------------------------------------------------


def _plan(
    destination: Destination,
    options: CopyOptions,
    entries: Sequence[_Entry],
    before: bytes,
    skipped: tuple[SkippedServer, ...],
    home: str,
) -> Copied:
    """What a write would do."""
    return Copied(
        tool=destination.target.format.tool,
        scope=options.scope,
        path=destination.path,
        leads_to=follow_link(destination.path),
        planned=tuple(entry.name for entry in entries),
        skipped=skipped,
        not_expressed=tuple(ServerKey(entry.name, key) for entry in entries for key in entry.lost),
        plain_secrets=tuple(ServerKey(entry.name, key) for entry in entries for key in entry.plain_secrets),
        from_project=tuple(entry.name for entry in entries if options.scope == "user" and entry.is_foreign),
        stored=tuple(ServerKey(entry.name, each.secret) for entry in entries for each in entry.inputs),
        diff=_preview(destination, entries, before, home),
    )


def _preview(destination: Destination, entries: Iterable[_Entry], before: bytes, home: str) -> str:
    format = destination.target.format
    dialect = (format.writes and format.writes.dialect) or format.dialect
    masked = {entry.name: mask_entry(entry.raw, dialect) for entry in entries}
    if not masked:
        return ""
    with refuse_unreadable(destination.path):
        after = destination.put_all(masked, before)
        shown = short_path(destination.path, home)
        return diff_file(shown, document_kind(destination.path), before, after, dialect)


def _write(
    workspace: Workspace, report: Copied, entries: Sequence[_Entry], destination: Destination, options: CopyOptions
) -> Copied:
    written: dict[str, Mapping[str, Any]] = {}
    skipped: list[SkippedServer] = []

    def change(data: bytes) -> bytes:
        # Another program may have written some of them since the person was asked.
        nonlocal written, skipped
        wanted, skipped = _sort(entries, destination, data, options.replace, workspace.where.home)
        written = {entry.name: entry.raw for entry in wanted}
        return destination.put_all(written, data) if written else data

    update_config(destination.path, change, workspace.where, destination.place.limit)
    approved = approve_entries(workspace, destination.path, written) if options.scope == "project" else ()
    return replace(
        report,
        written=tuple(written),
        skipped=(*report.skipped, *skipped),
        not_expressed=tuple(each for each in report.not_expressed if each.name in written),
        plain_secrets=tuple(each for each in report.plain_secrets if each.name in written),
        from_project=tuple(name for name in report.from_project if name in written),
        stored=tuple(each for each in report.stored if each.name in written),
        approved=approved,
    )


# --- in words -----------------------------------------------------------------------------------------------


def describe_copied(copied: Copied, home: str) -> Iterator[str]:
    """What was done, then what a person should know about it."""
    path = short_path(copied.path, home)
    if copied.written:
        yield f"Wrote {count_noun(len(copied.written), 'server')} to {path}: {safe(', '.join(copied.written))}."
    elif copied.planned:
        count = count_noun(len(copied.planned), "server")
        yield f"Nothing was written to {path} yet. It would get {count}: {safe(', '.join(copied.planned))}."
    else:
        yield f"There is nothing to write to {path}."
    for (why, hint), names in _group_names(((each.why, each.hint), each.name) for each in copied.skipped).items():
        yield f"Skipped {safe(', '.join(names))}: {safe(why)}. {safe(hint)}".rstrip()
    for problem in copied.unread:
        yield f"Skipped a file: {problem_line(problem, home)}."
    if not copied.declined:
        yield from map(safe, _list_notes(copied, home))


def _group_names(named: Iterable[tuple[T, str]]) -> dict[T, list[str]]:
    """The servers of which the same can be said: about a hundred of them it is one line."""
    groups: dict[T, list[str]] = {}
    for what, name in named:
        groups.setdefault(what, []).append(name)
    return groups


def _list_notes(report: Copied, home: str) -> Iterator[str]:
    """What a person should know about the entries, a sentence for each thing."""
    if report.leads_to:
        path, target = short_path(report.path, home), short_path(report.leads_to, home)
        yield f"{path} is a link; the file is {target}."
    for each in report.stored:
        yield f"{each.name}: what it asked for is the secret {each.key}, which is stored and not in the file."
    for key, names in _group_names((each.key, each.name) for each in report.not_expressed).items():
        yield f"{', '.join(names)}: {report.tool} cannot express `{key}`, so it is left out."
    for name in report.from_project:
        yield f"{name} comes from the project; your own servers start everywhere, unasked, and see more variables."
    readers = ", and everybody who has the project can read it" if report.scope == "project" else ""
    for key, names in _group_names((each.key, each.name) for each in report.plain_secrets).items():
        yield f"{', '.join(names)}: `{key}` holds a secret in plain text, which is copied as it is{readers}."
