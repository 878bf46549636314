"""What a shell that completes a line is offered, from what is known; what finds it is loaded only for that."""

import re
from typing import Any

import click
from click.shell_completion import CompletionItem

from mooring.cli.base import get_globals
from mooring.errors import MooringError
from mooring.verbs.complete import OFFERS, TypedWord

# A completed name lands on the person's command line: one that a shell would read as more than a word is left out.
_ONE_WORD = r"[\w.:@/+-][\w.:@/+=-]*"


def complete_word(kind: str, ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a word can become, of what a row calls `kind`."""
    is_adhoc = bool(ctx.params.get("server") or ctx.params.get("url"))
    words = ctx.params.get(parameter.name or "") or ()
    try:
        workspace = get_globals(ctx).workspace()
        found = OFFERS[kind](TypedWord(incomplete, workspace, list(words), str(ctx.params.get("tool") or ""), is_adhoc))
    except MooringError:  # a message would end up in the middle of the line that is being typed
        return []
    offered = [word for word in found if re.fullmatch(_ONE_WORD, word)]
    # What is no tool is a file.
    return offered or ([CompletionItem(incomplete, type="file")] if kind == "source" else [])
