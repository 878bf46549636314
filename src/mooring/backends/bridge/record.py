"""The log of what an agent does by itself: what was permitted here, with how it says that it ended."""

from time import perf_counter

from msgspec import Struct

from mooring.core.conversation.verdict import ProposedCall, Verdict
from mooring.permissions.audit import AuditLog


class _PermittedCall(Struct, frozen=True):
    call: ProposedCall
    verdict: Verdict
    since: float


class AgentRecord:
    """The calls of one agent that Mooring permits and does not make. Each is logged once."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit
        self._open: dict[str, _PermittedCall] = {}

    def begin(self, id: str, call: ProposedCall, verdict: Verdict) -> None:
        """Note a call that was permitted."""
        self._open[id] = _PermittedCall(call, verdict, perf_counter())

    def finish(self, id: str, success: bool) -> None:
        """Log a call whose end the agent tells. Calls that Mooring makes itself are logged where it makes them."""
        permitted = self._open.pop(id, None)
        if permitted is not None:
            seconds = perf_counter() - permitted.since
            self._audit.add(permitted.call, permitted.verdict, "ok" if success else "is_error", seconds)

    def end(self) -> None:
        """Log the calls whose end was never told: the turn was cut off."""
        for permitted in self._open.values():
            self._audit.add(permitted.call, permitted.verdict, "error", perf_counter() - permitted.since)
        self._open.clear()
