"""What a call prints: a long text folded on a terminal, a pipe gets all of it, `-o FILE` a file."""

import os

from mooring import files
from mooring.cli.base import Globals, echo
from mooring.core.definitions.paths import Paths
from mooring.display.results import SHOWN_BYTES, SHOWN_LINES
from mooring.display.text import safe, safe_text
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
        echo(f"Wrote {safe(path)} ({safe(kind)}, {len(data):,} bytes)", err=True)


def show_text(text: str, where: Paths) -> None:
    """Print a text on a terminal: nothing in it can steer it, and a long one is folded."""
    # Bytes are counted only if the characters, of at least one byte each, might fit.
    is_short = text.count("\n") < SHOWN_LINES and len(text) <= SHOWN_BYTES and len(text.encode()) <= SHOWN_BYTES
    if is_short:
        echo(safe_text(text))
    else:
        _show_ends(text, where)


def _show_ends(text: str, where: Paths) -> None:
    # Loaded here: most results are short, and a call should start fast.
    from mooring.display.lines import describe_excerpt
    from mooring.tools.results.deliver import ResultStore, cut_texts

    store = ResultStore(f"{where.cache}/results")
    excerpt = cut_texts(store, [text], SHOWN_BYTES, SHOWN_LINES).excerpt
    for line in describe_excerpt(excerpt):
        echo(line)
    echo(safe(excerpt.whole), err=True)
