"""What the command line says about permissions, and the gate for calls that no host makes."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct

from mooring import files
from mooring.core.where import Request
from mooring.settings import Settings, load

if TYPE_CHECKING:
    from mooring.permissions.policy import Mode
    from mooring.permissions.rule import Rule

Judge: TypeAlias = Callable[[str, str, Mapping[str, Any]], Awaitable[None]]
"""Lets a call of a server's tool with some arguments through. Raises: Denied."""


class Said(Struct, frozen=True):
    """The rules and the mode that hold for one command."""

    rules: "tuple[Rule, ...]" = ()
    mode: "Mode | None" = None


def judge(request: Request, said: Said) -> Judge:
    """The gate for a server that is configured nowhere, whose call a person typed: what is denied stays so.

    Where nobody ever said anything about permissions there is nothing to load.
    """
    root = files.upwards(request.cwd)[-1] if request.project else None
    settings = load(request.where, root)
    return _gate(request, settings, root, said) if _anything(settings, said) else _nothing_said


def _anything(settings: Settings, said: Said) -> bool:
    managed = settings.values["permissionMode"].level == "managed"
    return bool(said.rules or said.mode or settings.every("permissions") or settings.doubts or managed)


def _gate(request: Request, settings: Settings, root: str | None, said: Said) -> Judge:
    from mooring.permissions import rules
    from mooring.permissions.gate import Gate
    from mooring.permissions.policy import Call

    gate = Gate(rules.policy(settings, request.where, root, said.mode or "bypass", said.rules))

    async def judged(server: str, tool: str, arguments: Mapping[str, Any]) -> None:
        await gate.pass_(Call(server, tool, arguments, origin="the command line"))

    return judged


async def _nothing_said(server: str, tool: str, arguments: Mapping[str, Any]) -> None:
    return
