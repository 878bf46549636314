"""The gate: a call goes in and is allowed, or is denied with words that say why and what to do.

The gate is the part that can ask; the policy decides without asking. `conversation.py` puts both before the calls of a
host.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias, assert_never

import msgspec
from msgspec.structs import replace

from mooring.core.conversation.question import Allow, Answer, AnswerScope, Ask, No, Permission, Yes
from mooring.core.conversation.verdict import Level, ProposedCall, Rule, ServerName, Verdict
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.text.glob import is_literal
from mooring.display.text import quote_argument
from mooring.errors import ConfigError, Denied
from mooring.permissions import rules
from mooring.permissions.audit import AuditLog
from mooring.permissions.policy import Policy
from mooring.permissions.rule import parse_pair, spell_rule
from mooring.permissions.rules import RuleLocation

_HOLDERS: Mapping[Level, str] = {
    "managed": "the machine's settings",
    "session": "a rule for this session",
    "local": "your rules for this project",
    "user": "your settings",
    "project": "the project's settings",
}
"""Who holds the rules of each level."""
_SAID_NO = Verdict("ask", "you said no")
_NO_ANSWER = Verdict("ask", "you were asked and did not answer")


SaveAnswer: TypeAlias = Callable[[ServerName, str, RuleLocation, str], None]
"""Saves an answer beyond the session: the server, the tool, where, and the pattern that it is limited to."""


SessionAnswer: TypeAlias = tuple[ProposedCall, bool]
"""A call that was allowed for this session, and whether its server came with the project."""


def answer_saver(where: Paths, project: str | None) -> SaveAnswer:
    """Saves answers in the person's own files."""
    return partial(rules.save_allow, where, project)


