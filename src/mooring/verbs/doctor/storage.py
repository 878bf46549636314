"""Mooring's own folders: whether they can be written to, who else can read them, and what was left in them."""

from collections.abc import Iterator

from mooring.core.definitions.paths import Paths
from mooring.display.text import count_noun
from mooring.errors import FileError
from mooring.files import check_writable
from mooring.files.cleanup import find_leftovers, find_loose
from mooring.permissions import pins
from mooring.verbs.doctor.fixes import make_fix, suggest_retry
from mooring.verbs.doctor.report import Finding

FIX = "mooring mcp doctor --fix"


def check_storage(where: Paths) -> Iterator[Finding]:
    """See that what has to be remembered can be written, and is nobody else's business."""
    yield from _check_writable(where)
    for folder in list_own_folders(where):
        yield from _check_rights(folder)
        yield from _check_leftovers(folder)


def list_own_folders(where: Paths) -> tuple[str, ...]:
    """The folders that only Mooring writes to."""
    return where.state, where.cache


def _check_writable(where: Paths) -> Iterator[Finding]:
    kept = {
        where.state: "approvals, rules and the log of calls",
        pins.find_folder(where): "which tools were approved",
        where.cache: "what servers offered",
    }
    reported: set[str] = set()
    for folder, what in kept.items():
        try:
            check_writable(folder)
        except FileError as error:
            # One folder that is full or read-only may be above several.
            if error.path not in reported:
                reported.add(error.path)
                message = f"Nothing can be stored there, so that {what} are lost: {error.reason}"
                fix = make_fix(suggest_retry(None), "make room, or make the folder writable, then look again")
                yield Finding(None, message, error.path, None, fix, True)


def _check_rights(folder: str) -> Iterator[Finding]:
    loose = list(find_loose(folder))
    if loose:
        what = f"Other users can open {len(loose)} of its files and folders"
        yield Finding(None, what, folder, None, FIX, False)


def _check_leftovers(folder: str) -> Iterator[Finding]:
    leftovers = list(find_leftovers(folder))
    if leftovers:
        what = f"{count_noun(len(leftovers), 'file')} of a process that ended long ago {_verb(leftovers)} still there"
        yield Finding(None, what, folder, None, FIX, False)


def _verb(things: list[str]) -> str:
    return "is" if len(things) == 1 else "are"
