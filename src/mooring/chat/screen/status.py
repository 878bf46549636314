"""The status line: who answers, how full the window is, what it cost, the mode, and the servers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mooring.chat.screen.line import Line, Piece, Role
from mooring.core.conversation.event import TokensUsed
from mooring.core.conversation.status import Connected, Connecting, Disabled, Idle, NeedsAuth, RejectedServer, Status
from mooring.display.text import cut_end, safe

if TYPE_CHECKING:
    from mooring.chat.session import ChatSession

_SEPARATOR = Piece(" · ", "dim")


def describe_chat(session: "ChatSession", cost: float | None, cells: int) -> Line:
    """The status of a chat in one line of so many cells, which says less where they are few.

    `cost` is what the chat took in US dollars, `None` if any part of it is unknown.
    """
    facts: dict[str, Piece | None] = {
        "model": _name_model(session),
        "window": _describe_window(session.conversations.last_use),
        "cost": _describe_cost(session, cost),
        "mode": Piece(session.mode, "warning" if session.mode == "bypass" else "dim"),
        **_describe_servers(session.host.status()),
    }
    lines = [_join([facts[name] for name in names]) for names in _BY_IMPORTANCE]
    return next((line for line in lines if line.cells <= cells), _cut(lines[-1], cells))


_BY_IMPORTANCE = (
    ("model", "window", "cost", "mode", "servers"),
    ("model", "window", "mode", "servers"),
    ("model", "mode", "servers"),
    ("model", "window", "mode", "server count"),
    ("model", "mode", "server count"),
    ("model", "mode"),
)
"""What is said: all of it, or as much as fits. A login that is needed, and the mode, matter more than figures do."""


def _join(facts: Sequence[Piece | None]) -> Line:
    pieces: list[Piece] = []
    for fact in filter(None, facts):
        pieces += [_SEPARATOR, fact] if pieces else [fact]
    return Line(tuple(pieces))


def _cut(line: Line, cells: int) -> Line:
    """The name of the model cut, so that the mode fits behind it."""
    name, *rest = line.pieces
    room = max(1, cells - Line(tuple(rest)).cells)
    return Line((Piece(cut_end(name.text, room), name.role), *rest))


def _name_model(session: "ChatSession") -> Piece:
    responder = session.responder
    name = responder.agent_name or responder.model
    return Piece("no model" if name is None else safe(name.rpartition(":")[2] or name), "strong")


def _describe_cost(session: "ChatSession", cost: float | None) -> Piece | None:
    # Calling tools yourself costs nothing.
    is_free = cost is None or (session.responder.model is None and not cost)
    return None if is_free else Piece(f"${cost:.2f}", "dim")


def _describe_window(use: TokensUsed | None) -> Piece | None:
    if use is None or not use.window:
        return None
    share = use.usage.input_tokens / use.window
    return Piece(f"{share:.0%}".replace("%", " %"), "warning" if share > _FULL else "dim")


_FULL = 0.8


def _describe_servers(status: Mapping[str, Status]) -> Mapping[str, Piece | None]:
    """How many servers can be used, of those that are wanted: with why others can't, and the count alone."""
    wanted = [each for each in status.values() if not isinstance(each, Disabled | RejectedServer)]
    if not wanted:
        return {"servers": None, "server count": None}
    usable = sum(isinstance(each, Connected | Idle) for each in wanted)
    logins = sum(isinstance(each, NeedsAuth) for each in wanted)
    starting = sum(isinstance(each, Connecting) for each in wanted)
    count = f"mcp {usable}/{len(wanted)}"
    facts = [count]
    if logins:
        facts.append(f"{logins} need{'s' * (logins == 1)} login")
    if starting:
        facts.append(f"{starting} connecting")
    role: Role = "warning" if logins else "dim"
    return {"servers": Piece(", ".join(facts), role), "server count": Piece(count, role)}
