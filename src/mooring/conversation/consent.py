"""Asks the person about what is not approved yet and about to be used: a project's server, or tools that changed."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, TypeAlias, TypeVar

from mooring.conversation.lookup import Lookup
from mooring.core.conversation.question import Ask, ChangedTool, ChangedTools, Yes
from mooring.core.definitions.paths import Workspace
from mooring.errors import HeldBack, NotApproved, ServerError
from mooring.permissions.pins import HeldTools, ToolPins

T = TypeVar("T")
MOST_QUESTIONS = 10
"""How often one piece of work is tried again: a server may change its tools after each yes."""
Subject: TypeAlias = tuple[Literal["server", "tools"], str]


class Consent:
    """The questions of one host that approve something for good. Without `ask`, whatever needs one is refused."""

    def __init__(
        self,
        ask: Ask | None,
        workspace: Workspace,
        lookup: Lookup,
        pins: ToolPins,
        reread: Callable[[], Awaitable[None]],
    ) -> None:
        """`reread` puts the configuration into effect as it is after an approval."""
        self._ask = ask
        self._workspace = workspace
        self._lookup = lookup
        self._pins = pins
        self._reread = reread
        self._turns: dict[Subject, _Turn] = {}

    async def retry(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work, and do it again each time that the person approves what it lacked. Raises: what it raises."""
        for _ in range(MOST_QUESTIONS):
            try:
                return await work()
            except NotApproved as error:
                if not await self.ask_about_server(error.server):
                    raise self._explain_refusal(error) from None
            except HeldBack as error:
                if not await self.ask_about_tools(error.server):
                    raise
        return await work()

    # --- a project's server ---------------------------------------------------------------------------------------

    async def ask_about_server(self, name: str, *, anew: bool = False) -> bool:
        """Ask whether a project's server may be started; with `anew`, even if the person rejected it.

        Raises: UnknownServer; ConfigError if it needs no approval or cannot be used; FileError.
        """
        return await self._wait_for_turn(("server", name), lambda: self._approve_server(name, anew))

    def _explain_refusal(self, error: NotApproved) -> NotApproved:
        # Whoever was asked just now does not have to be told how to decide. Nobody was asked about a rejected one.
        if self._ask is None or error.state == "rejected":
            return error
        return NotApproved(error.server, error.reason, "declined")

    async def _approve_server(self, name: str, anew: bool) -> bool:
        if self._ask is None:
            return False
        if not anew and self._is_approved(name):
            return True  # by the answer to somebody else
        # Loaded here: most hosts never ask, and those with servers passed in need nothing that reads configurations.
        from mooring.inventory.approval import list_questions
        from mooring.inventory.approval_rows import ask_approval
        from mooring.inventory.load import load

        where = self._workspace.where
        inventory = await asyncio.to_thread(load, self._workspace)
        [question] = await asyncio.to_thread(list_questions, inventory, [name], where)
        if question.standing == "rejected" and not anew:
            return False
        if not await ask_approval(self._ask, inventory, question, where):
            return False
        await self._reread()
        return True

    def _is_approved(self, name: str) -> bool:
        try:
            self._lookup.server(name).check_approval()
        except NotApproved:
            return False
        return True

    # --- tools that changed ---------------------------------------------------------------------------------------

    async def ask_about_tools(self, name: str) -> bool:
        """Ask whether the tools of a server that are held back may be called. Raises: as `Host.server`; FileError."""
        return await self._wait_for_turn(("tools", name), lambda: self._approve_tools(name))

    async def _approve_tools(self, name: str) -> bool:
        # Another program may have approved them meanwhile.
        if await self._pins.reread():
            self._lookup.invalidate()
        approved, server = self._lookup.find_approved(name), self._lookup.server(name)
        held = self._pins.find_held(approved, server.tools, server.instructions)
        if held and self._ask is not None and not server.is_connected:
            # What is remembered may be out of date, and a yes to that would not help. Connecting lists the tools again.
            with suppress(ServerError):
                await server.session()
            held = self._pins.find_held(approved, server.tools, server.instructions)
        if not held:
            # Whoever was refused went by what was known before.
            self._lookup.invalidate(server.name)
            return True
        if self._ask is None:
            return False
        answer = await self._ask(ChangedTools(name, list_changed_tools(held)))
        if not isinstance(answer, Yes):
            return False
        # As they were shown: the server may describe them differently by now.
        self._pins.approve(approved, held)
        self._lookup.invalidate(server.name)
        return True

    # --- one question at a time -----------------------------------------------------------------------------------

    async def _wait_for_turn(self, subject: Subject, settle: Callable[[], Awaitable[bool]]) -> bool:
        """Settle one question about a thing at a time; whoever waited meanwhile shares a no."""
        turn = self._turns.setdefault(subject, _Turn())
        turn.waiting += 1
        try:
            async with turn.lock:
                if turn.refused:
                    return False
                agreed = await settle()
                turn.refused = not agreed
                return agreed
        finally:
            turn.waiting -= 1
            if not turn.waiting:
                self._turns.pop(subject, None)


class _Turn:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0
        self.refused = False


def list_changed_tools(held: HeldTools) -> tuple[ChangedTool, ...]:
    """What is held back, as it is shown to a person: the tools that changed first, the instructions last."""
    changed = [ChangedTool(change.tool, "changed", change.diff) for change in held.changed]
    new = [ChangedTool(change.tool, "new", change.diff) for change in held.new]
    said = [ChangedTool("", "instructions", held.instructions.diff)] if held.instructions else []
    return (*changed, *new, *said)
