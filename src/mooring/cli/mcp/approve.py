"""`mooring mcp approve` and `mooring mcp reject`: shows what a project would start, and records the decision."""

import sys
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from msgspec import Struct

from mooring.cli.base import DENIED, OK, Globals, is_on_terminal, print_json, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.question import find_asker
from mooring.core.conversation.question import Yes
from mooring.core.definitions.approved import AllowRule
from mooring.display.lines import describe_question
from mooring.display.text import quote_argument, safe
from mooring.inventory.approval import ApprovalQuestion, apply_rules, check_digest, decide, list_questions
from mooring.inventory.approval_rows import ask_about_rules, describe_approval, describe_no
from mooring.inventory.load import Inventory
from mooring.permissions.trust import Verdict
from mooring.verbs.config.reset import load_servers
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.parse import UsageError

Mode: TypeAlias = Literal["decided", "ask", "nobody"]


def run_approve(
    options: Globals,
    names: tuple[str, ...],
    everything: bool,
    yes: bool,
    digest: str | None,
    with_rules: bool,
    agent: str | None,
) -> int:
    if digest is not None and len(names) != 1:
        raise UsageError("--digest goes with the name of one server.")
    inventory = load_servers(options.workspace(), agent)
    asked = _list_questions(options, inventory, names, everything)
    if digest is not None:
        check_digest(asked[0], digest)
    # The question is on stderr: where that is a file, nobody would see it.
    mode: Mode = "ask" if is_on_terminal() and sys.stderr.isatty() else "nobody"
    if yes or digest is not None:
        mode = "decided"
    if mode != "nobody":
        refuse_below_mooring("mooring mcp approve")
    approver = Approver(options, inventory, mode, agent, with_rules)
    approver.settle(asked)
    _report(options, "approved", approver.agreed, asked if mode == "nobody" else (), approver.rules)
    return DENIED if asked and not approver.agreed else OK


def run_reject(options: Globals, names: tuple[str, ...], everything: bool, agent: str | None) -> None:
    inventory = load_servers(options.workspace(), agent)
    asked = _list_questions(options, inventory, names, everything)
    # With nothing to decide, no record is written.
    rejected = decide(inventory, asked, options.workspace().where, False) if asked else ()
    _report(options, "rejected", rejected)


def _list_questions(
    options: Globals, inventory: Inventory, names: tuple[str, ...], everything: bool
) -> tuple[ApprovalQuestion, ...]:
    if bool(names) == everything:
        raise UsageError("Name the servers to decide about, or give --all.")
    asked = list_questions(inventory, names, options.workspace().where)
    if not asked and not options.json:
        say("Nothing waits for approval here.", err=True)
    return asked


class SettledRules(Struct, frozen=True):
    """The person's rules that allow tools of a server's name, and those that apply to the server they approved."""

    matching: tuple[AllowRule, ...]
    applied: tuple[AllowRule, ...]


class Approver:
    """Puts the questions to the person, or takes their options for answers, and records each answer at once."""

    def __init__(self, options: Globals, inventory: Inventory, mode: Mode, agent: str | None, with_rules: bool) -> None:
        self._where = options.workspace().where
        self._inventory = inventory
        self._mode = mode
        self._ask = find_asker(options) if mode == "ask" else None
        self._agent = agent
        self._with_rules = with_rules
        self.agreed: list[str] = []
        """The servers that were approved."""
        self.rules: dict[str, SettledRules] = {}
        """What became of the rules for each of them, if there are any."""

    def settle(self, asked: Sequence[ApprovalQuestion]) -> None:
        """Ask one question after the other."""
        for question in asked:
            try:
                self._settle(question)
            except KeyboardInterrupt:
                undecided = asked[asked.index(question) :]
                _report_interruption(self.agreed, [each.name for each in undecided if each.name not in self.agreed])
                raise

    def _settle(self, question: ApprovalQuestion) -> None:
        if self._is_approved(question):
            self._approve(question)
        elif self._mode == "ask":
            say(describe_no(question, _spell_command("reject", self._agent)), err=True)

    def _is_approved(self, question: ApprovalQuestion) -> bool:
        """Show the question, whether or not anybody is asked, and return whether the server may be started."""
        shown = describe_approval(question, self._where.home)
        if self._ask is not None:
            return isinstance(run_until_interrupted(self._ask(shown)), Yes)
        first, *rest = describe_question(shown)
        say(first, "title", err=True)
        for line in rest:
            say(line, err=True)
        if self._mode == "decided":
            return True
        self._explain_digest(question)
        return False

    def _explain_digest(self, question: ApprovalQuestion) -> None:
        name, command = quote_argument(question.name), _spell_command("approve", self._agent)
        say(f"To approve it: {command} {name} in a terminal, or exactly this one by", err=True)
        say(f"  {command} --digest {question.digest} {name}", err=True)
        if question.rules:
            say("With --apply-rules, your rules that are named above apply to it, too.", err=True)

    def _approve(self, question: ApprovalQuestion) -> None:
        settled = question
        try:
            settled = self._settle_rules(question)
        finally:
            # It is approved, also if the second question is interrupted.
            self.agreed += decide(self._inventory, [settled], self._where, True)
        if settled.rules:
            applied = tuple(rule for rule in settled.rules if rule in settled.applied_rules)
            self.rules[settled.name] = SettledRules(settled.rules, applied)

    def _settle_rules(self, question: ApprovalQuestion) -> ApprovalQuestion:
        """Ask about the person's rules, unless `--apply-rules` has answered. If nobody is asked, nothing changes."""
        if self._with_rules:
            if not question.rules:
                say(f"No rule in your settings allows tools of {safe(question.name)}, so none is applied.", err=True)
            return apply_rules(question, True)
        if self._ask is None:
            return question
        return run_until_interrupted(ask_about_rules(self._ask, question))


def _report_interruption(agreed: Sequence[str], undecided: Sequence[str]) -> None:
    if agreed:
        rest = f" Not decided: {safe(', '.join(undecided))}." if undecided else ""
        say(f"\nApproved before you stopped: {safe(', '.join(agreed))}.{rest}", err=True)


def _spell_command(verb: str, agent: str | None) -> str:
    owner = f" --agent {quote_argument(agent)}" if agent else ""
    return f"mooring mcp {verb}{owner}"


def _report(
    options: Globals,
    verdict: Verdict,
    names: Sequence[str],
    waiting: Sequence[ApprovalQuestion] = (),
    rules: Mapping[str, SettledRules] = {},
) -> None:
    """Say what was decided; `waiting` are the servers that nobody could be asked about."""
    if options.json:
        more = {"waiting": waiting, "rules": rules}
        print_json({verdict: names, **{key: value for key, value in more.items() if value}})
        return
    if names:
        say(f"{verdict}: {safe(', '.join(names))}")
    for name, settled in rules.items():
        if settled.applied:
            say(f"applied to {safe(name)}: {safe(', '.join(map(str, settled.applied)))}")
