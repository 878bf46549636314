"""The chat without a screen: lines are typed, lines are shown. With the manual backend the person is the model."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

from mooring.backends.manual import ManualBackend
from mooring.chat import commands
from mooring.chat.conversation import Conversation
from mooring.chat.plain.filling import FormDialog
from mooring.chat.plain.questions import Questions
from mooring.chat.plain.terminal import Ended, Interrupted, Terminal
from mooring.chat.servers import count_noun, describe_status
from mooring.core.call import (
    CallChanged,
    CallDone,
    CallFailed,
    CallProcessing,
    ConversationEvent,
    Definition,
    Invocation,
    WatchNews,
)
from mooring.core.outcome import Outcome
from mooring.core.question import Ask
from mooring.core.status import NeedsAuth, Unapproved
from mooring.core.turn import Backend
from mooring.core.where import Viewpoint
from mooring.display.lines import describe_conversation_event, describe_outcome, find_renderer, name_tool
from mooring.display.text import (
    advise_on_held_back,
    describe_held_back,
    problem_line,
    safe,
    safe_text,
    shorten_description,
)
from mooring.errors import MooringError, ServerDisabled
from mooring.permissions.verdict import CommandPermissions
from mooring.process.programs import Guard

PROMPT = "> "
SHOWN = 2_000
"""So many tokens of a result are shown at once, about a hundred lines; the whole is in a file."""

LONGEST = 400
"""So many characters of an argument are repeated with its result."""


class _TypedInstead(Exception):
    """The person typed a command where something else was asked for."""


class Chat:
    """One conversation at a terminal."""

    def __init__(self, viewpoint: Viewpoint, permissions: CommandPermissions, guard: Guard | None = None) -> None:
        self._terminal = Terminal()
        self._questions = Questions(self._terminal, project=viewpoint.project)
        self.conversation = Conversation(viewpoint, permissions, self, guard, tokens=SHOWN)
        self._backend: Backend = ManualBackend(self)
        self._leaving = False

    @property
    def ask(self) -> Ask:
        return self._questions

    def run(self) -> None:
        """Converse until the person leaves. Raises: ConfigError."""
        self._terminal.run(self._run())

    async def _run(self) -> None:
        async with self.conversation.open():
            # Servers may ask questions while they start: those come below the greeting.
            async with self._terminal.floor:
                await self._guarded(self.conversation.wait_for_servers())
                self.conversation.start()
                await self._greet()
            await self._converse()

    # --- the conversation -----------------------------------------------------------------------------------------

    async def _greet(self) -> None:
        """Show what there is, and what needs the person."""
        host = self.conversation.host
        status_of = host.status()
        count = f"{count_noun(len(status_of), 'server')}, {count_noun(len(host.tools), 'tool')}"
        self.say(self._terminal.style(f"mooring · {count}", "bold"))
        for name, status in status_of.items():
            if name in self.conversation.missing or isinstance(status, NeedsAuth | Unapproved):
                self.notice(f"{safe(name)}: {describe_status(name, status, host.servers.get(name), 0)}")
        for name, held in host.held().items():
            self.notice(f"{safe(name)}: {describe_held_back(len(held.names))}; {advise_on_held_back(name)}")
        for problem in host.problems:
            if problem.level == "error":
                self.notice(problem_line(problem, self.conversation.viewpoint.where.home))
        if status_of:
            self.notice("You are the model: type what you want done, and pick a tool. /help shows what else there is.")
        else:
            await commands.run(self, "/mcp")

    async def _converse(self) -> None:
        warned = False
        while not self._leaving:
            try:
                async with self._terminal.floor:
                    completions = commands.list_completions(self.conversation)
                    line = await self._terminal.line(PROMPT, complete=completions, keep=True)
            except Ended:
                return
            except Interrupted:
                if warned:
                    return
                warned = True
                self.notice("Ctrl+C again leaves; so do Ctrl+D and /quit.")
                continue
            warned = False
            await self._answer(line.strip())

    async def _answer(self, line: str) -> None:
        """Do what a line says; whatever goes wrong is a sentence."""
        while line:
            work = commands.run(self, line) if line.startswith("/") else self._turn(line)
            line = ""
            try:
                await self._guarded(work)
            except _TypedInstead as instead:
                line = str(instead)
            except (Interrupted, Ended):
                self.notice("Left.")
            except ServerDisabled as error:
                self._warn(f'Server "{error.server}" is disabled. Run /mcp enable {error.server} first.')
            except MooringError as error:
                self._warn(str(error))

    async def _guarded(self, work: Awaitable[Any]) -> None:
        """Do something that Ctrl+C ends, and nothing else with it."""
        task = asyncio.ensure_future(work)
        self._terminal.on_interrupt = task.cancel
        try:
            await asyncio.wait({task})
        finally:
            self._terminal.on_interrupt = None
            self._terminal.clear()
        if task.cancelled():
            self.notice("Stopped.")
        else:
            task.result()

    async def _turn(self, request: str) -> None:
        server, dot, _ = request.partition(".")
        if dot and " " not in request and server in self.conversation.status:
            # Looked up here so that a tool that is unavailable says why, instead of finding nothing.
            request = (await self.conversation.find_tool(request)).name
        await self._backend.turn(request, self.conversation.registry, lambda words: self.say(safe_text(words)))

    def leave(self) -> None:
        self._leaving = True

    # --- the person is the model ----------------------------------------------------------------------------------

    async def choose(self, found: Sequence[Definition]) -> Definition | str | None:
        pairs = self.conversation.registry.pairs
        for number, tool in enumerate(found, 1):
            self.say(f"  {number}  {self._terminal.style(name_tool(tool.name, pairs), 'bold')}")
            if words := shorten_description(tool.description):
                self.notice(f"     “{words}”")
        names = [".".join(pairs[tool.name]) for tool in found if tool.name in pairs]
        async with self._terminal.floor:
            typed = await self._terminal.line("Which? A number or a name; Enter for none: ", complete=names)
        typed = typed.strip()
        if typed.startswith("/"):
            raise _TypedInstead(typed)
        if typed.isdecimal() and 0 < int(typed) <= len(found):
            return found[int(typed) - 1]
        named = [tool for tool in found if typed == pairs.get(tool.name, ("", ""))[1]]
        return named[0] if len(named) == 1 else typed or None

    async def fill(self, tool: Definition) -> Mapping[str, Any] | None:
        pairs = self.conversation.registry.pairs
        server = pairs[tool.name][0] if tool.name in pairs else "Mooring"
        async with self._terminal.floor:
            self.say(self._terminal.style(name_tool(tool.name, pairs), "bold"))
            return await FormDialog(self._terminal, server, tool.name, tool.schema).done()

    # --- what is shown --------------------------------------------------------------------------------------------

    def say(self, *shown: str) -> None:
        for line in shown:
            self._terminal.say(line)

    def notice(self, text: str) -> None:
        self._terminal.say(self._terminal.style(text, "dim"))

    def _warn(self, text: str) -> None:
        self.say(self._terminal.style(safe(text), "yellow"))

    def happened(self, event: ConversationEvent) -> None:
        """Show what happens to the tools of the conversation."""
        pairs = self.conversation.registry.pairs
        match event:
            case CallChanged(state=CallProcessing(background=False)):
                self._terminal.step(f"{describe_conversation_event(event, pairs)[0]} · Ctrl+C ends it")
            case CallChanged(request, CallProcessing(background=True)):
                self.notice(f"{name_tool(request.name, pairs)} goes on in the background; its result will be shown.")
            case CallChanged(state=CallFailed(aborted=True)):
                pass  # whoever stopped it says so
            case CallChanged(request, CallDone(outcome) | CallFailed(outcome)):
                self._show_call(request, outcome)
            case WatchNews():
                self.say(*describe_conversation_event(event, pairs))
            case CallChanged():
                pass

    def _show_call(self, request: Invocation, outcome: Outcome) -> None:
        known = dict(self.conversation.registry.pairs)
        if request.server is not None:
            known[request.name] = (request.server, request.tool)
        way = find_renderer(request.name, known)
        panel = way.render({key: _shorten(value) for key, value in request.arguments.items()}, outcome)
        self.say("", self._terminal.style(f"{way.icon} {name_tool(request.name, known)}", "bold"))
        self.say(self._terminal.style(panel.title, "red" if outcome.is_error else "green"), *panel.lines)
        for note in outcome.notes:
            self.notice(safe(note))
        self._name_file(outcome)

    def show_outcome(self, outcome: Outcome) -> None:
        """What was read, in lines."""
        self.say(*describe_outcome(outcome))
        self._name_file(outcome)

    def _name_file(self, outcome: Outcome) -> None:
        """Say where the whole is, below what was shown of it: further up nobody would see it."""
        if outcome.file is not None:
            self.notice(f"Shown in part; the whole is in {safe(outcome.file)}")


def _shorten(value: Any) -> Any:
    """An argument as it is shown once it has been used; before, all of it is."""
    if not isinstance(value, str) or len(value) <= LONGEST:
        return value
    return f"{value[:LONGEST]}… ({len(value):,} characters)"
