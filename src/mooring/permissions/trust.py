"""Approvals of what a project's files would start, kept in the person's own state folder (`approvals.json`).

An approval binds the project's folder, the server's name and a digest of its unexpanded definition; when any of them
differs it no longer applies. It also records the executable or the origin that the definition resolved to.
A start that finds another one asks again, and so does the first start that finds any if there was none. The same goes
for the files that the definition names, as far as they change what is loaded. What scripts inside the project do is not
covered, and every question says so.
"""

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal, TypeAlias

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from mooring import files
from mooring.core.definitions.approved import AllowRule, NamedKind, Standing, is_in_force
from mooring.core.definitions.config import Broken, ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.units import MIB
from mooring.display.text import suggest_new_record
from mooring.errors import FileError
from mooring.files.record import read_own_record, write_own_record

if TYPE_CHECKING:
    from mooring.core.definitions.approved import Approved

Verdict: TypeAlias = Literal["approved", "rejected"]
PERSON = "person"
MAX_BYTES = 16 * MIB
LOCK_SECONDS = 10.0
"""How long to wait for another process that records decisions."""
MAX_VERSIONS = 8
"""How many definitions of one name are remembered for a project."""


class Decision(Struct, frozen=True):
    """What was decided about one definition in one project, by whom, and what the definition then resolved to."""

    project: str
    name: str
    digest: str
    verdict: Verdict
    by: str = PERSON
    """The person, or the tool whose record of an approval was adopted."""
    target: str | None = None
    """The executable or the address's origin at that time, or `unresolved`; `None` if only a start can find out."""
    at: str = ""
    files: str = ""
    """A digest of where the files that it names led, and of what they set that changes what a program loads."""
    shown: tuple[str, ...] | None = None
    """Marks of what the question showed that it uses; `None` in records from before these were kept."""
    rules: tuple[AllowRule, ...] = ()
    """The person's rules that were named after the yes, and that they applied to it."""

    @property
    def is_bound(self) -> bool:
        """Whether it may apply: what another tool recorded is a name, and has to be bound to a target to mean more."""
        return self.by == PERSON or self.target is not None


class NameApproval(Struct, frozen=True):
    """That a project's agent, command or skill may have a name of somebody else's without a word about it."""

    project: str
    kind: NamedKind
    name: str
    digest: str
    at: str = ""

    def is_about(self, project: str, kind: NamedKind, name: str) -> bool:
        return (self.project, self.kind, self.name) == (project, kind, name)


class ApprovalRecord(Struct, frozen=True):
    """Every decision on record, one for each project, name and definition."""

    version: int = 1
    decisions: tuple[Decision, ...] = ()
    reset: tuple[tuple[str, str], ...] = ()
    """The projects and names whose decisions were withdrawn: what another tool recorded is not adopted again."""
    names: tuple[NameApproval, ...] = ()
    """What projects' files may be called, oldest first."""

    def list_name_digests(self, project: str, kind: NamedKind, name: str) -> tuple[str, ...]:
        """The texts that were approved under a name, oldest first."""
        return tuple(each.digest for each in self.names if each.is_about(project, kind, name))

    def may_adopt(self, project: str, name: str) -> bool:
        """Whether an approval that another tool recorded may be adopted: the person has not had their own say."""
        return (project, name) not in self.reset and not self.find_decisions(project, name)

    def find_decisions(self, project: str, name: str) -> tuple[Decision, ...]:
        """The decisions about a name that apply, oldest first."""
        about = [each for each in self.decisions if (each.project, each.name) == (project, name)]
        return tuple(_drop_withdrawn([decision for decision in about if decision.is_bound]))

    def find_decision(self, project: str, config: ServerConfig) -> Decision | None:
        """The latest decision about this very definition."""
        return _find_latest(self.find_decisions(project, config.name), digest(config))

    def find_adopted(self, project: str, config: ServerConfig | Broken) -> str | None:
        """The tool whose record of an approval was adopted for a definition; `None` if the person decided here."""
        approval = self._find_approval(project, config)
        return None if approval is None or approval.by == PERSON else approval.by

    def find_applied(self, project: str, config: ServerConfig | Broken) -> tuple[AllowRule, ...]:
        """The person's rules that they applied to a definition when they approved it."""
        approval = self._find_approval(project, config)
        return () if approval is None else approval.rules

    def _find_approval(self, project: str, config: ServerConfig | Broken) -> Decision | None:
        """The decision by which a project's definition takes effect."""
        if isinstance(config, Broken) or self.find_standing(project, config) != "approved":
            return None
        return self.find_decision(project, config)

    def find_standing(self, project: str, config: ServerConfig | Broken) -> Standing:
        """Whether a definition may take effect in a project."""
        if config.origin.scope != "project" or config.origin.owned:
            return "own"
        decisions = self.find_decisions(project, config.name)
        if isinstance(config, Broken) or not decisions:
            return "unseen"
        # A name on its own approves nothing: anyone who can change the file could swap the command behind an approved
        # name, as in Cursor before 1.3 (CVE-2025-54136).
        decision = _find_latest(decisions, digest(config))
        return "changed" if decision is None else decision.verdict


