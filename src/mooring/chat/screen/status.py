"""The status line: who answers, how full the window is, what it cost, the mode, and the servers."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mooring.chat.screen.line import Line, Piece
from mooring.core.conversation.event import TokensUsed
from mooring.core.conversation.status import Connected, Connecting, Disabled, Idle, NeedsAuth, RejectedServer, Status
from mooring.display.text import safe

if TYPE_CHECKING:
    from mooring.chat.session import ChatSession

_SEPARATOR = Piece(" · ", "dim")


def describe_chat(session: "ChatSession", cost: float | None) -> Line:
    """The status of a chat; `cost` is what it took in US dollars, `None` if any part of it is unknown."""
    facts = [
        _name_model(session),
        *_describe_window(session.conversations.last_use),
        *([] if cost is None else [Piece(f"${cost:.2f}", "dim")]),
        Piece(session.mode, "warning" if session.mode == "bypass" else "dim"),
        *_describe_servers(session.host.status()),
    ]
    pieces = [facts[0]]
    for fact in facts[1:]:
        pieces += [_SEPARATOR, fact]
    return Line(tuple(pieces))


def _name_model(session: "ChatSession") -> Piece:
    responder = session.responder
    name = responder.agent_name or responder.model
    return Piece("no model" if name is None else safe(name.rpartition(":")[2] or name), "strong")


def _describe_window(use: TokensUsed | None) -> Iterator[Piece]:
    if use is not None and use.window:
        share = use.usage.input_tokens / use.window
        yield Piece(f"{share:.0%}".replace("%", " %"), "warning" if share > _FULL else "dim")


_FULL = 0.8


def _describe_servers(status: Mapping[str, Status]) -> Iterator[Piece]:
    """How many servers can be used, of those that are wanted."""
    wanted = [each for each in status.values() if not isinstance(each, Disabled | RejectedServer)]
    if not wanted:
        return
    usable = sum(isinstance(each, Connected | Idle) for each in wanted)
    logins = sum(isinstance(each, NeedsAuth) for each in wanted)
    starting = sum(isinstance(each, Connecting) for each in wanted)
    facts = [f"mcp {usable}/{len(wanted)}"]
    if logins:
        facts.append(f"{logins} need{'s' * (logins == 1)} login")
    if starting:
        facts.append(f"{starting} connecting")
    yield Piece(", ".join(facts), "warning" if logins else "dim")
