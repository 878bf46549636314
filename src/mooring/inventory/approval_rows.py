"""What a person reads before they approve a project's server: rows of a label and a text, all of it, safe to show."""

import asyncio
import re
from collections.abc import Iterator

from mooring.core.conversation.question import ApplyRules, Approval, Ask, Yes
from mooring.core.definitions.paths import Paths
from mooring.display.text import describe_trust, quote_argument, quote_command, safe, short_path
from mooring.inventory.approval import ApprovalQuestion, Effect, SteeringVariable, apply_rules, decide
from mooring.inventory.load import Inventory
from mooring.servers.launch.named_files import ArgumentPath
from mooring.servers.launch.target import UNRESOLVED

# Whatever shows as nothing, from the space to the Hangul filler.
_BLANKS = "[ \xa0\u115f\u1160\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\u3164\uffa0]{16,}"


def describe_approval(question: ApprovalQuestion, home: str) -> Approval:
    """The question as it is put to the person."""
    return Approval(question.name, tuple(_list_lines(question, home)), question.digest)


def describe_no(question: ApprovalQuestion, reject: str = "mooring mcp reject") -> str:
    """What a no to the question means; `reject` is the command that refuses a server where the person is."""
    name, command = safe(question.name), f"{reject} {quote_argument(question.name)}"
    if question.still_approved:
        return f"{name} stays approved; to withdraw: {command}"
    if question.standing == "rejected":
        return f"Not approved: {name}. It stays rejected."
    return f"Not approved: {name}. It stays undecided; {command} refuses it until it changes."


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
    if question.sends_login:
        yield "sends", "your login at that address, if you have one"
    yield from _list_values(question)
    yield from map(_describe_effect, question.effects)
    yield from (("names", _describe_path(path)) for path in question.paths)
    for variable in question.steering:
        yield "careful", _describe_steering(variable)
    yield "defined in", short_path(question.source.path or "", home)
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
        source = short_path(question.replaces.path or "the command line", home)
        yield "replaces", f"your own server {name} from {source}"
    applied = [str(rule) for rule in question.rules if rule in question.applied_rules]
    idle = [str(rule) for rule in question.rules if rule not in question.applied_rules]
    if applied:
        yield "note", f"your rules for {name} that you applied to it: {_show(', '.join(applied))}"
    if idle:
        yield "note", f"your rules for {name} that do not apply to it unless you say so: {_show(', '.join(idle))}"
    if question.active_rules:
        rules = _show(", ".join(question.active_rules))
        yield "note", f"your answers for this project that allow {name} apply to it: {rules}"
    decided = _describe_decision(question)
    if decided:
        yield "note", decided
    if question.trusted_by:
        yield "note", describe_trust(question.trusted_by)
    yield "note", question.warning


def _describe_decision(question: ApprovalQuestion) -> str:
    """What the person decided before, about this or about another definition of the server."""
    match question.standing:
        case "approved" if question.still_approved:
            return "You approved this already."
        case "approved":
            return f"You approved this definition before, but it {safe(question.outdated)}."
        case "rejected":
            return "You rejected this before."
        case "changed":
            return f"You {question.earlier} another definition of this server before."
        case "own" | "unseen":
            return ""


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
        case "login":
            return "sends", f"your login {what}  (its token goes to {goes_to})"
        case "variable" | "secret":
            return "reads", f"the {effect.kind} {what}  (its value goes to {goes_to})"


def _describe_path(path: ArgumentPath) -> str:
    file = path.file
    argument = f"argument {_show(path.option)}" if path.option else "argument"
    if file.escapes:
        return f"{_show(file.written)}, a link that leads out of the project to {_show(file.path)}  ({argument})"
    leads_to = "" if file.path == file.written else f", which is {_show(file.path)}"
    return f"{_show(file.written)}{leads_to}  ({argument})"


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
        return "not found; you will be asked again once it is there"
    return safe(target)


async def ask_approval(ask: Ask, inventory: Inventory, question: ApprovalQuestion, where: Paths) -> bool:
    """Ask whether a server may be started, and after a yes about the person's rules; whether it may.

    Raises: what `ask` raises; FileError if the answers cannot be recorded.
    """
    answer = await ask(describe_approval(question, where.home))
    if not isinstance(answer, Yes):
        return False
    settled = question
    try:
        settled = await ask_about_rules(ask, question)
    finally:
        # It is approved, whatever becomes of the second question.
        await asyncio.to_thread(decide, inventory, [settled], where, True)
    return True


async def ask_about_rules(ask: Ask, question: ApprovalQuestion) -> ApprovalQuestion:
    """Ask whether the person's rules apply to a server that they approve, if there are any; returns the question with
    those that do."""
    if not question.rules:
        return question
    answer = await ask(ApplyRules(question.name, tuple(map(str, question.rules))))
    return apply_rules(question, isinstance(answer, Yes))
