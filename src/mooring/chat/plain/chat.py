"""The chat itself: lines are typed, and something is shown. With the manual backend, the person is the model."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import chain
from typing import Any

from mooring.agents.sessions.connection import hold_record
from mooring.chat import commands
from mooring.chat.command import LEAVING, ListedChoice
from mooring.chat.conversations import spell_resuming
from mooring.chat.field import parse_position
from mooring.chat.mcp.verbs import spell_for_chat
from mooring.chat.plain.completion import complete_line
from mooring.chat.plain.dialog import Ended, Interrupted
from mooring.chat.plain.filling import FormDialog
from mooring.chat.plain.questions import Questions
from mooring.chat.plain.terminal import Terminal
from mooring.chat.plain.turn_view import PlainView, describe_exchange
from mooring.chat.question_queue import QuestionQueue
from mooring.chat.servers import describe_status
from mooring.chat.session import ChatSession
from mooring.chat.shell import run_shell_command
from mooring.chat.turn_progress import FOR_MODEL
from mooring.chat.view import ChatTerminal, MakeOptions, MakeView
from mooring.chat.welcome import list_welcome
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import ConversationEvent
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.status import NeedsAuth, NeedsInput, Unapproved
from mooring.core.conversation.turn import TurnInput
from mooring.core.conversation.verdict import CommandPermissions
from mooring.core.definitions.paths import Workspace
from mooring.core.protocol.units import BYTES_PER_TOKEN
from mooring.display.lines import (
    describe_outcome,
    name_tool,
)
from mooring.display.results import SHOWN_BYTES, SHOWN_LINES
from mooring.display.tables import wrap_columns
from mooring.display.text import (
    count_noun,
    cut_end,
    describe_held_back,
    fit_columns,
    problem_line,
    problem_without_place,
    quote_argument,
    safe,
    shorten_description,
    shorten_paths,
)
from mooring.display.times import format_local
from mooring.errors import HeldBack, MooringError, NotApproved, ServerDisabled, UnknownTool
from mooring.process.programs import Guard
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.use.opening import find_idle_denies

PROMPT = "> "
MORE_PROMPT = "… "
MORE_FOLLOWS = "\\"
"""At its end, a line goes on in the next."""
SHORTEST_TITLE = 30
"""How many cells a conversation's title may have, however narrow the terminal is."""


def _goes_on(line: str) -> bool:
    """Whether another line belongs to this one; two backslashes at its end, or that of a paste, are no sign of it."""
    ends = len(line) - len(line.rstrip(MORE_FOLLOWS))
    return ends % 2 == 1 and "\n" not in line


class _TypedInstead(Exception):
    """The person typed a command when something else was asked for."""


class InterruptibleWork:
    """Something that the first Ctrl+C ends. If it has not ended when another comes, that one ends the program."""

    def __init__(self, task: "asyncio.Future[Any]", end_program: Callable[[], object]) -> None:
        self._task = task
        self._end_program = end_program
        self._is_ending = False

    def end(self) -> None:
        self._is_ending = True
        self._task.cancel()

    def interrupt(self) -> None:
        if self._is_ending:
            self._end_program()
        self.end()


