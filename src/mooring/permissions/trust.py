"""Approvals of what a project's files would start, kept in the person's own state folder.

An approval binds the project's folder, the server's name and a digest of its unexpanded definition; when any of
them differs it no longer counts. It records the program or the address that this stood for, and a start that finds
another asks again; so does the first one that finds any, where it stood for none. What scripts inside the project do
is not covered, and every question says so.
"""

import json
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

import msgspec
from msgspec import Struct

from mooring import files
from mooring.core.config import Broken, ServerConfig
from mooring.core.problem import Problem
from mooring.core.standing import Standing, in_force
from mooring.core.where import Where
from mooring.display.text import argument
from mooring.errors import FileError

if TYPE_CHECKING:
    from mooring.core.approved import Approved


class Record(Protocol):
    """Something on record, and by which version of its shape."""

    @property
    def version(self) -> int: ...


T = TypeVar("T", bound=Record)

MOST = 16 * files.MIB
MOST_VERSIONS = 8


class Decision(Struct, frozen=True):
    """What was decided about one definition in one project, by whom, and what it then stood for."""

    project: str
    name: str
    digest: str
    verdict: Literal["approved", "rejected"]
    by: str = "person"
    target: str | None = None
    """The executable or the address's origin at that time, or `unresolved`; `None` where only a start can tell."""
    at: str = ""


class Ledger(Struct, frozen=True):
    """Every decision on record, one for each project, name and definition."""

    version: int = 1
    decisions: tuple[Decision, ...] = ()

    def about(self, project: str, name: str) -> tuple[Decision, ...]:
        return tuple(d for d in self.decisions if d.project == project and d.name == name)

    def standing(self, project: str, config: ServerConfig | Broken) -> Standing:
        """How a definition stands in a project."""
        if config.origin.scope != "project" or config.origin.owned:
            return "own"
        decisions = self.about(project, config.name)
        if isinstance(config, Broken) or not decisions:
            return "unseen"
        mine = digest(config)
        return next((d.verdict for d in reversed(decisions) if d.digest == mine), "changed")


def admit(ledger: Ledger, project: str, config: ServerConfig) -> "Approved | None":
    """The definition as one that may be started in a project's folder; `None` where nobody let it."""
    from mooring.core.approved import Approved  # a listing starts nothing

    standing = ledger.standing(project, config)
    if not in_force(standing):
        return None
    mine = digest(config) if standing == "approved" else ""
    target = next((d.target for d in reversed(ledger.about(project, config.name)) if d.digest == mine), None)
    return Approved(config, project, standing == "own", target)


def given(config: ServerConfig, folder: str) -> "Approved":
    """A definition that a program gave: whoever writes the program has decided."""
    from mooring.core.approved import Approved

    return Approved(config, folder)


def identity(folder: str) -> str:
    """The name by which a project's decisions are kept: its folder with links resolved."""
    return os.path.realpath(folder)


def load(where: Where) -> tuple[Ledger, Problem | None]:
    """The decisions on record; a file that cannot be read counts as none, and is a problem."""
    path = record_of(where)
    try:
        return _read(path), None
    except FileError as error:
        message = f"The record of approvals {error.reason}, so that nothing from projects counts as approved"
        return Ledger(), Problem(path, message, anew(path))


def record(where: Where, decisions: Iterable[Decision], seconds: float = files.LOCK_SECONDS) -> Ledger:
    """Put decisions on record, each replacing an earlier one about the same definition in the same project.

    Raises:
        FileError: the record cannot be read or written, or is locked for longer than `seconds`; it is left as it was.
    """
    path = record_of(where)
    with files.locked(path, seconds):
        ledger = Ledger(decisions=tuple(_kept((*_known(path).decisions, *decisions))))
        files.write(path, json.dumps(msgspec.to_builtins(ledger), indent=2).encode() + b"\n")
    return ledger


def _known(path: str) -> Ledger:
    """What is on record, to be added to. Raises: FileError, which says what to do."""
    try:
        return _read(path)
    except FileError as error:
        raise FileError(path, f"{error.reason}; {anew(path)}") from None


def _kept(decisions: Iterable[Decision]) -> Iterator[Decision]:
    """The last word on each definition, and of each name only the latest few."""
    last: dict[tuple[str, str], dict[str, Decision]] = {}
    for decision in decisions:
        named = last.setdefault((decision.project, decision.name), {})
        named.pop(decision.digest, None)
        named[decision.digest] = decision
    for named in last.values():
        yield from list(named.values())[-MOST_VERSIONS:]


def digest(config: ServerConfig) -> str:
    """A fingerprint of all that decides what is started or reached, and with what: by meaning, not by text alone."""
    from hashlib import sha256  # only where a project defines servers

    meaning = {"tool": config.origin.tool, "connection": config.written or config.connection, "oauth": config.oauth}
    return sha256(json.dumps(msgspec.to_builtins(meaning), sort_keys=True).encode()).hexdigest()


def record_of(where: Where) -> str:
    """The file in which a person's decisions are kept."""
    return f"{where.state}/approvals.json"


def _read(path: str) -> Ledger:
    return read_record(path, Ledger, MOST) or Ledger()


def anew(path: str) -> str:
    """What to do about a record that cannot be used."""
    return f"to begin a new one: mv {argument(path)} {argument(f'{path}.damaged')}"


def read_record(path: str, kind: type[T], most: int) -> T | None:
    """What is on record in one of the person's own files, `None` where there is none.

    Raises:
        FileError: it cannot be read, is damaged, or was written by a newer version.
    """
    data = files.read(path, most)
    if data is None:
        return None
    try:
        found = msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise FileError(path, "is damaged") from None
    if found.version != 1:
        raise FileError(path, "was written by a newer version of mooring")
    return found
