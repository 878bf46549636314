"""The permissions of one conversation: what it may call, what it waits for, and the answers it was given."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import LocalAccess, ProposedCall, Rule, Verdict
from mooring.permissions.audit import AuditLog
from mooring.permissions.gate import Gate
from mooring.permissions.policy import find_strictest
from mooring.permissions.tool_pins import ToolPins

APPROVED = Verdict("allow", "the program says that it was approved", "session")


class ConversationPermissions:
    """Allows or refuses the calls of one conversation. The log and the pins are those of its host."""

    def __init__(self, gate: Gate, audit: AuditLog, pins: ToolPins) -> None:
        self.gate = gate
        self.audit = audit
        self.pins = pins

    def share(self, ask: Ask | None, rules: Iterable[Rule] = ()) -> "ConversationPermissions":
        """The permissions of a sub-agent: the rules and the answers of this conversation, with an `ask` of its own.

        `rules` hold for the sub-agent alone.
        """
        return ConversationPermissions(self.gate.share(ask, rules), self.audit, self.pins)

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
        verdict = unasked or await self.gate.authorize(call)
        # What was answered about another file is no answer about this one.
        asked_already = unasked is None or (call.access is None and unasked.level == "session")
        for other in others:
            if not asked_already and self.gate.policy.decide(other).rule is not None:
                await self.authorize(_limit_grant(other))
            else:
                self.recheck(other)
        return verdict

    def may_open(self, access: LocalAccess) -> bool:
        """Whether a file may be opened as part of something that was permitted: see `Policy.may_open`."""
        return self.gate.policy.may_open(access)

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
