"""What was decided about the calls of one turn, and the log of those that the agent makes by itself.

A decision is found by a call's id, its tool and its arguments, never by its id alone. A program may ask about one call
several times, for each file that it touches. A model that gives two calls the same id would have the second one pass as
the first: both are refused.
"""

import asyncio
from collections.abc import Mapping
from time import perf_counter
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.agents.streak import normalize_arguments
from mooring.backends.bridge.own_tools import identify, list_covered
from mooring.core.conversation.verdict import LocalAccess, ProposedCall, Verdict
from mooring.errors import Denied
from mooring.permissions.audit import AuditLog

DecisionKey: TypeAlias = tuple[str, str, bytes]
"""The id of a call, its tool, and its arguments as they are written in exactly one way."""


class CallDecision:
    """What was decided about one call so far."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        """A program may ask twice at the same time, and the person is asked once."""
        self.is_counted = False
        """Whether it counts among the calls that were made in a row."""
        self.is_permitted = False
        self.refusal: Denied | None = None
        self._permitted: set[tuple[Any, ...]] = set()

    def list_new(self, accesses: tuple[LocalAccess, ...]) -> list[LocalAccess]:
        """Those that nobody has decided about yet."""
        return [access for access in accesses if identify(access) not in self._permitted]

    def permit(self, accesses: list[LocalAccess]) -> None:
        self.is_permitted = True
        for access in accesses:
            self._permitted.update(list_covered(access))


class CallDecisions:
    """The calls of one turn."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything: the turn ended."""
        self._decisions: dict[DecisionKey, CallDecision] = {}
        self._in_flight: set[str] = set()
        self._doubled: set[str] = set()

    def begin(self, id: str) -> None:
        """Note that a call with this id is to be made. Once for each call."""
        if id in self._in_flight:
            self._doubled.add(id)
        self._in_flight.add(id)

    def check(self, id: str) -> None:
        """Raises: Denied if two calls have this id."""
        if id in self._doubled:
            raise Denied(
                "Not called: two calls have the same id, so it can't be told which of them was permitted.",
                "This call was not made: another call has the same id. Make each call with an id of its own.",
            )

    def find(self, id: str, tool: object, arguments: Mapping[str, Any] | None) -> CallDecision:
        """What was decided about a call; nothing yet if it is new, or has no id."""
        if not id:
            return CallDecision()
        key = (id, repr(tool), normalize_arguments(arguments or {}))
        return self._decisions.setdefault(key, CallDecision())

    def finish(self, id: str) -> None:
        """Forget a call that ended: an id may be used again."""
        self._in_flight.discard(id)
        for key in [key for key in self._decisions if key[0] == id]:
            del self._decisions[key]


class _PermittedCall(Struct, frozen=True):
    call: ProposedCall
    verdict: Verdict
    since: float


class AgentRecord:
    """The calls of one agent that Mooring permits and does not make. Each is logged once, with how it says it ended."""

    def __init__(self, audit: AuditLog) -> None:
        self._audit = audit
        self._open: dict[str, _PermittedCall] = {}

    def begin(self, id: str, call: ProposedCall, verdict: Verdict) -> None:
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
