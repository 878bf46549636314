"""Secrets that files hold as plain text, and the commands that put references in their place."""

import os
import stat
from collections.abc import Iterator

from mooring.core.definitions.config import ServerConfig
from mooring.discovery.formats import find_format
from mooring.discovery.template import LiteralSecret, find_literal_secrets, list_secret_keys, spell_variable
from mooring.display.text import quote_argument, quote_command
from mooring.inventory.load import Inventory
from mooring.verbs.config.references import find_scheme, name_variable
from mooring.verbs.config.secrets import name_secret
from mooring.verbs.doctor.fixes import keeps_own_secrets, make_fix, suggest_edit, takes_references
from mooring.verbs.doctor.report import Finding
from mooring.verbs.use.advice import can_edit

_OPTIONS = {"env": "-e", "headers": "-H"}


def check_plain_secrets(inventory: Inventory) -> Iterator[Finding]:
    """Report each secret that is written in a file, unless only its owner can read the file and no reference can be."""
    for choice in inventory.choices:
        config = choice.definition.config
        if choice.name != choice.names[0] or not isinstance(config, ServerConfig) or config.origin.path is None:
            continue
        literal = {
            f"{each.slot}.{each.name}": each for each in find_literal_secrets(config.written or config.connection)
        }
        for key in list_secret_keys(config):
            fix = _suggest_fix(config, literal[key]) if key in literal else _suggest_edit(config)
            if fix:
                what = f"{key} holds a secret as plain text"
                yield Finding(choice.name, what, config.origin.path, None, fix, False)


def _suggest_fix(config: ServerConfig, secret: LiteralSecret) -> str:
    """Store it where Mooring's own file can refer to it; elsewhere, a variable."""
    if not can_edit(config):
        return _suggest_edit(config)
    if keeps_own_secrets(config):
        name = name_secret(config.name, secret.name)
        return f"mooring secret set {quote_argument(name)} && {_suggest_reference(config, secret, f'keyring:{name}')}"
    variable = name_variable(secret, config.name)
    if not takes_references(config, "env" if secret.slot == "env" else "headers"):
        return _suggest_edit(config)
    words = "with the token for …; put it into your shell's profile"
    return make_fix(f"export {variable}=… && {_suggest_reference(config, secret, variable)}", words)


def _suggest_reference(config: ServerConfig, secret: LiteralSecret, reference: str) -> str:
    between = "=" if secret.slot == "env" else ": "
    value = f"{secret.name}{between}{find_scheme(secret.value)}${{{reference}}}"
    return suggest_edit(config, f"{_OPTIONS[secret.slot]} {quote_command((value,))}")


def _suggest_edit(config: ServerConfig) -> str:
    """A reference by hand, or else a file that nobody else can read; empty if it is that already."""
    format = find_format(config.origin.tool)
    path = config.origin.path or ""
    variable = format and spell_variable("TOKEN", format.dialect, "env")
    if variable:
        return make_fix(suggest_edit(config), f"write {variable} in its place, and set that variable")
    if config.origin.foreign or not _is_readable_by_others(path):
        return ""
    return make_fix(f"chmod 600 {quote_argument(path)}", "its tool reads no references: let nobody else read the file")


def _is_readable_by_others(path: str) -> bool:
    try:
        return bool(stat.S_IMODE(os.stat(path).st_mode) & (stat.S_IRGRP | stat.S_IROTH))
    except OSError:
        return False
