"""The pins of a host's servers: read once, kept in memory, and read again when another program changes them."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress

from mooring.core.definitions.approved import Approved
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.tool import Tool
from mooring.errors import FileError
from mooring.permissions import pins
from mooring.permissions.pins import HeldTools, Pin, PinKey


class ToolPins:
    """Holds back tools that are not as they were approved."""

    def __init__(self, where: Paths, on_problem: Callable[[Problem], None]) -> None:
        self._where = where
        self._on_problem = on_problem
        self._pins: dict[PinKey, Pin | None] = {}

    def forget(self) -> None:
        """Read every pin again when it is next needed."""
        self._pins.clear()

    def find_held(self, approved: Approved, tools: Iterable[Tool], instructions: str = "") -> HeldTools:
        """Which of a server's tools, and of what it says about itself, are not as they were approved."""
        key = pins.make_key(approved)
        if key is None:
            return HeldTools()
        # Approving a project's server approves the tools it has then. The person's own server was never approved, so
        # its tools are pinned with the first call that is allowed.
        if not approved.own and self._find_pin(key) is None:
            tools = tuple(tools)
            self._pin(key, tools, instructions)
        pin = self._find_pin(key)
        if pin is not None and pin.tools and pin.instructions is None and instructions.strip():
            self._adopt(key, instructions)
        return pins.compare(self._find_pin(key), tools, instructions)

    async def pin(self, approved: Approved, tools: Iterable[Tool], instructions: str = "") -> None:
        """Pin a server's tools as they are, now that one of them was allowed; does nothing if they are pinned."""
        key = pins.make_key(approved)
        if key is not None and self._find_pin(key) is None:
            await asyncio.to_thread(self._pin, key, tuple(tools), instructions)

    def approve(self, approved: Approved, held: HeldTools) -> None:
        """Accept the tools as they were shown.

        Raises:
            FileError: the record cannot be written.
        """
        key = pins.make_key(approved)
        if key is not None:
            self._pins[key] = pins.approve(self._where, key, held.changes, held.instructions)

    def switch(self, approved: Approved, *, off: bool) -> None:
        """Turn pinning off for a server, or on again.

        Raises:
            FileError: the record cannot be written.
        """
        key = pins.make_key(approved)
        if key is not None:
            self._pins[key] = pins.switch(self._where, key, off=off)

    @property
    def folder(self) -> str:
        """Where the pins are: a change there may be one that another program made."""
        return pins.find_folder(self._where)

    async def reread(self) -> bool:
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

    def _adopt(self, key: PinKey, instructions: str) -> None:
        # A record that cannot be read or written was named already.
        with suppress(FileError):
            self._pins[key] = pins.adopt_instructions(self._where, key, instructions)

    def _pin(self, key: PinKey, tools: tuple[Tool, ...], instructions: str) -> None:
        # A record of no tools would hold back every tool that the server lists once it is ready.
        if not tools:
            return
        try:
            self._pins[key] = pins.pin_tools(self._where, key, tools, instructions)
        except FileError as error:
            message = f"has tools that could not be pinned, so changes to them go unnoticed: {error.reason}"
            self._on_problem(Problem(error.path, message, "make room, or make the folder writable", key.server))