class Gate:
    """Decides by the policy, asks where the policy says so, and remembers the answers."""

    def __init__(
        self,
        policy: Policy,
        ask: Ask | None = None,
        *,
        save_answer: SaveAnswer | None = None,
        save_trust: Callable[[str], None] | None = None,
        audit: AuditLog | None = None,
        on_problem: Callable[[Problem], None] = lambda problem: None,
        answers: Iterable[SessionAnswer] = (),
    ) -> None:
        """Without `ask` nothing is asked, and what would be is denied. Without `save_answer` no answer outlives the
        session, and without `save_trust` no answer can trust a server. `on_problem` gets answers that could not be
        saved. `answers` are those of this session so far."""
        self._state = _GateState(policy, answers)
        self._rules: tuple[Rule, ...] = ()
        """What narrows the policy that it shares with others."""
        self._narrowed: tuple[Policy, Policy] | None = None
        """The shared policy, and the same with these rules."""
        self._ask = ask
        self._save_answer = save_answer
        self._save_trust = save_trust
        self._audit = audit
        self._on_problem = on_problem
        self.use(policy)

    @property
    def answers(self) -> tuple[SessionAnswer, ...]:
        """What was allowed for this session, the first answer first."""
        return tuple(self._state.answers)

    def share(self, ask: Ask | None, rules: Iterable[Rule] = ()) -> "Gate":
        """A gate with the same rules and the same answers, whose questions go to `ask`: what one of the two was
        allowed for the session, so was the other. `rules` come before those of the session, and hold for it alone."""
        shared = Gate(
            self.policy,
            ask,
            save_answer=self._save_answer,
            save_trust=self._save_trust,
            audit=self._audit,
            on_problem=self._on_problem,
        )
        shared._state = self._state
        shared._rules = (*rules, *self._rules)
        return shared

    @property
    def policy(self) -> Policy:
        """What decides now."""
        shared = self._state.policy
        if not self._rules:
            return shared
        if self._narrowed is None or self._narrowed[0] is not shared:
            # The answers in front again: a rule that asks would ask about what the person has answered.
            self._narrowed = shared, self._add_answers(shared.with_terms(shared.mode, self._rules))
        return self._narrowed[1]

    def _add_answers(self, policy: Policy) -> Policy:
        # Each answer goes before the earlier ones, so that adding them backwards restores their order.
        for call, was_foreign in reversed(self._state.answers):
            # A yes to one's own server is none to a project's that took its name since, nor the other way round.
            if policy.is_foreign(call.server) == was_foreign:
                policy = _add_answer(policy, call)
        for server in self._state.trusted:
            if not policy.is_foreign(server):
                policy = policy.with_trusted(server)
        return policy

    def use(self, policy: Policy) -> None:
        """Take another policy, as after a change of the settings; answers of this session stay in force."""
        self._state.policy = self._add_answers(policy)

    def recheck(self, call: ProposedCall) -> None:
        """Let a call that was allowed before go on, unless it is denied by now; nobody is asked again.

        Raises:
            Denied: it may no longer be made.
        """
        verdict = self.policy.decide(call)
        if verdict.action == "deny":
            raise self._refuse_denied(call, verdict)

    async def authorize(self, call: ProposedCall) -> Verdict:
        """Allow the call, and return what allowed it.

        Raises:
            Denied: it may not be made; the message is for a person and a model to read.
        """
        verdict = self.policy.decide(call)
        if call.target is not None and verdict.action != "allow":
            # Each of the two needs its own answer: a yes to polling says nothing about the tool that is polled.
            await self.authorize(replace(call, target=None))
            return await self.authorize(call.target)
        while verdict.action == "ask":
            allowed_once = await self._ask_in_turn(call)
            if allowed_once is not None:
                return allowed_once
            verdict = self.policy.decide(call)
        if verdict.action == "deny":
            raise self._refuse_denied(call, verdict)
        return verdict

    async def _ask_in_turn(self, call: ProposedCall) -> Verdict | None:
        """Ask one question about a tool at a time; `None` means that the policy has to decide again.

        Whoever waited decides again: the answer to the call before may have settled theirs.
        """
        tool = (call.server, call.tool)
        queues = self._state.queues
        queue = queues.setdefault(tool, _QuestionQueue())
        queue.waiting += 1
        try:
            async with queue.turn:
                verdict = self.policy.decide(call)
                if verdict.action != "ask":
                    return None
                return await self._ask_person(call, verdict, queue)
        finally:
            queue.waiting -= 1
            if not queue.waiting:
                queues.pop(tool, None)

    async def _ask_person(self, call: ProposedCall, verdict: Verdict, queue: "_QuestionQueue") -> Verdict | None:
        if self._ask is None:
            raise self._refuse_unasked(call, verdict)
        can_trust = self._save_trust is not None and self.policy.could_trust(call)
        scopes = _limit_scopes(call, verdict, self._save_answer is not None, can_trust)
        question = _build_question(call, verdict, scopes, self.policy.is_foreign(call.server))
        try:
            answer = queue.find_refusal(call) or await self._ask_unless_settled(self._ask, call, question)
        except asyncio.CancelledError:
            self._record_refusal(call, _NO_ANSWER)
            raise
        match answer:
            case None:
                return None
            case No(nobody=True):
                raise self._refuse_unasked(call, verdict)
            case No():
                queue.refused.append((call, answer))
                reason = _NO_ANSWER if answer.how == "cancel" else _SAID_NO
                raise self._refuse(call, reason, _explain_no(answer), _tell_model_no(call, answer))
            case Allow(scope="reads") if call.server is not None and "reads" in scopes:
                await self._trust(call.server)
                return None
            case Allow(scope="session" | "always") if "session" in scopes:
                await self._remember(call, answer, scopes)
                return None
            case Allow() | Yes():
                return Verdict("allow", "you allowed it once", "session")
            case _:
                assert_never(answer)

    async def _ask_unless_settled(self, ask: Ask, call: ProposedCall, question: Permission) -> Answer | None:
        """The answer; `None` if the one to a question about another tool has settled this one, too."""
        asking = asyncio.ensure_future(ask(question))
        self._state.asked[asking] = self, call
        try:
            return await asking
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return None
        finally:
            del self._state.asked[asking]

    async def _remember(self, call: ProposedCall, answer: Allow, scopes: tuple[AnswerScope, ...]) -> None:
        """Let an answer hold for the session, and beyond if it says so."""
        is_foreign = self.policy.is_foreign(call.server)
        self._state.answers.append((call, is_foreign))
        self._state.policy = _add_answer(self._state.policy, call)
        if answer.scope != "always" or "always" not in scopes or self._save_answer is None:
            return
        # A rule that holds everywhere is not for a project's server: there, always means in this project.
        location: RuleLocation = "project-local" if is_foreign else answer.where
        await self._save(partial(self._save_answer, call.server, call.tool, location, _find_grant(call) or ""))

    async def _trust(self, server: str) -> None:
        self._state.trusted.append(server)
        self._state.policy = self._state.policy.with_trusted(server)
        for asking, (gate, call) in self._state.asked.items():
            if gate.policy.decide(call).action == "allow":
                asking.cancel()
        if self._save_trust is not None:
            await self._save(partial(self._save_trust, server))

    async def _save(self, save: Callable[[], None]) -> None:
        try:
            await asyncio.to_thread(save)
        except ConfigError as error:
            hint = "until then, the answer applies to this session"
            self._on_problem(Problem(None, str(error), hint, level="warning"))

    def _refuse_denied(self, call: ProposedCall, verdict: Verdict) -> Denied:
        name, reason = _name_tool(call), verdict.why
        if verdict.rule is not None and verdict.level is not None:
            reason = f"denied by {_HOLDERS[verdict.level]} ({verdict.rule})"
        for_model = f"{name} was not called: {verdict.why}. Trying again will not help"
        if call.access is None or not call.access.refused:
            way = "change that rule" if verdict.rule else "leave that mode"
            for_model = f"{for_model}; only the person can {way}"
        return self._refuse(call, verdict, f"{name} was not called: {reason}.", f"{for_model}.")

    def _refuse_unasked(self, call: ProposedCall, verdict: Verdict) -> Denied:
        is_foreign = self.policy.is_foreign(call.server)
        cause = f"{_name_tool(call)} was not called: {verdict.why}, and there is nobody to ask"
        message = f"{cause}. {_suggest_way(call, verdict, is_foreign)}"
        for_model = f"{cause}. Trying again will not help; only the person can allow it."
        rule = _write_allowance(call, verdict, is_foreign)
        return self._refuse(call, Verdict("ask", "there was nobody to ask"), message, for_model, rule=rule)

    def _refuse(
        self, call: ProposedCall, verdict: Verdict, message: str, for_model: str = "", rule: str = ""
    ) -> Denied:
        self._record_refusal(call, verdict)
        return Denied(message, for_model, rule)

    def _record_refusal(self, call: ProposedCall, verdict: Verdict) -> None:
        if self._audit is not None:
            self._audit.add(call, verdict, "denied", 0.0)


