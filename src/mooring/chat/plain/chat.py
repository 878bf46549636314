"""The chat without a screen: lines are typed, lines are shown. With the manual backend, the person is the model."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from mooring import _end_at_once as end_at_once
from mooring.agents.sessions.connection import hold_record
from mooring.chat import commands
from mooring.chat.field import parse_position
from mooring.chat.mcp.verbs import spell_for_chat
from mooring.chat.plain.completion import LineCompleter
from mooring.chat.plain.dialog import Ended, Interrupted
from mooring.chat.plain.filling import FormDialog
from mooring.chat.plain.questions import Questions
from mooring.chat.plain.terminal import Terminal
from mooring.chat.plain.turn_view import TurnView, describe_exchange
from mooring.chat.servers import describe_status
from mooring.chat.session import ChatSession
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import ConversationEvent, ToolFinished, ToolProgress, ToolStarted, WatchChanged
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.question import Ask
from mooring.core.conversation.status import NeedsAuth, NeedsInput, Unapproved
from mooring.core.conversation.turn import TurnInput
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.definitions.paths import Workspace
from mooring.core.protocol.units import BYTES_PER_TOKEN
from mooring.display.lines import (
    describe_outcome,
    describe_tool_progress,
    describe_watch,
    find_renderer,
    include_invocation,
    name_tool,
)
from mooring.display.results import SHOWN_BYTES, SHOWN_LINES
from mooring.display.text import (
    count_noun,
    cut_end,
    describe_held_back,
    fit_columns,
    problem_line,
    quote_argument,
    safe,
    shorten_description,
)
from mooring.errors import HeldBack, MooringError, NotApproved, ServerDisabled, UnknownTool
from mooring.process.programs import Guard
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.use.opening import find_idle_denies

PROMPT = "> "
SHORTEST_TITLE = 30
"""How many cells a conversation's title may have, however narrow the terminal is."""
LONGEST_ARGUMENT = 400
"""How many characters of an argument are repeated with its result."""


class _TypedInstead(Exception):
    """The person typed a command when something else was asked for."""


class InterruptibleWork:
    """Something that the first Ctrl+C ends. If it has not ended when another comes, that one ends the program."""

    def __init__(self, task: "asyncio.Future[Any]") -> None:
        self._task = task
        self._is_ending = False

    def end(self) -> None:
        self._is_ending = True
        self._task.cancel()

    def interrupt(self) -> None:
        if self._is_ending:
            end_at_once()
        self.end()


