"""Secrets that other tools keep in files of their own, read when a server that needs one starts."""

import os
from collections.abc import Mapping

from mooring import files
from mooring.core.template import SecretPart
from mooring.errors import FileError, ParseError
from mooring.syntax.parse import parse


def kept(secret: SecretPart, config: str | None) -> str | None:
    """The secret, if its keeper has it in a file that can be read; `config` is the file that names it.

    Goose falls back to `secrets.yaml` beside its configuration where there is no keyring.
    """
    if secret.keeper != "goose" or config is None:
        return None
    try:
        data = files.read(os.path.join(os.path.dirname(config), "secrets.yaml"))
        held = None if data is None else parse(data, "yaml").data
    except (FileError, ParseError):
        return None
    value = held.get(secret.name) if isinstance(held, Mapping) else None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None
