"""Calls as lines of a terminal: how each ended and the beginning of what came back; reads in a row as counts."""

from collections.abc import Callable

from mooring.chat.recent_calls import QuietCalls, RecentCall, RecentCalls, describe_quiet_calls
from mooring.chat.view import ChatTerminal
from mooring.core.conversation.event import ToolFinished
from mooring.display.calls import cut_output, describe_finished, find_kind
from mooring.display.lines import Known, name_tool
from mooring.display.text import safe


class CallView:
    """Shows the calls of one chat on a terminal."""

    def __init__(self, terminal: ChatTerminal, calls: RecentCalls, list_known: Callable[[], Known]) -> None:
        """`calls` are what `/show` finds, `list_known` says which names stand for a tool of a server."""
        self._terminal = terminal
        self._calls = calls
        self._list_known = list_known
        self._quiet = QuietCalls()
        self._in_background: set[str] = set()

    def is_in_background(self, event: ToolFinished) -> bool:
        """Whether the conversation went on without this call, which has ended now."""
        return event.id in self._in_background

    def describe_quiet(self) -> str:
        """The reads and searches that are not shown yet; empty if there are none."""
        return describe_quiet_calls(self._quiet.calls)

    def show_quiet(self) -> None:
        """Show the reads and searches that came in a row."""
        calls = self._quiet.take()
        if len(calls) == 1:
            self._terminal.say(self._describe(calls[0]))
        elif calls:
            self._terminal.say(f"{self._terminal.style('✓', 'green')} {describe_quiet_calls(calls)}")

    def show(self, event: ToolFinished, lead: str) -> None:
        """Show how a call ended; for a sub-agent's, `lead` says whose it is."""
        self._in_background.discard(event.id)
        if event.canceled:
            return  # whoever stopped it says so
        if event.outcome.continues is not None:
            self._show_going_on(event, lead)
            return
        if event.outcome.for_person:
            self.show_quiet()
            self._terminal.warn(f"{lead}{event.outcome.for_person}")  # it was not called: nothing came back
            return
        call = self._calls.find_ended(event)
        if call is None or (find_kind(event) == "plan" and event.success):
            return  # the steps were shown
        if not lead and self._quiet.add(call):
            return
        self.show_quiet()
        self._terminal.say(f"{lead}{self._describe(call)}")
        if not lead:  # all of a sub-agent's result is for the sub-agent
            self._show_output(call)

    def _show_going_on(self, event: ToolFinished, lead: str) -> None:
        if lead:
            return
        self._in_background.add(event.id)
        name = name_tool(event.name, self._list_known())
        self._terminal.notice(f"{name} goes on in the background; its result will be shown.")

    def _describe(self, call: RecentCall) -> str:
        line = describe_finished(call.event, call.seconds, self._list_known())
        mark = self._terminal.style(line[0], "red" if call.event.outcome.is_error else "green")
        return f"{mark}{line[1:]}"

    def _show_output(self, call: RecentCall) -> None:
        start = cut_output(call.output)
        self._terminal.say(*start.lines)
        rest = call.describe_rest(start)
        if rest:
            self._terminal.notice(f"… {rest}: /show {call.number}")
        for note in call.event.outcome.notes:
            self._terminal.notice(safe(note))
