"""`mooring mcp approve` and `mooring mcp reject`: shows what a project would start, and records the decision."""

import asyncio
import sys
from collections.abc import Sequence
from typing import Literal, TypeAlias

import click

from mooring.cli.base import (
    DENIED,
    Command,
    Globals,
    complete_server,
    get_globals,
    is_on_terminal,
    print_json,
)
from mooring.cli.question import find_asker
from mooring.core.question import Yes
from mooring.display.lines import describe_question
from mooring.display.text import quote_argument, safe
from mooring.inventory.approval import ApprovalQuestion, check_digest, decide, list_questions
from mooring.inventory.approval_rows import describe_approval
from mooring.inventory.load import Inventory

Mode: TypeAlias = Literal["decided", "ask", "nobody"]

_NAMES = click.argument("names", nargs=-1, shell_complete=complete_server)
_ALL = click.option("--all", "everything", is_flag=True, help="Every project server not yet judged.")


@click.command("approve", cls=Command)
@_NAMES
@_ALL
@click.option("-y", "--yes", is_flag=True, help="Do not ask; what would be started is printed all the same.")
@click.option("--digest", metavar="DIGEST", help="Approve what was printed with this digest, and nothing else.")
@click.pass_context
def approve(ctx: click.Context, names: tuple[str, ...], everything: bool, yes: bool, digest: str | None) -> None:
    """Show exactly what a project's server would start, and let it be started.

    Without a terminal nobody can be asked: it is only printed, with a digest that --digest takes as the answer.
    """
    options = get_globals(ctx)
    if digest is not None and len(names) != 1:
        raise click.UsageError("--digest goes with the name of one server.")
    inventory = options.inventory()
    asked = _list_questions(options, inventory, names, everything)
    if digest is not None:
        check_digest(asked[0], digest)
    mode = _choose_mode(yes or digest is not None)
    agreed = [question for question in asked if _ask(options, question, mode)]
    _record(options, inventory, agreed, True, asked if mode == "nobody" else ())
    if asked and not agreed:
        ctx.exit(DENIED)


@click.command("reject", cls=Command)
@_NAMES
@_ALL
@click.pass_context
def reject(ctx: click.Context, names: tuple[str, ...], everything: bool) -> None:
    """Refuse a project's server until its definition changes."""
    options = get_globals(ctx)
    inventory = options.inventory()
    _record(options, inventory, _list_questions(options, inventory, names, everything), False)


def _list_questions(
    options: Globals, inventory: Inventory, names: tuple[str, ...], everything: bool
) -> tuple[ApprovalQuestion, ...]:
    if bool(names) == everything:
        raise click.UsageError("Name the servers to decide about, or give --all.")
    asked = list_questions(inventory, names, options.request().where)
    if not asked and not options.json:
        click.echo("Nothing waits for approval here.", err=True)
    return asked


def _choose_mode(decided: bool) -> Mode:
    """With `--yes` or `--digest` the person has decided; else they are asked, if there is anybody to ask."""
    if decided:
        return "decided"
    # The question is on stderr: where that is a file, nobody would see it.
    return "ask" if is_on_terminal() and sys.stderr.isatty() else "nobody"


def _ask(options: Globals, question: ApprovalQuestion, mode: Mode) -> bool:
    """Show the question, whether or not anybody is asked, and return whether the server may be started."""
    shown = describe_approval(question, options.request().where.home)
    ask = find_asker(options) if mode == "ask" else None
    if ask is not None:
        return isinstance(asyncio.run(ask(shown)), Yes)
    first, *rest = describe_question(shown)
    click.echo(click.style(first, bold=True), err=True)
    for line in rest:
        click.echo(line, err=True)
    if mode == "decided":
        return True
    name = quote_argument(question.name)
    click.echo(f"To approve it: mooring mcp approve {name} in a terminal, or exactly this one by", err=True)
    click.echo(f"  mooring mcp approve --digest {question.digest} {name}", err=True)
    return False


def _record(
    options: Globals,
    inventory: Inventory,
    asked: Sequence[ApprovalQuestion],
    approved: bool,
    waiting: Sequence[ApprovalQuestion] = (),
) -> None:
    """Record the decision about those that were asked about; `waiting` are those that nobody could be asked about."""
    # With nothing to decide, no record is written.
    names = decide(inventory, asked, options.request().where, approved) if asked else ()
    word = "approved" if approved else "rejected"
    if options.json:
        print_json({word: names, "waiting": waiting} if waiting else {word: names})
    elif names:
        click.echo(f"{word}: {safe(', '.join(names))}")
