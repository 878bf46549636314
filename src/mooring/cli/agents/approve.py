"""`mooring agents approve` and `reset`: whether each use of a project's file says that it took somebody else's name."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import click

from mooring.cli.base import Command, get_globals, keep_words, print_json, say
from mooring.core.definitions.taken_name import TakenName
from mooring.display.text import safe, short_path
from mooring.errors import MooringError
from mooring.verbs.config.taken_names import approve_taken_names, list_taken_names, reset_taken_names

_Complete: TypeAlias = Callable[[click.Context, click.Parameter, str], list[str]]


def _make_completion(*, approved: bool) -> _Complete:
    """Complete a name that the project took, and that is approved or isn't."""

    def complete(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
        try:
            listed = list_taken_names(get_globals(ctx).request())
        except MooringError:  # a message would end up in the middle of the line that is being typed
            return []
        names = {each.taken.name for each in listed if each.approved is approved}
        return keep_words(name for name in sorted(names) if name.startswith(incomplete))

    return complete


@click.command("approve", cls=Command)
@click.argument("names", nargs=-1, required=True, shell_complete=_make_completion(approved=False))
@click.pass_context
def approve(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Stop being told that a project's agent, command or skill of this NAME is used instead of yours or of Mooring's.

    Read its file first. It counts for this project and for what the file says now: once that changes, each use says it
    again. Of a skill, only SKILL.md is compared.

    \b
    mooring agents approve explore
    """
    options = get_globals(ctx)
    approved = approve_taken_names(options.request(), names)
    _report("approved", approved, as_data=options.json, home=options.request().where.home)


@click.command("reset", cls=Command)
@click.argument("names", nargs=-1, required=True, shell_complete=_make_completion(approved=True))
@click.pass_context
def reset(ctx: click.Context, names: tuple[str, ...]) -> None:
    """Withdraw an approval of this NAME: each use says again whose it is."""
    options = get_globals(ctx)
    withdrawn = reset_taken_names(options.request(), names)
    if not withdrawn and not options.json:
        say(f"Nothing was approved about {safe(', '.join(names))}.", err=True)
    _report("reset", withdrawn, as_data=options.json, home=options.request().where.home)


def _report(verb: str, done: Sequence[TakenName], *, as_data: bool, home: str) -> None:
    if as_data:
        print_json({verb: done})
        return
    for taken in done:
        say(f"{verb}: {taken.kind} {safe(taken.name)} ({safe(short_path(taken.path, home))})")
