"""`mooring mcp approve` and `mooring mcp reject`: shows what a project would start, and records the decision."""

import sys
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import click

from mooring.actions.approve import ApprovalQuestion, decide, list_questions
from mooring.cli.base import DENIED, Command, Globals, complete_server, get_globals, print_columns, print_json
from mooring.display.text import quote_argument, quote_command, safe, short_path
from mooring.inventory.load import Inventory
from mooring.servers.launch.target import UNRESOLVED

Mode: TypeAlias = Literal["decided", "ask", "nobody"]

_NAMES = click.argument("names", nargs=-1, shell_complete=complete_server)
_ALL = click.option("--all", "everything", is_flag=True, help="Every project server not yet judged.")


@click.command("approve", cls=Command)
@_NAMES
@_ALL
@click.option("-y", "--yes", is_flag=True, help="Do not ask; what would be started is printed all the same.")
@click.pass_context
def approve(ctx: click.Context, names: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Show exactly what a project's server would start, and let it be started."""
    options = get_globals(ctx)
    inventory = options.inventory()
    asked = _list_questions(options, inventory, names, everything)
    mode = _choose_mode(bool(names), yes)
    agreed = [question for question in asked if _ask(options, question, mode)]
    _record(options, inventory, agreed, True)
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


def _choose_mode(named: bool, yes: bool) -> Mode:
    """With `--yes`, or a name where nobody can be asked, the person has decided; with `--all` alone they have not."""
    if yes:
        return "decided"
    if not sys.stdin.isatty():
        return "decided" if named else "nobody"
    # The question is on stderr: where that is a file, nobody would see it.
    return "ask" if sys.stderr.isatty() else "nobody"


def _ask(options: Globals, question: ApprovalQuestion, mode: Mode) -> bool:
    """Show the question, whether or not anybody is asked, and return whether the server may be started."""
    home = options.request().where.home
    click.echo(click.style(f"{safe(question.name)}, asked for by this project", bold=True), err=True)
    print_columns([(f"  {label}", text) for label, text in _list_lines(question, home)], err=True)
    match mode:
        case "decided":
            return True
        case "ask":
            return click.confirm("Let it be started?", default=False, err=True)
        case "nobody":
            click.echo(f"To approve it: mooring mcp approve {quote_argument(question.name)}", err=True)
            return False


def _list_lines(question: ApprovalQuestion, home: str) -> Iterator[tuple[str, str]]:
    if question.command:
        yield "runs", quote_command(question.command)
    if question.url is not None:
        yield "connects to", safe(question.url)
    yield "which is", _describe_target(question.target)
    if question.cwd:
        yield "in", safe(question.cwd)
    if question.headers_helper:
        yield "also runs", f"{safe(question.headers_helper)}  (for headers)"
    yield from _list_values(question)
    yield "says", short_path(question.source.path or "", home)
    for path in question.merged:
        yield "merged with", short_path(path, home)
    if question.standing == "changed":
        yield "note", "this is not what you decided about before"
    if question.trusted_by:
        yield "note", f"{safe(question.trusted_by)} trusts this folder; that alone approves nothing here"
    yield "note", question.warning


def _list_values(question: ApprovalQuestion) -> Iterator[tuple[str, str]]:
    """The environment and the headers that the server would be given."""
    for name, value in question.env.items():
        yield "with env", f"{safe(name)}={safe(value)}"
    if question.pass_env:
        yield "passes on", safe(", ".join(question.pass_env))
    if question.env_file:
        yield "with env of", safe(question.env_file)
    for name, value in question.headers.items():
        yield "with header", f"{safe(name)}: {safe(value)}"


def _describe_target(target: str | None) -> str:
    if target is None:
        return "known only when it starts: it is asked for, printed by a command or read then"
    if target == UNRESOLVED:
        return "nothing yet; you are asked again when it is something"
    return safe(target)


def _record(options: Globals, inventory: Inventory, asked: Sequence[ApprovalQuestion], approved: bool) -> None:
    # With nothing to decide, no record is written.
    names = decide(inventory, asked, options.request().where, approved) if asked else ()
    word = "approved" if approved else "rejected"
    if options.json:
        print_json({word: names})
    elif names:
        click.echo(f"{word}: {safe(', '.join(names))}")
