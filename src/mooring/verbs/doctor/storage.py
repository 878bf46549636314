"""Finds trouble with where things are kept: Mooring's own files and folders, and the person's secrets."""

from collections.abc import Iterator

from mooring.auth.store import read_stored
from mooring.core.definitions.config import ServerConfig, list_templates
from mooring.core.definitions.paths import Paths
from mooring.display.text import count_noun, safe
from mooring.errors import FileError
from mooring.files import check_writable
from mooring.files.cleanup import find_leftovers, find_loose
from mooring.inventory.load import Inventory
from mooring.permissions import pins
from mooring.verbs.doctor.fixes import lead_with_command, make_fix, suggest_edit, suggest_editor, suggest_retry
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
        verb = "is" if len(leftovers) == 1 else "are"
        what = f"{count_noun(len(leftovers), 'file')} of a process that ended long ago {verb} still there"
        yield Finding(None, what, folder, None, FIX, False)


def check_secrets(inventory: Inventory, where: Paths) -> Iterator[Finding]:
    """What servers that could be started need, and nobody has stored. No value is read, and no keyring asked."""
    try:
        stored = read_stored(where)
    except FileError as error:
        fix = lead_with_command(error.fix, suggest_editor(error.path))
        yield Finding(None, f"Your secrets cannot be found: the file {error.reason}", error.path, None, fix, True)
        return
    secrets = {entry.name for entry in stored if entry.kind == "secret"}
    logins = {entry.name for entry in stored if entry.kind == "oauth"}
    for config in inventory.list_startable():
        yield from _check_secrets_of(config, secrets)
        # A project's file can name a login by its id, but not a secret.
        yield from _check_credential(config, logins if config.origin.foreign else logins | secrets)


def _check_secrets_of(config: ServerConfig, stored: set[str]) -> Iterator[Finding]:
    for key, template in list_templates(config.connection, config.oauth):
        for name in template.own_secrets:
            if name not in stored:
                what = f"It needs the secret {name} for {safe(key)}, which is not stored"
                fix = f"mooring secret set {name}"
                yield Finding(config.name, what, config.origin.path, None, fix, True, "variables")


def _check_credential(config: ServerConfig, stored: set[str]) -> Iterator[Finding]:
    credential = config.oauth.credential_id if config.oauth else None
    if credential is not None and credential not in stored:
        # Without its name: no value of a login is shown by what only reads, and the file has it.
        what = "The credential that `auth.credentialId` names is not stored, so it is connected without"
        store = "store a token under that name with mooring secret set"
        words = f"remove `credentialId`, or {'name a secret in env or headers' if config.origin.foreign else store}"
        fix = make_fix(suggest_edit(config), words)
        yield Finding(config.name, what, config.origin.path, None, fix, False)
