"""`/show`: the calls of this conversation, or all of one of them."""

from mooring.chat.command import CommandFace, say_rows
from mooring.chat.recent_calls import RecentCall
from mooring.display.calls import describe_finished
from mooring.display.lines import find_renderer, include_invocation
from mooring.display.text import safe
from mooring.errors import ConfigError


async def show_call(chat: CommandFace, typed: str) -> None:
    """Show all of the call of that number; without one, list the calls. Raises: ConfigError."""
    calls = chat.session.calls
    if not typed:
        rows = [(str(call.number), _describe(chat, call)) for call in calls]
        say_rows(chat, rows, "No call has ended in this conversation yet.")
        return
    # Other digits, such as ², are no number.
    if not (typed.isascii() and typed.isdecimal()):
        raise ConfigError(f"{typed!r} is not the number of a call. /show lists the calls.")
    _show_all(chat, calls.find(int(typed)))


def _describe(chat: CommandFace, call: RecentCall) -> str:
    return describe_finished(call.event, call.seconds, chat.session.conversation.pairs)


def _show_all(chat: CommandFace, call: RecentCall) -> None:
    known = include_invocation(chat.session.conversation.pairs, call.event)
    chat.say(_describe(chat, call), find_renderer(call.event.name, known).heading, "Input:")
    chat.say(*call.input, "", "Output:", *call.output)
    if call.file:
        chat.notice(safe(call.file))