class Chat:
    """One conversation at a terminal."""

    def __init__(
        self,
        workspace: Workspace,
        permissions: CommandPermissions,
        guard: Guard | None = None,
        options: ConversationOptions | None = None,
    ) -> None:
        self._terminal = Terminal()
        self._questions = Questions(self._terminal, project=workspace.project, on_dismissed=self._end_turn)
        self._turn_view = TurnView(self._terminal, self._show_finished)
        tokens = SHOWN_BYTES // BYTES_PER_TOKEN
        self.session = ChatSession(workspace, permissions, self, guard, options, tokens=tokens, lines=SHOWN_LINES)
        self._in_turn = False
        self._work: InterruptibleWork | None = None
        """What is under way, if anything is."""
        self._in_background: set[str] = set()
        self._arguments: dict[str, Mapping[str, Any]] = {}
        """What the calls under way were made with."""
        self._leaving = False
        self._is_opened = False

    @property
    def ask(self) -> Ask:
        return self._questions

    def run(self) -> None:
        """Converse until the person leaves. Raises: ConfigError."""
        self._terminal.run(self._run())

    async def _run(self) -> None:
        # One connection for all of it: what is looked up before it is opened, and after it is closed.
        with hold_record(self.session.workspace.where):
            try:
                await self._run_conversation()
            finally:
                await self._name_resume_command()

    async def _run_conversation(self) -> None:
        async with self.session.open():
            self._is_opened = True
            # Servers may ask questions while they start. Holding the dialog makes these wait until the greeting has
            # said which servers there are.
            async with self._terminal.dialog:
                await self._run_until_interrupted(self.session.begin_servers())
                self.session.start()
                await self._greet()
            await self._resume()
            await self._converse()
            # All that is left is to close the servers, and some take their time.
            self._terminal.on_interrupt = end_at_once

    async def _name_resume_command(self) -> None:
        """Say how to go on with this conversation later."""
        id = await self.session.find_stored() if self._is_opened else None
        if id is not None:
            self.notice(f"To continue this conversation: mooring chat --resume {id}")

    # --- the conversation -----------------------------------------------------------------------------------------

    async def _greet(self) -> None:
        """Show what there is, and what needs the person."""
        host = self.session.host
        status_of = host.status()
        count = f"{count_noun(len(status_of), 'server')}, {count_noun(len(host.tools), 'tool')}"
        self.say(self._terminal.style(f"mooring · {count}", "bold"))
        self._greet_with_trouble()
        if not status_of:
            await commands.run(self, "/mcp")
        if status_of or self.session.responder.model is not None:
            self.notice(self._describe_responder())
        self._show_continued()

    def _show_continued(self) -> None:
        """Show where a conversation that goes on was left."""
        continued = self.session.continued
        if continued is None:
            return
        session, last = continued.session, continued.last
        facts = f"({count_noun(session.turns, 'turn')}, {session.used.astimezone():%Y-%m-%d %H:%M})"
        title = cut_end(safe(session.title), max(SHORTEST_TITLE, self.width - len(facts) - 15))
        self.notice(f'Continuing "{title}" {facts}')
        handover = self.session.describe_handover()
        if handover:
            self.notice(safe(handover))
        lost_mode = self.session.describe_lost_mode()
        if lost_mode:
            self.warn(lost_mode)
        if last is None:
            return
        self.say("", *describe_exchange(last, session.id))
        if last.is_cut:
            self.warn("― The reply was cut off here. ―" if last.reply else "― No reply came. ―")

    def _describe_responder(self) -> str:
        model = self.session.responder.model
        if model is None:
            return "No model connected: describe a task and I'll suggest tools. /help lists the commands."
        mode = self.session.host.call_policy().mode
        is_restored = self.session.continued is not None and mode != "ask"
        in_mode = f" in {mode} mode" if is_restored else ""
        return f"{self._name_responder(model)} answers{in_mode}. /help lists the commands."

    def _name_responder(self, model: str) -> str:
        agent = self.session.responder.agent_name
        if agent is None:
            return safe(model)
        whose = " of this project" if self.session.responder.is_projects_agent else ""
        return f"The agent {safe(agent)}{whose} ({safe(model)})"

    def _greet_with_trouble(self) -> None:
        host = self.session.host
        servers = host.servers
        for name, status in host.status().items():
            if name in self.session.news.missing or isinstance(status, NeedsAuth | NeedsInput | Unapproved):
                self.notice(f"{safe(name)}: {describe_status(name, status, servers.get(name), 0)}")
        for name, held in host.held().items():
            what = describe_held_back(len(held.names), instructions=held.instructions is not None)
            self.notice(f"{safe(name)}: {what}; `/pins {quote_argument(name)}` shows them")
        for problem in find_idle_denies(host, self.session.permissions.rules):
            self.notice(safe(f"{problem.message}; {problem.hint}"))
        for problem in host.problems:
            if problem.level == "error":
                self.notice(problem_line(problem, self.session.workspace.where.home))

    async def _resume(self) -> None:
        """Go on with the turn that the session was cut off in: a call that waited for an answer is asked about."""
        self._in_turn = True
        try:
            await self._run_until_interrupted(self._resume_turn())
        except (Interrupted, Ended):
            self.notice("Canceled.")
        except MooringError as error:
            self.warn(_describe_error(error))
        finally:
            self._in_turn = False

    async def _resume_turn(self) -> None:
        if self.session.is_interrupted:
            await self._wait_for_servers()
            await self.session.resume_turn()

    async def _converse(self) -> None:
        was_interrupted = False
        while not self._leaving:
            try:
                line = await self._read_prompt()
            except Ended:
                return
            except Interrupted:
                if was_interrupted:
                    return
                was_interrupted = True
                self.notice("Ctrl+C again leaves; so do Ctrl+D and /quit.")
                continue
            was_interrupted = False
            await self._answer(line.strip())

    async def _read_prompt(self) -> str:
        await self.session.find_commands()
        async with self._terminal.dialog:
            lines = commands.list_completions(self.session)
            completer = LineCompleter(lines, list(self.session.list_known_resources()), self.session.workspace)
            return await self._terminal.read_line(PROMPT, complete=completer.complete, keep=True)

    async def _answer(self, line: str) -> None:
        """Do what a line says; whatever goes wrong is shown as a sentence."""
        while line:
            work = commands.run(self, line) if line.startswith("/") else self._turn(line)
            line = ""
            try:
                await self._run_until_interrupted(work)
            except _TypedInstead as instead:
                line = str(instead)
            except (Interrupted, Ended):
                self.notice("Canceled.")
            except MooringError as error:
                self.warn(_describe_error(error))

    async def _run_until_interrupted(self, work: Awaitable[Any]) -> None:
        """Do something that Ctrl+C ends, and nothing else with it."""
        # A task of its own can be cancelled without the chat around it.
        task = asyncio.ensure_future(work)
        self._work = InterruptibleWork(task)
        self._terminal.on_interrupt = self._work.interrupt
        try:
            await asyncio.wait({task})
        finally:
            self._work = self._terminal.on_interrupt = None
            self._terminal.clear_progress()
        if task.cancelled():
            self.notice("Stopped.")
        else:
            task.result()

    async def _turn(self, request: str) -> None:
        server, dot, _ = request.partition(".")
        is_manual = self.session.responder.model is None
        names_tool = is_manual and dot and " " not in request and server in self.session.status
        if names_tool:
            # Looked up here so that a tool that is unavailable says why, instead of finding nothing.
            tool = await self.session.find_tool(request)
            request = tool.name
        await self._run_turn(lambda: self.session.turn(request))

    async def send(self, said: TurnInput) -> None:
        await self._run_turn(lambda: self.session.send(said))

    async def _run_turn(self, begin: Callable[[], Awaitable[None]]) -> None:
        self._in_turn = True
        try:
            await self._wait_for_servers()
            await begin()
        finally:
            self._in_turn = False

    async def _wait_for_servers(self) -> None:
        """Wait for servers that are new; Ctrl+C ends this alone, and the turn begins without them."""
        waiting = asyncio.ensure_future(self.session.wait_for_servers())
        outer = self._terminal.on_interrupt
        self._terminal.on_interrupt = InterruptibleWork(waiting).interrupt
        try:
            await asyncio.wait({waiting})
        finally:
            waiting.cancel()
            self._terminal.on_interrupt = outer
        if not waiting.cancelled():
            waiting.result()
        lack = self.session.describe_missing()
        if lack:
            self.notice(lack)

    def _end_turn(self) -> None:
        """End the turn under way: whoever dismisses a question in it wants nothing more of it."""
        if self._in_turn and self._work is not None:
            self._work.end()

    def leave(self) -> None:
        self._leaving = True

    # --- the person is the model ----------------------------------------------------------------------------------

    async def choose(self, found: Sequence[ToolDefinition]) -> ToolDefinition | str | None:
        pairs = self.session.conversation.pairs
        rows = []
        for number, tool in enumerate(found, 1):
            rows.append((f"  {number}", name_tool(tool.name, pairs), shorten_description(tool.description)))
        self.say(*fit_columns(rows, self.width))
        completions = [".".join(pairs[tool.name]) for tool in found if tool.name in pairs]
        async with self._terminal.dialog:
            typed = await self._terminal.read_line("Which? A number or a name; Enter for none: ", complete=completions)
        return self._pick(found, typed.strip())

    def _pick(self, found: Sequence[ToolDefinition], typed: str) -> ToolDefinition | str | None:
        if typed.startswith("/"):
            raise _TypedInstead(typed)
        position = parse_position(typed, len(found))
        if position is not None:
            return found[position]
        pairs = self.session.conversation.pairs
        named = [tool for tool in found if typed == pairs.get(tool.name, ("", ""))[1]]
        # The raw name of two servers' tools tells nothing: it is searched for like any other words.
        return named[0] if len(named) == 1 else typed or None

    async def fill(self, tool: ToolDefinition, given: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
        pairs = self.session.conversation.pairs
        server = pairs[tool.name][0] if tool.name in pairs else "Mooring"
        return await self.fill_form(name_tool(tool.name, pairs), server, tool.schema, given)

    async def fill_form(
        self, title: str, owner: str, schema: Mapping[str, Any], given: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The values of a form, asked for one by one. Raises: Interrupted, Ended."""
        async with self._terminal.dialog:
            self.say(self._terminal.style(safe(title), "bold"))
            return await FormDialog(self._terminal, owner, title, schema).fill(given)

    # --- what is shown --------------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        return self._terminal.width

    def say(self, *lines: str) -> None:
        for line in lines:
            self._terminal.say(line)

    def show_progress(self, text: str) -> None:
        self._terminal.show_progress(text)

    def show_waiting(self, servers: Sequence[str]) -> None:
        if not servers:
            self._terminal.clear_progress()
        elif not self._terminal.is_reading:
            names = ", ".join(map(safe, servers))
            self._terminal.show_progress(f"waiting for the first start of {names} … · Ctrl+C goes on without")

    def notice(self, text: str) -> None:
        self._terminal.say(self._terminal.style(text, "dim"))

    def warn(self, *lines: str) -> None:
        self.say(*(self._terminal.style(safe(line), "yellow") for line in lines))

    def show_event(self, event: ConversationEvent) -> None:
        """Show what happens in the conversation."""
        match event:
            case ToolStarted(parent=None):
                self._arguments[event.id] = event.arguments
                self._turn_view.show(event)
            case ToolProgress(parent=None):
                self._show_progress_of_call(event)
            case WatchChanged(parent=None):
                self.say(describe_watch(event))
            case ToolFinished(parent=None, turn=0):
                # What a command calls while it makes a turn is for that turn.
                if not self._in_turn or event.id in self._in_background:
                    self._show_finished(event, "")
            case _:
                self._turn_view.show(event)

    def _show_progress_of_call(self, event: ToolProgress) -> None:
        if event.background or self._terminal.is_reading:  # a question about another call is open
            return
        line = describe_tool_progress(event, self._arguments.get(event.id, {}), self.session.conversation.pairs)
        self._terminal.show_progress(f"{line} · Ctrl+C ends it")

    def _show_finished(self, event: ToolFinished, lead: str) -> None:
        self._arguments.pop(event.id, None)
        self._in_background.discard(event.id)
        if event.canceled:
            return  # whoever stopped it says so
        if lead:
            if event.outcome.continues is None:
                self._show_sub_call(event, lead)
        elif event.outcome.continues is not None:
            self._in_background.add(event.id)
            name = name_tool(event.name, self.session.conversation.pairs)
            self.notice(f"{name} goes on in the background; its result will be shown.")
        else:
            self._show_call(event)

    def _show_sub_call(self, event: ToolFinished, lead: str) -> None:
        """One line for a sub-agent's call: all of the result is for the sub-agent alone."""
        if event.outcome.for_person:
            self.warn(f"{lead}{event.outcome.for_person}")
            return
        known = include_invocation(self.session.conversation.pairs, event)
        renderer = find_renderer(event.name, known)
        title = renderer.render({}, event.outcome).title
        styled = self._terminal.style(title, "red" if event.outcome.is_error else "green")
        self.say(f"{lead}{renderer.icon} {name_tool(event.name, known)} · {styled}")

    def _show_call(self, event: ToolFinished) -> None:
        outcome = event.outcome
        if outcome.for_person:
            self.warn(outcome.for_person)  # it was not called: nothing came back
            return
        known = include_invocation(self.session.conversation.pairs, event)
        renderer = find_renderer(event.name, known)
        # Only now that the call is over: the person who allowed it saw all of what it was called with.
        arguments = {key: _shorten(value) for key, value in event.arguments.items()}
        panel = renderer.render(arguments, outcome)
        self.say("", self._terminal.style(f"{renderer.icon} {name_tool(event.name, known)}", "bold"))
        self.say(self._terminal.style(panel.title, "red" if outcome.is_error else "green"), *panel.lines)
        for note in outcome.notes:
            self.notice(safe(note))
        self._name_file(outcome)

    def show_outcome(self, outcome: Outcome) -> None:
        """Show what was read."""
        self.say(*describe_outcome(outcome))
        self._name_file(outcome)

    def _name_file(self, outcome: Outcome) -> None:
        # Below what was shown of it: further up nobody would see it.
        if outcome.excerpt is not None:
            self.notice(safe(outcome.excerpt.whole))


def _describe_error(error: MooringError) -> str:
    """What went wrong, with what to type here in place of a command."""
    if isinstance(error, ServerDisabled):
        return f'Server "{error.server}" is disabled. Run /mcp enable {error.server} first.'
    if isinstance(error, UnknownTool) and not error.near and not error.reason:
        return f"There is no tool {error.tool!r}. /tools lists all of them."
    if isinstance(error, NotApproved):
        return f"{error.server} {error.reason}. {error.suggest('/approve')}".rstrip()
    if isinstance(error, HeldBack):
        return f"{error.server}'s tool {error.tool!r} is held back. To look and decide: /pins {error.server}"
    return spell_for_chat(str(error))


def _shorten(value: Any) -> Any:
    if not isinstance(value, str) or len(value) <= LONGEST_ARGUMENT:
        return value
    return f"{value[:LONGEST_ARGUMENT]}… ({len(value):,} characters)"
