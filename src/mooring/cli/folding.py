"""A long text on a terminal: its two ends, and the file with the whole. A pipe gets all of it."""

import click

from mooring.core.definitions.paths import Where
from mooring.display.results import SHOWN_BYTES, SHOWN_LINES
from mooring.display.text import safe, safe_text


def show_text(text: str, where: Where) -> None:
    """Print a text on a terminal: nothing in it can steer it, and a long one is folded."""
    # Bytes are counted only if the characters, of at least one byte each, might fit.
    is_short = text.count("\n") < SHOWN_LINES and len(text) <= SHOWN_BYTES and len(text.encode()) <= SHOWN_BYTES
    if is_short:
        click.echo(safe_text(text))
    else:
        _show_ends(text, where)


def _show_ends(text: str, where: Where) -> None:
    # Loaded here: most results are short, and a call should start fast.
    from mooring.display.lines import describe_excerpt
    from mooring.tools.results.deliver import cut_texts
    from mooring.tools.results.store import ResultStore

    store = ResultStore(f"{where.cache}/results")
    excerpt = cut_texts(store, [text], SHOWN_BYTES, SHOWN_LINES).excerpt
    for line in describe_excerpt(excerpt):
        click.echo(line)
    click.echo(safe(excerpt.whole), err=True)
