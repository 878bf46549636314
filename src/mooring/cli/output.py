"""`-o FILE`: checked before anything is asked of a server, and confirmed once it is written."""

import os

import click

from mooring import files
from mooring.cli.base import Globals
from mooring.display.text import safe
from mooring.errors import ConfigError


def check_output(path: str | None) -> None:
    """Refuse a file that cannot be written, before a tool is called for it. Raises: ConfigError."""
    if path is None:
        return
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise ConfigError(f"{path} cannot be written: there is no folder {folder}.")
    if os.path.exists(target) and not os.path.isfile(target):
        raise ConfigError(f"{path} is not a file; -o takes the name of a file.")
    if not os.access(folder, os.W_OK):
        raise ConfigError(f"{path} cannot be written: you may not write to {folder}.")


def save_output(options: Globals, path: str, data: bytes, kind: str) -> None:
    """Write the file, and say so. Raises: FileError."""
    files.write(path, data, 0o644)
    if not options.quiet:
        click.echo(f"Wrote {safe(path)} ({safe(kind)}, {len(data):,} bytes)", err=True)