class _GateState:
    """What gates share whose answers hold for each other."""

    def __init__(self, policy: Policy, answers: Iterable[SessionAnswer]) -> None:
        self.policy = policy
        self.answers = list(answers)
        self.trusted: list[str] = []
        """The servers that an answer trusted."""
        self.queues: dict[tuple[ServerName, str], _QuestionQueue] = {}
        self.asked: dict[asyncio.Future[Answer], tuple[Gate, ProposedCall]] = {}
        """The questions that are open."""


class _QuestionQueue:
    """Calls of one tool that wait for an answer, one after the other."""

    def __init__(self) -> None:
        self.turn = asyncio.Lock()
        self.waiting = 0
        self.refused: list[tuple[ProposedCall, No]] = []

    def find_refusal(self, call: ProposedCall) -> No | None:
        """The no to the very same call while this one waited. A no holds for both; a yes holds for one call only."""
        return next((no for refused, no in self.refused if refused == call), None)


def _find_grant(call: ProposedCall) -> str | None:
    """The pattern of the rule that a lasting yes adds, empty for any arguments; `None` if no rule would help."""
    if call.access is None:
        return ""
    # What is asked about whatever rules say would be asked about again.
    return None if call.access.insists else call.access.grant


def _build_allow_rule(call: ProposedCall) -> Rule:
    return rules.build_allow_rule(call.server, call.tool, _find_grant(call) or "")


def _add_answer(policy: Policy, call: ProposedCall) -> Policy:
    server, tool = call.server, call.tool
    if _find_grant(call) is None and call.access is not None:
        return policy.with_verbatim(tool, call.access.verbatim)
    rule = _build_allow_rule(call)
    return policy.with_rule("session", rule, lambda earlier: rules.find_insertion_point(earlier, server, tool))


