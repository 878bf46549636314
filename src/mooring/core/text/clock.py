"""How code waits: a function that tests and programs with a clock of their own can replace."""

from collections.abc import Awaitable, Callable
from typing import TypeAlias

Sleep: TypeAlias = Callable[[float], Awaitable[object]]
"""Waits for so many seconds, as `asyncio.sleep` does."""
