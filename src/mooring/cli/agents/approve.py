"""`mooring agents approve` and `reset`: whether each use of a project's file says that it took somebody else's name."""

from collections.abc import Sequence

from mooring.cli.base import Globals, print_json, say
from mooring.core.definitions.approved import TakenName
from mooring.display.text import safe, short_path
from mooring.verbs.config.taken_names import approve_taken_names, reset_taken_names


def run_approve(options: Globals, names: tuple[str, ...]) -> None:
    """Let a project's file have a name of yours or of Mooring's."""
    approved = approve_taken_names(options.request(), names)
    _report("approved", approved, as_data=options.json, home=options.request().where.home)


def run_reset(options: Globals, names: tuple[str, ...]) -> None:
    """Withdraw an approval of a name."""
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
