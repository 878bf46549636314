"""`mooring mcp approve` and `mooring mcp reject`."""

import sys
from collections.abc import Iterator

import click

from mooring.actions.approve import Question, decide, questions
from mooring.cli.base import Command, Globals, complete_server, current, print_json
from mooring.render import columns, command_line, safe, short_path

_NAMES = click.argument("names", nargs=-1, shell_complete=complete_server)
_ALL = click.option("--all", "everything", is_flag=True, help="Every project server not yet judged.")


@click.command("approve", cls=Command)
@_NAMES
@_ALL
@click.option("-y", "--yes", is_flag=True, help="Do not ask; what would be started is printed all the same.")
@click.pass_context
def approve(ctx: click.Context, names: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Show exactly what a project's server would start, and let it be started."""
    options = current(ctx)
    asked = _asked(options, names, everything)
    # Who types this without a terminal has decided; there is nobody to ask.
    ask = not yes and sys.stdin.isatty() and sys.stderr.isatty()
    _decide(options, [question for question in asked if _agreed(options, question, ask)], True)


@click.command("reject", cls=Command)
@_NAMES
@_ALL
@click.pass_context
def reject(ctx: click.Context, names: tuple[str, ...], everything: bool) -> None:
    """Refuse a project's server until its definition changes."""
    options = current(ctx)
    _decide(options, _asked(options, names, everything), False)


def _asked(options: Globals, names: tuple[str, ...], everything: bool) -> tuple[Question, ...]:
    if bool(names) == everything:
        raise click.UsageError("Name the servers to decide about, or give --all.")
    asked = questions(options.inventory(), names, options.request().where)
    if not asked and not options.json:
        click.echo("Nothing waits for approval here.", err=True)
    return asked


def _agreed(options: Globals, question: Question, ask: bool) -> bool:
    home = options.request().where.home
    click.echo(click.style(f"{safe(question.name)}, asked for by this project", bold=True), err=True)
    for line in columns([(f"  {label}", text) for label, text in _lines(question, home)]):
        click.echo(line, err=True)
    return not ask or click.confirm("Let it be started?", default=False, err=True)


def _lines(question: Question, home: str) -> Iterator[tuple[str, str]]:
    if question.command:
        yield "runs", command_line(question.command)
    if question.url is not None:
        yield "connects to", safe(question.url)
    if question.target:
        yield "which is", safe(question.target)
    if question.cwd:
        yield "in", safe(question.cwd)
    if question.env:
        yield "with env", safe(", ".join(question.env))
    if question.headers:
        yield "with headers", safe(", ".join(question.headers))
    yield "says", short_path(question.source.path or "", home)
    if question.standing == "changed":
        yield "note", "this is not what you approved before"
    if question.trusted_by:
        yield "note", f"{safe(question.trusted_by)} trusts this folder; that alone approves nothing here"
    yield "note", question.warning


def _decide(options: Globals, asked: "list[Question] | tuple[Question, ...]", approved: bool) -> None:
    names = decide(options.inventory(), asked, options.request().where, approved) if asked else ()
    word = "approved" if approved else "rejected"
    if options.json:
        print_json({word: names})
    elif names:
        click.echo(f"{word}: {safe(', '.join(names))}")
