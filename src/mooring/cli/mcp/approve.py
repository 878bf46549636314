"""`mooring mcp approve` and `mooring mcp reject`: shows what a project would start, and records the decision."""

import sys
from collections.abc import Sequence
from typing import Literal, TypeAlias

import click

from mooring.cli.agent_names import OWNER_OPTION, load_servers
from mooring.cli.base import (
    DENIED,
    Command,
    Globals,
    complete_server,
    get_globals,
    is_on_terminal,
    print_json,
    say,
)
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.question import find_asker
from mooring.core.question import Yes
from mooring.display.lines import describe_question
from mooring.display.text import quote_argument, safe
from mooring.inventory.approval import ApprovalQuestion, check_digest, decide, list_questions
from mooring.inventory.approval_rows import describe_approval, describe_no
from mooring.inventory.load import Inventory
from mooring.permissions.trust import Verdict

Mode: TypeAlias = Literal["decided", "ask", "nobody"]

_NAMES = click.argument("names", nargs=-1, shell_complete=complete_server)
_ALL = click.option("--all", "everything", is_flag=True, help="Every project server that you haven't decided about.")


@click.command("approve", cls=Command)
@_NAMES
@_ALL
@click.option("-y", "--yes", is_flag=True, help="Do not ask; what would be started is printed anyway.")
@click.option("--digest", metavar="DIGEST", help="Approve what was printed with this digest, and nothing else.")
@OWNER_OPTION
@click.pass_context
def approve(
    ctx: click.Context, names: tuple[str, ...], everything: bool, yes: bool, digest: str | None, agent: str | None
) -> None:
    """Show exactly what a project's server would start, and let it be started.

    Without a terminal nobody can be asked: it is only printed, with a digest that --digest takes as the answer.
    """
    options = get_globals(ctx)
    if digest is not None and len(names) != 1:
        raise click.UsageError("--digest goes with the name of one server.")
    inventory = load_servers(options, agent)
    asked = _list_questions(options, inventory, names, everything)
    if digest is not None:
        check_digest(asked[0], digest)
    mode = _choose_mode(yes or digest is not None)
    agreed = _ask_each(options, inventory, asked, mode, agent)
    _report(options, "approved", agreed, asked if mode == "nobody" else ())
    if asked and not agreed:
        ctx.exit(DENIED)


@click.command("reject", cls=Command)
@_NAMES
@_ALL
@OWNER_OPTION
@click.pass_context
def reject(ctx: click.Context, names: tuple[str, ...], everything: bool, agent: str | None) -> None:
    """Refuse a project's server until its definition changes."""
    options = get_globals(ctx)
    inventory = load_servers(options, agent)
    asked = _list_questions(options, inventory, names, everything)
    # With nothing to decide, no record is written.
    rejected = decide(inventory, asked, options.request().where, False) if asked else ()
    _report(options, "rejected", rejected)


def _list_questions(
    options: Globals, inventory: Inventory, names: tuple[str, ...], everything: bool
) -> tuple[ApprovalQuestion, ...]:
    if bool(names) == everything:
        raise click.UsageError("Name the servers to decide about, or give --all.")
    asked = list_questions(inventory, names, options.request().where)
    if not asked and not options.json:
        say("Nothing waits for approval here.", err=True)
    return asked


def _choose_mode(decided: bool) -> Mode:
    """With `--yes` or `--digest` the person has decided; else they are asked, if there is anybody to ask."""
    if decided:
        return "decided"
    # The question is on stderr: where that is a file, nobody would see it.
    return "ask" if is_on_terminal() and sys.stderr.isatty() else "nobody"


def _ask_each(
    options: Globals, inventory: Inventory, asked: Sequence[ApprovalQuestion], mode: Mode, agent: str | None
) -> tuple[str, ...]:
    """Ask one question after the other and record each yes at once; the names that were approved."""
    agreed: list[str] = []
    for index, question in enumerate(asked):
        try:
            is_agreed = _ask(options, question, mode, agent)
        except KeyboardInterrupt:
            _report_interruption(agreed, asked[index:])
            raise
        if is_agreed:
            agreed += decide(inventory, [question], options.request().where, True)
        elif mode == "ask":
            say(describe_no(question, _spell_command("reject", agent)), err=True)
    return tuple(agreed)


def _report_interruption(agreed: Sequence[str], rest: Sequence[ApprovalQuestion]) -> None:
    if agreed:
        open_names = ", ".join(question.name for question in rest)
        say(f"\nApproved before you stopped: {safe(', '.join(agreed))}. Not decided: {safe(open_names)}.", err=True)


def _spell_command(verb: str, agent: str | None) -> str:
    owner = f" --agent {quote_argument(agent)}" if agent else ""
    return f"mooring mcp {verb}{owner}"


def _ask(options: Globals, question: ApprovalQuestion, mode: Mode, agent: str | None) -> bool:
    """Show the question, whether or not anybody is asked, and return whether the server may be started."""
    shown = describe_approval(question, options.request().where.home)
    ask = find_asker(options) if mode == "ask" else None
    if ask is not None:
        return isinstance(run_until_interrupted(ask(shown)), Yes)
    first, *rest = describe_question(shown)
    say(first, err=True, bold=True)
    for line in rest:
        say(line, err=True)
    if mode == "decided":
        return True
    name, command = quote_argument(question.name), _spell_command("approve", agent)
    say(f"To approve it: {command} {name} in a terminal, or exactly this one by", err=True)
    say(f"  {command} --digest {question.digest} {name}", err=True)
    return False


def _report(options: Globals, verdict: Verdict, names: Sequence[str], waiting: Sequence[ApprovalQuestion] = ()) -> None:
    """Say what was decided; `waiting` are the servers that nobody could be asked about."""
    if options.json:
        print_json({verdict: names, "waiting": waiting} if waiting else {verdict: names})
    elif names:
        say(f"{verdict}: {safe(', '.join(names))}")