def _build_question(
    call: ProposedCall, verdict: Verdict, scopes: tuple[AnswerScope, ...], project_only: bool
) -> Permission:
    allowance = _write_allowance(call, verdict, project_only)
    return Permission(
        server=call.server,
        tool=call.tool,
        arguments=call.arguments,
        why=verdict.why,
        rule="" if project_only else allowance,
        origin=call.origin,
        hints=call.hints,
        scopes=scopes,
        limit=_explain_limit(call, verdict),
        project_only=project_only,
        option=allowance if project_only else "",
        preview="" if call.access is None else call.access.preview,
    )


def _limit_scopes(call: ProposedCall, verdict: Verdict, can_save: bool, can_trust: bool) -> tuple[AnswerScope, ...]:
    """How far an answer can reach."""
    # The machine's settings are above anything a person can save: their ask would still ask again.
    if verdict.level == "managed":
        return ("once",)
    if _find_grant(call) is None:
        return ("once", "session") if _is_allowed_to_the_letter(call) else ("once",)
    # Where rules cannot be read, a saved allow could be one that they deny.
    if not can_save or verdict.doubtful:
        return ("once", "session")
    # A rule that asks goes before what a trusted server says.
    return (
        ("once", "session", "reads", "always") if can_trust and verdict.rule is None else ("once", "session", "always")
    )


def _is_allowed_to_the_letter(call: ProposedCall) -> bool:
    """Whether a yes for the session can cover exactly this, where no rule can."""
    return call.access is not None and bool(call.access.verbatim) and not call.access.insists


def _explain_limit(call: ProposedCall, verdict: Verdict) -> str:
    """Why no answer holds always; empty if one does."""
    if verdict.level == "managed":
        return "the machine's settings ask about it each time"
    if verdict.doubtful:
        return "a file with rules cannot be read, and what an answer adds could be what it denies"
    if call.access is None or _find_grant(call) is not None:
        return ""
    if call.access.insists:
        return "this is asked about each time, whatever rules say"
    return call.access.limit or "no rule can be written for it"


def _write_allowance(call: ProposedCall, verdict: Verdict, is_foreign: bool) -> str:
    """The rule that would allow a call without asking, or the option where a rule would not; empty if neither does."""
    if verdict.level == "managed" or verdict.doubtful or _find_grant(call) is None:
        return ""
    return _write_allow_option(call) if is_foreign else _write_allow_rule(call)


def _write_allow_rule(call: ProposedCall) -> str:
    return json.dumps(msgspec.to_builtins(_build_allow_rule(call)), ensure_ascii=False)


def _write_allow_command(call: ProposedCall) -> str:
    rule, name = _build_allow_rule(call), _name_tool(call)
    # What a person types, where that means this very tool.
    is_plain = is_literal(name) and parse_pair(name) == (call.server, call.tool)
    return f"mooring allow {quote_argument(spell_rule(replace(rule, tool=name) if is_plain else rule))}"


def _write_allow_option(call: ProposedCall) -> str:
    return f"--allow {quote_argument(spell_rule(_build_allow_rule(call)))}"


def _name_tool(call: ProposedCall) -> str:
    return call.tool if call.server is None else f"{call.server}.{call.tool}"


def _explain_no(answer: No) -> str:
    """What whoever has just said no reads."""
    return f"Not called: {answer.reason}" if answer.reason else "Not called."


def _tell_model_no(call: ProposedCall, answer: No) -> str:
    reason = f": {answer.reason}" if answer.reason else "."
    return f"{_name_tool(call)} was not called; the answer was no{reason}"


def _suggest_way(call: ProposedCall, verdict: Verdict, is_foreign: bool) -> str:
    """What the person can do about a call that there was nobody to ask about."""
    # A rule is only suggested where adding it would help.
    if verdict.doubtful:
        return "Fix that file first; `mooring mcp doctor` says what is wrong with it."
    if verdict.level == "managed":
        return "The machine's settings require a person to answer."
    if _find_grant(call) is None:
        return "No rule can allow it: a person has to answer each time."
    if is_foreign:
        option = _write_allow_option(call)
        return f"To allow it: {_write_allow_command(call)} --project; or, this once, add {option}."
    return f"To allow it: {_write_allow_command(call)}"
