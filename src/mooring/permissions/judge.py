"""What the command line says about permissions, and the gate and the log for calls that no host makes."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from msgspec import Struct

from mooring import files
from mooring.core.problem import Problem
from mooring.core.result import Result
from mooring.core.where import Viewpoint
from mooring.permissions.audit import Audit, session
from mooring.permissions.verdict import Mode, ProposedCall, Rule, Verdict
from mooring.settings import Settings, load

if TYPE_CHECKING:
    from mooring.permissions.gate import Gate


class Said(Struct, frozen=True):
    """The rules and the mode that hold for one command."""

    rules: tuple[Rule, ...] = ()
    mode: Mode | None = None


class Judge:
    """Stands before the calls of a server that is configured nowhere, which a person typed: what is denied stays so."""

    def __init__(self, request: Viewpoint, said: Said, tell: Callable[[Problem], None]) -> None:
        """`tell` hears what went wrong beside the calls. Where nobody ever said anything no rules are loaded."""
        self._request, self._said = request, said
        self._audit = Audit(request.where, session(), tell=tell)

    async def call(self, call: ProposedCall, work: Callable[[], Awaitable[Result]]) -> Result:
        """Do the work, once the call is let through, and put it on record. Raises: Denied; what the work raises."""
        return await self._audit.made(call, await self._passed(call), work())

    def close(self) -> None:
        """Write down what is to be on record."""
        self._audit.close()

    async def _passed(self, call: ProposedCall) -> Verdict:
        root = files.upwards(self._request.cwd)[-1] if self._request.project else None
        settings = load(self._request.where, root)
        if not _anything(settings, self._said):
            return Verdict("allow", "you typed it")
        return await self._gate(settings, root).pass_(call)

    def _gate(self, settings: Settings, root: str | None) -> "Gate":
        from mooring.permissions import rules
        from mooring.permissions.gate import Gate

        mode = self._said.mode or "bypass"
        return Gate(rules.policy(settings, self._request.where, root, mode, self._said.rules), audit=self._audit)


def _anything(settings: Settings, said: Said) -> bool:
    managed = settings.values["permissionMode"].level == "managed"
    return bool(said.rules or said.mode or settings.every("permissions") or settings.doubts or managed)
