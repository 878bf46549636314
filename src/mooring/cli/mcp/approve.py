"""`mooring mcp approve` and `mooring mcp reject`: shows what a project would start, and records the decision."""

import re
import sys
from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import click

from mooring.actions.approve import ApprovalQuestion, SteeringVariable, check_digest, decide, list_questions
from mooring.actions.effects import Effect
from mooring.chat.plain.typed_ahead import discard_typed_ahead
from mooring.cli.base import (
    DENIED,
    Command,
    Globals,
    complete_server,
    describe_path,
    describe_trust,
    get_globals,
    is_on_terminal,
    print_columns,
    print_json,
)
from mooring.display.text import quote_argument, quote_command, safe, short_path
from mooring.inventory.load import Inventory
from mooring.servers.launch.target import UNRESOLVED

# Whatever shows as nothing, from the space to the Hangul filler.
_BLANKS = "[ \xa0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0]{16,}"

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
    home = options.request().where.home
    click.echo(click.style(f"{safe(question.name)}, asked for by this project", bold=True), err=True)
    print_columns([(f"  {label}", text) for label, text in _list_lines(question, home)], err=True)
    match mode:
        case "decided":
            return True
        case "ask":
            discard_typed_ahead()
            return click.confirm("Let it be started?", default=False, err=True)
        case "nobody":
            name = quote_argument(question.name)
            click.echo(f"To approve it: mooring mcp approve {name} in a terminal, or exactly this one by", err=True)
            click.echo(f"  mooring mcp approve --digest {question.digest} {name}", err=True)
            return False


def _list_lines(question: ApprovalQuestion, home: str) -> Iterator[tuple[str, str]]:
    if question.command:
        yield "runs", _show_blanks(quote_command(question.command))
    if question.url is not None:
        yield "connects to", _show(question.url)
    yield "which is", _describe_target(question.target)
    if question.written:
        yield "written as", _show_blanks(quote_command(question.written))
    if question.cwd:
        yield "in", _show(question.cwd)
    yield from _list_values(question)
    yield from map(_describe_effect, question.effects)
    for variable in question.steering:
        yield "careful", _describe_steering(variable)
    yield "says", short_path(question.source.path or "", home)
    for path in question.merged:
        yield "merged with", short_path(path, home)
    yield from _list_notes(question, home)


def _list_values(question: ApprovalQuestion) -> Iterator[tuple[str, str]]:
    """The environment, the headers and the login that the server would be given."""
    for name, value in question.env.items():
        yield "with env", f"{_show(name)}={_show(value)}"
    if question.pass_env:
        yield "passes on", _show(", ".join(question.pass_env))
    if question.env_file:
        yield "with env of", _show(question.env_file)
    for name, value in question.headers.items():
        yield "with header", f"{_show(name)}: {_show(value)}"
    for name, value in question.login.items():
        yield "with login", f"{name}: {_show(value)}"


def _list_notes(question: ApprovalQuestion, home: str) -> Iterator[tuple[str, str]]:
    name = safe(question.name)
    if question.replaces:
        yield "replaces", f"your own server {name} from {describe_path(question.replaces.path, home)}"
    if question.idle_rules:
        rules = _show(", ".join(question.idle_rules))
        yield "note", f"your rules that allow {name} do not apply to it: {rules}"
    if question.standing == "changed":
        yield "note", "this is not what you decided about before"
    if question.trusted_by:
        yield "note", describe_trust(question.trusted_by)
    yield "note", question.warning


def _describe_effect(effect: Effect) -> tuple[str, str]:
    what, goes_to = _show(effect.what), _show(effect.goes_to)
    match effect.kind:
        case "command":
            return "also runs", f"{what}  (with your whole environment; its output goes to {goes_to})"
        case "question":
            default = "" if effect.default is None else f", by default {_show(effect.default)}"
            return "asks you", f"for {what}{default}  (your answer goes to {goes_to})"
        case "file":
            leads_to = f", which is {_show(effect.path)}" if effect.path and effect.path != effect.what else ""
            return "reads", f"the file {what}{leads_to}  (it goes to {goes_to})"
        case "variable" | "secret":
            return "reads", f"the {effect.kind} {what}  (its value goes to {goes_to})"


def _describe_steering(variable: SteeringVariable) -> str:
    value = "" if variable.value is None else f"={_show(variable.value)}"
    return f"{_show(variable.name)}{value} changes what a program loads  (from {_show(variable.source)})"


def _show(text: str) -> str:
    return _show_blanks(safe(text))


def _show_blanks(text: str) -> str:
    """The same with long runs of blanks as their number: they would push what follows out of sight."""
    return re.sub(_BLANKS, lambda run: f" ⟨{len(run[0])} blanks⟩ ", text)


def _describe_target(target: str | None) -> str:
    if target is None:
        return "known only when it starts: it is asked for, printed by a command or read then"
    if target == UNRESOLVED:
        return "nothing yet; you are asked again when it is something"
    return safe(target)


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
