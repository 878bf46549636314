"""The permissions of one host: the gate before its calls, the log of them, and its servers' tools as approved."""

import asyncio
from collections.abc import Callable, Collection, Iterable

from mooring.core.approved import Approved
from mooring.core.problem import Problem
from mooring.core.question import Ask
from mooring.core.tool import Tool
from mooring.core.where import Where
from mooring.errors import FileError
from mooring.permissions import pins, rules
from mooring.permissions.audit import AuditLog, new_session_id
from mooring.permissions.gate import Gate, answer_saver
from mooring.permissions.pins import HeldTools, Pin, PinKey
from mooring.permissions.policy import Policy
from mooring.permissions.verdict import BYPASSED, Mode, ProposedCall, Rule, Verdict
from mooring.settings import Settings


class HostPermissions:
    """Allows or refuses the calls of a host, logs each of them, and holds back tools that are not as approved."""

    def __init__(
        self,
        where: Where,
        settings: Settings,
        project: str | None,
        *,
        ask: Ask | None = None,
        mode: Mode | None = None,
        session_rules: Iterable[Rule] = (),
        bypass_reason: str = BYPASSED,
        on_problem: Callable[[Problem], None] = lambda problem: None,
    ) -> None:
        """`session_rules` are in force besides those in the settings, for as long as the host is open."""
        self._where = where
        self._project = project
        self._mode = mode
        self._session_rules = tuple(session_rules)
        self._bypass_reason = bypass_reason
        self._on_problem = on_problem
        self.audit = AuditLog(where, new_session_id(), on_problem=on_problem)
        self.gate = Gate(
            self._load_policy(settings),
            ask,
            save_answer=answer_saver(where, project),
            audit=self.audit,
            on_problem=on_problem,
        )
        self._pins: dict[PinKey, Pin | None] = {}

    def use(self, settings: Settings, foreign: Collection[str] = ()) -> None:
        """Take other settings, and the names of the servers that came with the project.

        Answers of this session stay in force, and pins are read again.
        """
        self.gate.use(self._load_policy(settings, foreign))
        self._pins.clear()

    def close(self) -> None:
        """Write the rest of the log."""
        self.audit.close()

    def _load_policy(self, settings: Settings, foreign: Collection[str] = ()) -> Policy:
        return rules.load_policy(
            settings, self._where, self._project, self._mode, self._session_rules, self._bypass_reason, foreign
        )

    # --- calls ------------------------------------------------------------------------------------------------------

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
        verdict = self.allow_unasked(call) or await self.gate.authorize(call)
        for other in others:
            asked_already = verdict.level == "session"
            if not asked_already and self.gate.policy.decide(other).rule is not None:
                await self.authorize(other)
            else:
                self.recheck(other)
        return verdict

    def recheck(self, *calls: ProposedCall) -> None:
        """Check a call that was allowed before, under each of its names, against what is denied by now.

        Raises:
            Denied: it may no longer be made.
        """
        for call in calls:
            self.gate.recheck(call)

    # --- tools as they were approved --------------------------------------------------------------------------------

    def find_held_tools(self, approved: Approved, tools: Iterable[Tool]) -> HeldTools:
        """Which of a server's tools are not as they were approved."""
        key = pins.make_key(approved)
        if key is None:
            return HeldTools()
        # Approving a project's server approves the tools it has then. The person's own server was never approved, so
        # its tools are pinned with the first call that is allowed.
        if not approved.own and self._find_pin(key) is None:
            tools = tuple(tools)
            self._pin(key, tools)
        return pins.compare(self._find_pin(key), tools)

    async def pin_tools(self, approved: Approved, tools: Iterable[Tool]) -> None:
        """Pin a server's tools as they are, now that one of them was allowed; does nothing if they are pinned."""
        key = pins.make_key(approved)
        if key is not None and self._find_pin(key) is None:
            await asyncio.to_thread(self._pin, key, tuple(tools))

    def approve(self, approved: Approved, held: HeldTools) -> None:
        """Accept the tools as they were shown.

        Raises:
            FileError: the record cannot be written.
        """
        key = pins.make_key(approved)
        if key is not None:
            self._pins[key] = pins.approve(self._where, key, held.changes)

    def switch_pinning(self, approved: Approved, *, off: bool) -> None:
        """Turn pinning off for a server, or on again.

        Raises:
            FileError: the record cannot be written.
        """
        key = pins.make_key(approved)
        if key is not None:
            self._pins[key] = pins.switch(self._where, key, off=off)

    @property
    def pins_folder(self) -> str:
        """Where the pins are: a change there may be one that another program made."""
        return pins.find_folder(self._where)

    async def reread_pins(self) -> bool:
        """Read the pins that are in use again; whether any has changed."""
        before = dict(self._pins)
        found = await asyncio.to_thread(self._load_pins, tuple(before))
        changed = False
        for key, pin in found.items():
            # A pin that was made while these were read is newer. Forgetting it would let a changed tool through.
            if self._pins.get(key) is before[key] and pin != before[key]:
                self._pins[key] = pin
                changed = True
        return changed

    def _load_pins(self, keys: Iterable[PinKey]) -> dict[PinKey, Pin | None]:
        return {key: pins.load(self._where, key)[0] for key in keys}

    def _find_pin(self, key: PinKey) -> Pin | None:
        if key not in self._pins:
            pin, problem = pins.load(self._where, key)
            # A thread may have pinned the tools since they were looked up.
            self._pins.setdefault(key, pin)
            if problem is not None:
                self._on_problem(problem)
        return self._pins[key]

    def _pin(self, key: PinKey, tools: tuple[Tool, ...]) -> None:
        # A record of no tools would hold back every tool that the server lists once it is ready.
        if not tools:
            return
        try:
            self._pins[key] = pins.pin_tools(self._where, key, tools)
        except FileError as error:
            message = f"has tools that could not be pinned, so that changes of them go unnoticed: {error.reason}"
            self._on_problem(Problem(error.path, message, "make room, or make the folder writable", key.server))
