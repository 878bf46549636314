"""Who stands before every call of one host: the gate, the log of calls, and the tools as they were approved."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

from mooring.core.approved import Approved
from mooring.core.problem import Problem
from mooring.core.question import Ask
from mooring.core.tool import Tool
from mooring.core.where import Where
from mooring.errors import FileError
from mooring.permissions import pins, rules
from mooring.permissions.audit import Audit, session
from mooring.permissions.gate import Gate, keeper
from mooring.permissions.pins import Held, Pin
from mooring.permissions.policy import Policy
from mooring.permissions.verdict import Mode, ProposedCall, Rule, Verdict
from mooring.settings import Settings


class Warden:
    """Lets calls through or refuses them, keeps a record of each, and holds back tools that are not as approved."""

    def __init__(
        self,
        where: Where,
        settings: Settings,
        project: str | None,
        *,
        ask: Ask | None = None,
        mode: Mode | None = None,
        said: Iterable[Rule] = (),
        tell: Callable[[Problem], None] = lambda problem: None,
    ) -> None:
        """`said` are rules for as long as this lasts, beside those in the settings."""
        self._where, self._project, self._mode, self._said = where, project, mode, tuple(said)
        self._tell = tell
        self.audit = Audit(where, session(), tell=tell)
        self.gate = Gate(self._policy(settings), ask, keep=keeper(where, project), audit=self.audit, tell=tell)
        self._pins: dict[pins.Key, Pin | None] = {}

    def use(self, settings: Settings) -> None:
        """Take other settings; answers of this session stay in force, and pins are looked up anew."""
        self.gate.use(self._policy(settings))
        self._pins.clear()

    def allows(self, call: ProposedCall) -> Verdict | None:
        """What lets a call through, where nobody has to be asked."""
        verdict = self.gate.policy.decide(call)
        return verdict if verdict.action == "allow" else None

    def always(self, call: ProposedCall) -> bool:
        """Whether the tool is let through whatever its arguments, until the rules change."""
        return self.gate.policy.settled(call) and self.allows(call) is not None

    def _policy(self, settings: Settings) -> Policy:
        return rules.policy(settings, self._where, self._project, self._mode, self._said)

    async def passes(self, call: ProposedCall) -> Verdict:
        """Let a call through, asking where somebody has to be asked. Raises: Denied."""
        return self.allows(call) or await self.gate.pass_(call)

    async def also(self, call: ProposedCall, let: Verdict) -> None:
        """Hold a call that was let through to what is said of it under another name of its server: a deny counts, and
        a rule that asks, unless the person was asked already. Raises: Denied."""
        if let.level != "session" and self.gate.policy.decide(call).rule is not None:
            await self.passes(call)
        else:
            self.recheck(call)

    def recheck(self, call: ProposedCall) -> None:
        """Hold a call that was let through before to what is denied by now. Raises: Denied."""
        self.gate.recheck(call)

    # --- tools as they were approved --------------------------------------------------------------------------------

    def held(self, approved: Approved, tools: Iterable[Tool]) -> Held:
        """Which of a server's tools are not as they were approved; those of a project's server are approved with it."""
        key = pins.key(approved)
        if key is None:
            return Held()
        if self._pin(key) is None and not approved.own and (known := tuple(tools)):
            self._first(key, known)
        return pins.compare(self._pin(key), tools)

    async def called(self, approved: Approved, tools: Iterable[Tool]) -> None:
        """A call of the server was let through: from now on its tools are what they are."""
        key = pins.key(approved)
        if key is not None and self._pin(key) is None and (known := tuple(tools)):
            await asyncio.to_thread(self._first, key, known)

    def approve(self, approved: Approved, held: Held) -> None:
        """Take the tools as they were shown.

        Raises:
            FileError: the record cannot be written.
        """
        if (key := pins.key(approved)) is not None:
            self._pins[key] = pins.approve(self._where, key, held.changes)

    def _pin(self, key: pins.Key) -> Pin | None:
        if key not in self._pins:
            pin, problem = pins.load(self._where, key)
            self._pins[key] = pin
            if problem is not None:
                self._tell(problem)
        return self._pins[key]

    def _first(self, key: pins.Key, tools: Iterable[Tool]) -> None:
        with suppress(FileError):  # without a record nothing can be held against it, now or later
            self._pins[key] = pins.first(self._where, key, tools)

    def close(self) -> None:
        self.audit.close()
