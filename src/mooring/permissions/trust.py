"""Approvals of what a project's files would start, kept in the person's own state folder.

An approval binds the project's folder, the server's name and a digest of its unexpanded definition; when any of
them differs it no longer counts. What scripts inside the project do is not covered, and every question says so.
"""

import json
import os
from collections.abc import Iterable
from typing import Any, Literal

import msgspec
from msgspec import Struct

from mooring import files
from mooring.core.config import Broken, Http, ServerConfig, Stdio
from mooring.core.problem import Problem
from mooring.core.standing import Standing
from mooring.core.template import Template
from mooring.core.where import Where
from mooring.errors import FileError

MOST = 16 * files.MIB


class Decision(Struct, frozen=True):
    """What was decided about one definition in one project, by whom, and what it then stood for."""

    project: str
    name: str
    digest: str
    verdict: Literal["approved", "rejected"]
    by: str = "person"
    target: str | None = None
    """The executable or the address's origin at that time."""
    at: str = ""


class Ledger(Struct, frozen=True):
    """Every decision on record, one for each project and name."""

    version: int = 1
    decisions: tuple[Decision, ...] = ()

    def find(self, project: str, name: str) -> Decision | None:
        return next((d for d in self.decisions if d.project == project and d.name == name), None)

    def standing(self, project: str, config: ServerConfig | Broken, vouched: bool = False) -> Standing:
        """How a definition stands; `vouched` says that its tool recorded the person's approval in their own files."""
        if config.origin.scope != "project" or config.origin.owned:
            return "own"
        if isinstance(config, Broken):
            return "unseen"
        decision = self.find(project, config.name)
        if decision is None:
            return "approved" if vouched else "unseen"
        return decision.verdict if decision.digest == digest(config) else "changed"


def identity(folder: str) -> str:
    """The name by which a project's decisions are kept: its folder with links resolved."""
    return os.path.realpath(folder)


def load(where: Where) -> tuple[Ledger, Problem | None]:
    """The decisions on record; a file that cannot be read counts as none, and is a problem."""
    path = _path(where)
    try:
        return _read(path), None
    except FileError as error:
        hint = "nothing from projects counts as approved until it is mended or removed"
        return Ledger(), Problem(path, f"The record of approvals {error.reason}", hint)


def record(where: Where, decisions: Iterable[Decision]) -> None:
    """Put decisions on record, each replacing an earlier one about the same name in the same project.

    Raises:
        FileError: the record cannot be read or written; it is left as it was.
    """
    path = _path(where)
    with files.locked(path):
        kept = {(d.project, d.name): d for d in _read(path).decisions}
        kept |= {(d.project, d.name): d for d in decisions}
        body = msgspec.to_builtins(Ledger(decisions=tuple(kept.values())))
        files.write(path, json.dumps(body, indent=2).encode() + b"\n")


def digest(config: ServerConfig) -> str:
    """A fingerprint of all that decides what is started or reached, and with what."""
    from hashlib import sha256  # only where a project defines servers

    meaning = {"tool": config.origin.tool, "oauth": _oauth(config), **_connection(config)}
    return sha256(json.dumps(meaning, sort_keys=True).encode()).hexdigest()


def _connection(config: ServerConfig) -> dict[str, Any]:
    match config.connection:
        case Stdio() as it:
            return {
                "command": it.command.text,
                "args": [arg.text for arg in it.args],
                "env": _texts(it.env),
                "pass": it.pass_env,
                "env_file": it.env_file and it.env_file.text,
                "cwd": it.cwd and it.cwd.text,
            }
        case Http() as it:
            helper = it.headers_helper and it.headers_helper.text
            return {"url": it.url.text, "headers": _texts(it.headers), "helper": helper, "transport": it.transport}


def _texts(templates: Any) -> dict[str, str]:
    return {name: value.text for name, value in templates.items()}


def _oauth(config: ServerConfig) -> Any:
    return msgspec.to_builtins(config.oauth, enc_hook=_plain) if config.oauth else None


def _plain(value: object) -> object:
    return value.text if isinstance(value, Template) else repr(value)


def _path(where: Where) -> str:
    return f"{where.state}/approvals.json"


def _read(path: str) -> Ledger:
    data = files.read(path, MOST)
    if data is None:
        return Ledger()
    try:
        ledger = msgspec.json.decode(data, type=Ledger)
    except msgspec.DecodeError:
        raise FileError(path, "is damaged; mend it or move it away") from None
    if ledger.version != 1:
        raise FileError(path, "was written by a newer version of mooring")
    return ledger