class Chat:
    """One conversation at a terminal."""

    def __init__(
        self,
        workspace: Workspace,
        permissions: CommandPermissions,
        guard: Guard | None = None,
        options: ConversationOptions | None = None,
        *,
        terminal: ChatTerminal,
        make_view: MakeView,
    ) -> None:
        self._terminal = terminal
        self.say = terminal.say
        self.show_progress = terminal.show_progress
        self.use_theme = terminal.use_theme
        self.list_keys = terminal.list_keys
        self._questions = QuestionQueue()
        self.ask = Questions(
            terminal,
            project=workspace.project,
            on_dismissed=self._end_turn,
            queue=self._questions,
            home=workspace.where.home,
        )
        tokens = SHOWN_BYTES // BYTES_PER_TOKEN
        self.session = ChatSession(workspace, permissions, self, guard, options, tokens=tokens, lines=SHOWN_LINES)
        self._view = make_view(terminal, self.session)
        self._in_turn = False
        self._work: InterruptibleWork | None = None
        """What is under way, if anything is."""
        self._leaving = False
        self._is_opened = False

    async def converse(self) -> None:
        """Converse until the person leaves. Raises: ConfigError."""
        # One connection for all of it: what is looked up before it is opened, and after it is closed.
        with hold_record(self.session.workspace.where):
            try:
                await self._run_conversation()
            finally:
                await self._name_resume_command()

    async def _run_conversation(self) -> None:
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self._is_opened = True
            # Servers may ask questions while they start. Holding the dialog makes these wait until the greeting has
            # said which servers there are.
            async with self._terminal.dialog:
                await self._run_until_interrupted(self.session.servers.begin())
                self.session.start()
                await self._greet()
            # Go on with the turn that the session was cut off in: a call that waited for an answer is asked about.
            if self.session.is_interrupted:
                await self._attempt(self._run_turn(self.session.resume_turn))
            self._terminal.history = await self.session.read_input_history()
            await self._converse()
            # All that is left is to close the servers, and some take their time.
            self._terminal.on_interrupt = self._terminal.end_at_once

    async def _open(self, stack: AsyncExitStack) -> None:
        """Open the conversation until the stack is left; a program that answers takes seconds to start."""
        self._view.begin("starting")
        self._terminal.on_interrupt = self._terminal.end_at_once
        try:
            with self._view.drawn():
                await stack.enter_async_context(self.session.open())
        finally:
            self._terminal.on_interrupt = None

    async def _name_resume_command(self) -> None:
        """Say how to go on with this conversation later."""
        stored = await self.session.conversations.find_stored() if self._is_opened else None
        if stored is not None:
            self.notice(spell_resuming(self.session.workspace, stored.id))

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
        self.notice(self._describe_responder())
        if self.session.is_first and self.session.found_answerers is not None:
            self.say(*list_welcome(self.session, self.session.found_answerers))
        await self._show_continued()

    async def _show_continued(self) -> None:
        """Show where a conversation that goes on was left."""
        continued = self.session.continued
        if continued is None:
            return
        session, last = continued.session, continued.last
        shows_all = await self._view.show_history(session.id)
        facts = f"({count_noun(session.turns, 'turn')}, {format_local(session.used)})"
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
        if not shows_all:
            self.say("", *describe_exchange(last, session.id))
        if last.is_cut:
            self.warn("― The reply was cut off here. ―" if last.reply else "― No reply came. ―")

    def _describe_responder(self) -> str:
        model = self.session.responder.model
        if model is None:
            if not self.session.servers.status:
                return "No model connected either: /model says how to have one answer. /help lists the commands."
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
            if name in self.session.servers.news.missing or isinstance(status, NeedsAuth | NeedsInput | Unapproved):
                self.notice(f"{safe(name)}: {describe_status(name, status, servers.get(name), 0)}")
        for name, held in host.held().items():
            what = describe_held_back(len(held.names), instructions=held.instructions is not None)
            self.notice(f"{safe(name)}: {what}; `/pins {quote_argument(name)}` shows them")
        for problem in find_idle_denies(host, self.session.permissions.rules):
            self.notice(problem_without_place(problem))
        for problem in host.problems:
            if problem.level == "error":
                self.notice(problem_line(problem, self.session.workspace.where.home))

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
            await self.session.add_to_history(line)
            await self._answer(line.strip())

    async def _read_prompt(self, typed: str = "") -> str:
        await self.session.files.look()
        async with self._terminal.hold_for_prompt():
            lines = commands.list_completions(self.session)
            resources = list(self.session.list_known_resources())
            complete = partial(complete_line, self.session.workspace, lines, resources)
            pieces = [await self._terminal.read_line(PROMPT, complete=complete, keep=True, typed=typed)]
            while _goes_on(pieces[-1]):
                pieces[-1] = pieces[-1].removesuffix(MORE_FOLLOWS)
                pieces.append(await self._terminal.read_line(MORE_PROMPT, keep=True))
            return "\n".join(pieces)

    async def edit(self, text: str) -> str | None:
        try:
            edited = await self._read_prompt(typed=text)
        except (Interrupted, Ended):
            return None
        await self.session.add_to_history(edited)
        return edited

    async def _answer(self, line: str) -> None:
        """Do what a line says."""
        if line in LEAVING:
            line = "/quit"
        while line:
            # What has several lines was pasted, or written for whoever answers.
            work = self._turn(line) if "\n" in line else self._do(line)
            line = ""
            try:
                await self._attempt(work)
            except _TypedInstead as instead:
                line = str(instead)

    def _do(self, line: str) -> Awaitable[None]:
        match line[0]:
            case "/":
                return commands.run(self, line)
            case "!":
                return run_shell_command(self, line[1:].strip())
            case _:
                return self._turn(line)

    async def _attempt(self, work: Awaitable[Any]) -> None:
        """Do something until Ctrl+C ends it; whatever goes wrong is shown as a sentence."""
        try:
            await self._run_until_interrupted(work)
        except (Interrupted, Ended):
            self.notice("Canceled.")
        except MooringError as error:
            self.warn(shorten_paths(_describe_error(error), self.session.workspace.where.home))

    async def _run_until_interrupted(self, work: Awaitable[Any]) -> None:
        """Do something that Ctrl+C ends, and nothing else with it."""
        # A task of its own can be cancelled without the chat around it.
        task = asyncio.ensure_future(work)
        self._work = InterruptibleWork(task, self._terminal.end_at_once)
        self._terminal.on_interrupt = self._work.interrupt
        try:
            self._view.begin("")
            with self._view.drawn():
                await asyncio.wait({task})
        finally:
            self._work = self._terminal.on_interrupt = None
        if task.cancelled():
            self.notice("Stopped.")
        else:
            task.result()

    async def _turn(self, request: str) -> None:
        if self.session.responder.model is not None and self.session.names_tool(request):
            # Only the name of a tool: nobody wants to pay for a model to read that.
            await commands.run(self, f"/call {request}")
            return
        server, dot, _ = request.partition(".")
        is_manual = self.session.responder.model is None
        names_tool = is_manual and dot and " " not in request and server in self.session.servers.status
        if names_tool:
            # Looked up here so that a tool that is unavailable says why, instead of finding nothing.
            tool = await self.session.find_tool(request)
            request = tool.name
        await self._run_turn(lambda: self.session.turn(request))

    async def send(self, said: TurnInput) -> None:
        await self._run_turn(lambda: self.session.send(said))

    async def give_task(self, agent: str, task: str) -> None:
        await self._run_turn(lambda: self.session.give_task(agent, task))

    async def _run_turn(self, begin: Callable[[], Awaitable[None]]) -> None:
        self._in_turn = True
        try:
            await self._wait_for_servers()
            self._view.begin("" if self.session.responder.model is None else FOR_MODEL)
            self._view.draw()
            await begin()
        finally:
            self._in_turn = False

    async def _wait_for_servers(self) -> None:
        """Wait for servers that are new; Ctrl+C ends this alone, and the turn begins without them."""
        waiting = asyncio.ensure_future(self.session.servers.wait())
        outer = self._terminal.on_interrupt
        self._terminal.on_interrupt = InterruptibleWork(waiting, self._terminal.end_at_once).interrupt
        try:
            await asyncio.wait({waiting})
        finally:
            waiting.cancel()
            self._terminal.on_interrupt = outer
        if not waiting.cancelled():
            waiting.result()
        lack = self.session.servers.describe_missing()
        if lack:
            self.notice(lack)

    def _end_turn(self) -> None:
        """End the turn under way: whoever dismisses a question in it wants nothing more of it."""
        if self._in_turn and self._work is not None:
            self._work.end()

    async def show_conversation(self) -> None:
        self.notice(self._describe_responder())
        await self._show_continued()
        if self.session.is_interrupted:
            await self._run_turn(self.session.resume_turn)

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

    async def pick(self, choices: Sequence[ListedChoice], *, cut: bool = False) -> str | None:
        rows: list[tuple[str, ...]] = []
        for number, choice in enumerate(choices, 1):
            name = f"{'*' if choice.is_current else ''}{safe(choice.name)}"
            shown = (f"  {number}", name, *choice.about)
            rows.append((shown[0], *choice.about) if name == str(number) else shown)
        self.say(*(fit_columns(rows, self.width) if cut else chain(*wrap_columns(rows, self.width))))
        names = [choice.name for choice in choices]
        async with self._terminal.dialog:
            prompt = "Which? A number or a name; Enter goes back: "
            typed = await self._terminal.read_line(prompt, complete=names, fresh=True)
        typed = typed.strip()
        if typed.startswith("/"):
            raise _TypedInstead(typed)
        position = parse_position(typed, len(names))
        return typed or None if position is None else names[position]

    async def fill(self, tool: ToolDefinition, given: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
        pairs = self.session.conversation.pairs
        server = pairs[tool.name][0] if tool.name in pairs else "Mooring"
        return await self.fill_form(name_tool(tool.name, pairs), server, tool.schema, given)

    async def fill_form(
        self, title: str, owner: str, schema: Mapping[str, Any], given: Mapping[str, Any] | None
    ) -> dict[str, Any]:
        """The values of a form, asked for one by one. Raises: Interrupted, Ended."""
        async with self._terminal.dialog:
            with self._questions.hold():
                self.say(self._terminal.style(safe(title), "bold"))
                return await FormDialog(self._terminal, owner, title, schema).fill(given)

    # --- what is shown --------------------------------------------------------------------------------------------

    @property
    def width(self) -> int:
        return self._terminal.width

    @property
    def theme(self) -> str:
        return self._terminal.theme

    def show_waiting(self, servers: Sequence[str]) -> None:
        if not servers:
            self._terminal.clear_progress()
        elif not self._terminal.is_reading:
            names = ", ".join(map(safe, servers))
            self._terminal.show_progress(f"waiting for the first start of {names} … · Ctrl+C goes on without")

    def notice(self, text: str) -> None:
        self._questions.when_answered(partial(self._terminal.notice, text))

    def say_heading(self, text: str) -> None:
        self.say(self._terminal.style(text, "bold"))

    def warn(self, *lines: str) -> None:
        self._terminal.warn(*map(safe, lines))

    def show_event(self, event: ConversationEvent) -> None:
        self._questions.when_answered(partial(self._show_event, event))

    def _show_event(self, event: ConversationEvent) -> None:
        self._view.show(event, in_turn=self._in_turn)

    def show_outcome(self, outcome: Outcome) -> None:
        """Show what was read."""
        self.say(*describe_outcome(outcome))
        self._name_file(outcome)

    def _name_file(self, outcome: Outcome) -> None:
        # Below what was shown of it: further up nobody would see it.
        if outcome.excerpt is not None:
            self.notice(safe(outcome.excerpt.whole))


def chat_in_lines(
    workspace: Workspace,
    permissions: CommandPermissions,
    guard: Guard | None = None,
    make_options: MakeOptions = lambda: None,
) -> None:
    """Converse on a terminal without a screen until the person leaves. Raises: ConfigError."""
    terminal = Terminal()
    chat = Chat(workspace, permissions, guard, make_options(), terminal=terminal, make_view=PlainView)
    terminal.run(chat.converse())


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