def admit(record: ApprovalRecord, project: str, config: ServerConfig) -> "Approved | None":
    """The definition as one that may be started in a project's folder; `None` if nobody approved it."""
    from mooring.core.definitions.approved import Approved  # a listing starts nothing

    standing = record.find_standing(project, config)
    if not is_in_force(standing):
        return None
    if standing == "own":
        return Approved(config, project)
    # The digest covers the text of the definition, `${HOME}/bin/x`. The target is what that text led to when the person
    # looked: changing a variable or the search path afterwards would put another program behind the same text.
    decision = record.find_decision(project, config)
    assert decision is not None  # it is what makes the definition approved
    return Approved(
        config,
        project,
        own=False,
        target=decision.target,
        files=decision.files,
        shown=decision.shown,
        rules=decision.rules,
    )


def approve_given(config: ServerConfig, folder: str) -> "Approved":
    """A definition that a program passed in: its author has decided."""
    from mooring.core.definitions.approved import Approved

    return Approved(config, folder)


def identify_project(folder: str) -> str:
    """The name under which a project's decisions are kept: its folder with links resolved."""
    return os.path.realpath(folder)


def digest(config: ServerConfig) -> str:
    """A fingerprint of everything that decides what is started or reached, and with what: of the meaning, not the text.

    The tool whose file it is belongs to the meaning: the same text is expanded by other rules in another tool's file.
    """
    from hashlib import sha256  # only where a project defines servers

    login = msgspec.to_builtins(config.oauth)
    # Without it if nothing is said, as before there was such a key: approvals given then still hold.
    if login and login["credential_id"] is None:
        del login["credential_id"]
    meaning = {"tool": config.origin.tool, "connection": config.written or config.connection, "oauth": login}
    return sha256(json.dumps(msgspec.to_builtins(meaning), sort_keys=True).encode()).hexdigest()


def load(where: Paths) -> tuple[ApprovalRecord, Problem | None]:
    """The decisions on record; a file that cannot be read is empty, and is a problem."""
    path = record_path(where)
    try:
        return _read(path), None
    except FileError as error:
        message = f"The record of approvals {error.reason}, so no project's server is approved"
        return ApprovalRecord(), Problem(path, message, error.fix or suggest_new_record(path))


def record(where: Paths, decisions: Iterable[Decision], seconds: float = LOCK_SECONDS) -> ApprovalRecord:
    """Record decisions, each replacing an earlier one about the same definition in the same project.

    A rejection also withdraws every earlier approval of that name, whatever its definition was.

    Raises:
        FileError: the record cannot be read or written, or is locked for longer than `seconds`; it is left as it was.
    """
    with _lock_record(where, seconds) as (path, earlier):
        updated = replace(earlier, decisions=tuple(_drop_older((*earlier.decisions, *decisions))))
        write_own_record(path, updated)
    return updated


