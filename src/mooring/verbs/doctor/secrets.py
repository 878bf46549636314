"""Secrets and credentials that definitions name and that are not in the person's store."""

from collections.abc import Iterator

from mooring.auth.store import read_stored
from mooring.core.definitions.config import ServerConfig, list_templates
from mooring.core.definitions.paths import Paths
from mooring.display.text import safe
from mooring.errors import FileError
from mooring.inventory.load import Inventory
from mooring.verbs.doctor.fixes import lead_with_command, make_fix, suggest_edit, suggest_editor
from mooring.verbs.doctor.report import Finding


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
    for choice in inventory.choices:
        config = choice.definition.config
        if isinstance(config, ServerConfig) and config.enabled and choice.approved:
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
