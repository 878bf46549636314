"""Secrets that other tools keep in files of their own, read when a server that needs one starts."""

import os
from collections.abc import Mapping

from mooring import files
from mooring.core.definitions.template import SecretPart
from mooring.errors import FileError, ParseError
from mooring.syntax.parse import parse


def find_stored_secret(secret: SecretPart, config: str | None) -> str | None:
    """The secret, if its tool keeps it in a file that can be read; `config` is the file that names it."""
    if secret.keeper != "goose" or config is None:
        return None
    # Goose falls back to this file if the machine has no keyring.
    stored = _read_yaml(os.path.join(os.path.dirname(config), "secrets.yaml"))
    value = stored.get(secret.name) if isinstance(stored, Mapping) else None
    # The exact type: in Python, true and false are ints.
    return str(value) if type(value) in (str, int) else None


def _read_yaml(path: str) -> object:
    try:
        data = files.read(path)
        return None if data is None else parse(data, "yaml").data
    except (FileError, ParseError):
        return None