def reset(where: Paths, project: str, names: Sequence[str]) -> None:
    """Forget every decision about these names in a project: nobody has approved or rejected them.

    Raises:
        FileError: the record cannot be read or written, or is locked; it is left as it was.
    """
    with _lock_record(where) as (path, record):
        forgotten = [(project, name) for name in names]
        kept = tuple(each for each in record.decisions if (each.project, each.name) not in forgotten)
        write_own_record(path, replace(record, decisions=kept, reset=tuple(dict.fromkeys((*record.reset, *forgotten)))))


def approve_names(where: Paths, approved: Iterable[NameApproval]) -> None:
    """Record that projects' files may have these names as they are now.

    Raises:
        FileError: the record cannot be read or written, or is locked; it is left as it was.
    """
    with _lock_record(where) as (path, record):
        names = record.names
        for each in approved:
            about = [other for other in names if other.is_about(each.project, each.kind, each.name)]
            others = [other for other in names if other not in about]
            texts = [other for other in about if other.digest != each.digest]
            names = (*others, *texts[1 - MAX_VERSIONS :], each)
        write_own_record(path, replace(record, names=names))


def reset_names(where: Paths, project: str, kind: NamedKind, name: str) -> bool:
    """Forget that a project's file may have a name, whatever it said; whether there was anything to forget.

    Raises:
        FileError: the record cannot be read or written, or is locked; it is left as it was.
    """
    with _lock_record(where) as (path, record):
        kept = tuple(each for each in record.names if not each.is_about(project, kind, name))
        if kept != record.names:
            write_own_record(path, replace(record, names=kept))
        return kept != record.names


def record_path(where: Paths) -> str:
    """The file in which a person's decisions are kept."""
    return f"{where.state}/approvals.json"


def _find_latest(decisions: Iterable[Decision], fingerprint: str) -> Decision | None:
    matching = [decision for decision in decisions if decision.digest == fingerprint]
    return matching[-1] if matching else None


def _drop_withdrawn(decisions: Sequence[Decision]) -> list[Decision]:
    """Decisions about one name, without the approvals that a later rejection withdrew.

    Whoever rejects a server means the name: going back to an older text of the file must not start it unasked.
    """
    rejections = [index for index, decision in enumerate(decisions) if decision.verdict == "rejected"]
    last = rejections[-1] if rejections else 0
    earlier = [decision for decision in decisions[:last] if decision.verdict == "rejected"]
    return [*earlier, *decisions[last:]]


def _read(path: str) -> ApprovalRecord:
    return read_own_record(path, ApprovalRecord, MAX_BYTES) or ApprovalRecord()


@contextmanager
def _lock_record(where: Paths, seconds: float = LOCK_SECONDS) -> Iterator[tuple[str, ApprovalRecord]]:
    """The file and what it says, to be replaced by the caller while nobody else can."""
    path = record_path(where)
    with files.locked(path, seconds):
        # Never written over when damaged: what it says can still be read by a person, and rejections would be lost.
        try:
            record = _read(path)
        except FileError as error:
            raise FileError(path, error.reason, error.fix or suggest_new_record(path)) from None
        yield path, record


def _drop_older(decisions: Iterable[Decision]) -> Iterator[Decision]:
    """The last decision on each definition, and of each name only the latest few."""
    by_name: dict[tuple[str, str], list[Decision]] = {}
    for decision in decisions:
        key = decision.project, decision.name
        others = [other for other in by_name.get(key, ()) if other.digest != decision.digest]
        # At once: if the rejected definition is approved later, what its rejection withdrew stays withdrawn.
        by_name[key] = _drop_withdrawn([*others, decision])
    for kept in by_name.values():
        yield from kept[-MAX_VERSIONS:]
