"""Permission for what another program does by itself: it is decided and asked about here, and done elsewhere."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from mooring.conversation.calls import Calls, propose_own
from mooring.core.conversation.verdict import LocalAccess, ProposedCall, Verdict
from mooring.core.protocol.tool import Hints

_STRICTNESS = ("deny", "ask", "allow")


async def permit_own_tool(
    calls: Calls,
    tool: str,
    arguments: Mapping[str, Any],
    accesses: Sequence[LocalAccess],
    *,
    also: Iterable[str] = (),
    hints: Hints | None = None,
) -> tuple[ProposedCall, Verdict]:
    """Have a call of another program's tool authorized, given what it would touch on this machine.

    What touches several files is asked about once. Only a refusal is put on record.

    Raises: Denied, Closed.
    """
    names = tuple(also)
    if len(accesses) > 1:
        # An answer about all of them is no rule about the one that is asked about.
        accesses = [replace(access, grant=None) for access in accesses]

    def find_strictness(access: LocalAccess) -> int:
        return _STRICTNESS.index(calls.judge_own_tool(tool, arguments, names, hints, access).action)

    strictest, *others = sorted(accesses, key=find_strictness)
    proposed = propose_own(tool, arguments, names, hints, strictest)
    verdict = await calls.authorize(proposed)
    for access in others:
        # Rules may have changed while somebody thought about the answer.
        await calls.authorize(propose_own(tool, arguments, names, hints, access), approved=True)
    return proposed[0], verdict
