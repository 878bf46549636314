"""The permissions of one conversation, and those of the host that they are made from: rules, log and pins."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias
from weakref import WeakKeyDictionary

from msgspec.structs import replace

from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import BYPASSED, Mode, ProposedCall, Rule, Verdict
from mooring.core.definitions.approved import ForeignServers
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.permissions import rules
from mooring.permissions.audit import AuditLog, new_session_id
from mooring.permissions.gate import Gate, SessionAnswer, answer_saver
from mooring.permissions.pins import ToolPins, find_folder
from mooring.permissions.policy import Policy, find_strictest
from mooring.settings import Settings

_Terms: TypeAlias = tuple[Mode | None, tuple[Rule, ...]]
"""The mode and the rules that one conversation has of its own, beside those of the whole host."""
APPROVED = Verdict("allow", "the program says that it was approved", "session")


class ConversationPermissions:
    """Allows or refuses the calls of one conversation. The log and the pins are those of its host."""

    def __init__(self, gate: Gate, audit: AuditLog, pins: ToolPins, read_again: Callable[[], Awaitable[None]]) -> None:
        self.gate = gate
        self.audit = audit
        self.pins = pins
        self._read_again = read_again

    def share(self, ask: Ask | None, rules: Iterable[Rule] = ()) -> "ConversationPermissions":
        """The permissions of a sub-agent: the rules and the answers of this conversation, with an `ask` of its own.

        `rules` hold for the sub-agent alone.
        """
        return ConversationPermissions(self.gate.share(ask, rules), self.audit, self.pins, self._read_again)

    def allow_unasked(self, call: ProposedCall) -> Verdict | None:
        """The verdict that allows a call without a question; `None` if it is denied or has to be asked about."""
        verdict = self.gate.policy.decide(call)
        return verdict if verdict.action == "allow" else None

    def is_always_allowed(self, call: ProposedCall) -> bool:
        """Whether the tool is allowed whatever its arguments, until the rules change."""
        return self.gate.policy.ignores_arguments(call) and self.allow_unasked(call) is not None

    async def authorize(self, call: ProposedCall, others: Iterable[ProposedCall] = ()) -> Verdict:
        """Allow a call, asking if somebody has to be asked; `others` are the same call under other names.

        A deny under any name holds, and so does a rule that asks, unless the person was asked already: two questions
        about the same call would be one too many. An allow holds for the name that was used alone.

        Raises:
            Denied: it may not be made.
        """
        unasked = self.allow_unasked(call)
        if unasked is None and self.gate.policy.doubts:
            # A file that could not be read, as with too many files open, may be readable by now without a change to it.
            await self._read_again()
            unasked = self.allow_unasked(call)
        verdict = unasked or await self.gate.authorize(call)
        # What was answered about another file is no answer about this one.
        asked_already = unasked is None or (call.access is None and unasked.level == "session")
        for other in others:
            if not asked_already and self.gate.policy.decide(other).rule is not None:
                await self.authorize(_limit_grant(other))
            else:
                self.recheck(other)
        return verdict

    def judge(self, calls: Sequence[ProposedCall]) -> Verdict:
        """What would become of a call, given under each of its names, if it were made now: the strictest verdict."""
        first, *others = [self.gate.policy.decide(call) for call in calls]
        # An allow holds for the name that was used alone, so other names matter only where a rule speaks of them.
        relevant = [verdict for verdict in others if verdict.action == "deny" or verdict.rule is not None]
        return find_strictest([first, *relevant])

    def accept(self, calls: Sequence[ProposedCall], approval: Verdict = APPROVED) -> Verdict:
        """Allow a call that was approved before, as `approval` says, unless it is denied.

        Raises:
            Denied: a rule or the mode forbids it, whoever approved it.
        """
        self.recheck(*calls)
        return self.allow_unasked(calls[0]) or approval

    def recheck(self, *calls: ProposedCall) -> None:
        """Check a call that was allowed before, under each of its names, against what is denied by now.

        Raises:
            Denied: it may no longer be made.
        """
        for call in calls:
            self.gate.recheck(call)


def _limit_grant(call: ProposedCall) -> ProposedCall:
    """The same call under another name. What a yes to a change grants would be too much for reading."""
    if call.access is None or (call.hints is not None and call.hints.read_only_hint):
        return call
    return replace(call, access=replace(call.access, grant=None))


async def _read_nothing() -> None:
    """Where nothing is read but at the beginning."""


class HostPermissions:
    """Makes the permissions of each conversation. The rules are compiled once, for all of them."""

    def __init__(
        self,
        where: Paths,
        settings: Settings,
        project: str | None,
        *,
        ask: Ask | None = None,
        mode: Mode | None = None,
        session_rules: Iterable[Rule] = (),
        bypass_reason: str = BYPASSED,
        must_record: bool = False,
        on_problem: Callable[[Problem], None] = lambda problem: None,
        read_again: Callable[[], Awaitable[None]] = _read_nothing,
    ) -> None:
        """`session_rules` are in force besides those in the settings, for as long as the host is open.

        With `must_record`, a call that cannot be recorded is refused. `read_again` reads the settings anew, and has
        them used here.
        """
        self._read_again = read_again
        self._settings = settings
        self._ask = ask
        self._mode = mode
        self._foreign: ForeignServers = {}
        self._answers: tuple[SessionAnswer, ...] = ()
        """What holds in every conversation that begins from now on, because it was allowed for the session."""
        self._save_answer = answer_saver(where, project)
        self._save_trust = partial(rules.save_trust, where)
        self._on_problem = on_problem
        self._conversations: WeakKeyDictionary[ConversationPermissions, _Terms] = WeakKeyDictionary()
        # `settings`, `foreign` and the mode change while the host is open; the rest does not.
        self._load_policy = partial(
            rules.load_policy,
            where=where,
            project=project,
            session_rules=tuple(session_rules),
            bypass_reason=bypass_reason,
        )
        self._policy = self._load_policy(settings, mode=mode, foreign={})
        self.audit = AuditLog(where, new_session_id(), required=must_record, on_problem=on_problem)
        self.pins = ToolPins(where, on_problem)
        self.places = (rules.record_path(where), find_folder(where))
        """The person's rules for projects, and the pins: a change there may be one that another program made."""
        self.own = self.begin()
        """The permissions of the program itself, for calls outside of any conversation."""

    def begin(
        self, ask: Ask | None = None, mode: Mode | None = None, session_rules: Iterable[Rule] = ()
    ) -> ConversationPermissions:
        """The permissions of a new conversation: its questions go to `ask`, and no other conversation has its answers.

        `ask` and `mode` are the host's where they are left out; `session_rules` come before those of the host.
        """
        terms = mode, tuple(session_rules)
        gate = Gate(
            self._make_policy(*terms),
            ask or self._ask,
            save_answer=self._save_answer,
            save_trust=self._save_trust,
            audit=self.audit,
            on_problem=self._on_problem,
            answers=self._answers,
        )
        conversation = ConversationPermissions(gate, self.audit, self.pins, self._read_again)
        self._conversations[conversation] = terms
        return conversation

    def use(self, settings: Settings, foreign: ForeignServers) -> None:
        """Take other settings, the person's rules as they are now, and the project's servers with what applies to each.

        Answers of each conversation stay in force, and pins are read again.
        """
        self._settings, self._foreign = settings, foreign
        self._load_again()
        self.pins.forget()

    def change_mode(self, mode: Mode | None) -> None:
        """Take another mode for every conversation that has none of its own; `None` for that of the settings."""
        self._mode = mode
        self._load_again()

    def keep_answers(self) -> None:
        """Have what was allowed for the session so far hold in every conversation that begins from now on."""
        every = [answer for conversation in self._conversations for answer in conversation.gate.answers]
        self._answers += tuple(answer for answer in every if answer not in self._answers)

    def _load_again(self) -> None:
        self._policy = self._load_policy(self._settings, mode=self._mode, foreign=self._foreign)
        for conversation, terms in self._conversations.items():
            conversation.gate.use(self._make_policy(*terms))

    def _make_policy(self, mode: Mode | None, session_rules: tuple[Rule, ...]) -> Policy:
        """The host's policy, as one conversation has it."""
        if mode is None and not session_rules:
            return self._policy
        return self._policy.with_terms(rules.choose_mode(self._settings, mode or self._mode), session_rules)
