"""The chat without a screen: lines are typed, lines are shown. With the manual backend the person is the model."""

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from mooring.backends.manual import Manual
from mooring.chat import commands
from mooring.chat.plain.filling import Filling
from mooring.chat.plain.questions import Questions
from mooring.chat.plain.terminal import Ended, Interrupted, Terminal
from mooring.chat.servers import counted, stands
from mooring.core.approved import Approved
from mooring.core.call import (
    CallChanged,
    CallDone,
    CallFailed,
    CallProcessing,
    Definition,
    Happening,
    Invocation,
    WatchNews,
)
from mooring.core.event import Event, ListChanged, Logged, Reloaded, StatusChanged, ToolsChanged, Troubled, Updated
from mooring.core.outcome import Outcome
from mooring.core.status import Connected, Connecting, Disabled, Failed, NeedsAuth, Unapproved
from mooring.core.turn import Backend
from mooring.core.where import Viewpoint
from mooring.display.lines import event as told
from mooring.display.lines import happening, label, renderer
from mooring.display.text import brief, held_back, held_ways, problem_line, safe, safe_text
from mooring.errors import MooringError, ServerDisabled, UnknownTool
from mooring.host.host import Host
from mooring.host.options import HostOptions
from mooring.inventory.admit import Admitted, NotAdmitted, looking
from mooring.permissions.verdict import CommandPermissions
from mooring.process.programs import Guard

if TYPE_CHECKING:
    from mooring.tools.registry import Registry

PROMPT = "> "
SHOWN = 2_000
"""So many tokens of a result are shown at once, about a hundred lines; the whole is in a file."""

LONGEST = 400
"""So many characters of an argument are repeated with its result."""


class _Instead(Exception):
    """The person typed a command where something else was asked for."""


class Chat:
    """One conversation at a terminal."""

    host: Host
    registry: "Registry"

    def __init__(self, request: Viewpoint, permissions: CommandPermissions, guard: Guard | None = None) -> None:
        self.request, self.most = request, SHOWN
        self._permissions, self._guard = permissions, guard
        self._terminal = Terminal()
        self._backend: Backend = Manual(self)
        self._on: frozenset[str] = frozenset()
        self._off: frozenset[str] = frozenset()
        self._missed: dict[str, str] = {}
        """Servers that are not there, and what was said of that last."""
        self._greeted = self._leaving = False
        self._quiet = False
        """The next reading of the configuration is the person's own doing, and told already."""

    def run(self) -> None:
        """Converse until the person leaves. Raises: ConfigError."""
        self._terminal.run(self._opened())

    async def _opened(self) -> None:
        charter = HostOptions(
            request=self.request,
            ask=Questions(self._terminal, project=self.request.project),
            policy=self._permissions.mode,
            rules=self._permissions.rules,
            guard=self._guard,
            reload=True,
            adapt=self._adapted,
            warn=lambda server, what: self.dim(f"{safe(server)}: {safe(what)}"),
        )
        async with self._guard or nullcontext(), Host(charter) as host:
            self.host = host
            async with host.registry(context=1 << 40, takes=(), tokens=SHOWN, tell=self._happened) as self.registry:
                listening = asyncio.create_task(self._listen())
                try:
                    async with self._terminal.floor:  # what servers ask at their start comes behind it
                        await self._greet()
                    self._greeted = True
                    await self._converse()
                finally:
                    listening.cancel()

    # --- the conversation -----------------------------------------------------------------------------------------

    async def _greet(self) -> None:
        """Show what there is; what is still on its way is told when it comes."""
        await self._guarded(self.host.ready(self.host.settings["startWindow"] / 1000))
        self.registry.use(self.host.tools)
        self.registry.learn()
        standing = self.host.status()
        self._missed = {
            name: told(StatusChanged(name, status))
            for name, status in standing.items()
            if isinstance(status, Connecting | Failed)
        }
        count = f"{counted(len(standing), 'server')}, {counted(len(self.host.tools), 'tool')}"
        self.say(self._terminal.style(f"mooring · {count}", "bold"))
        for name, status in standing.items():
            if name in self._missed or isinstance(status, NeedsAuth | Unapproved):
                self.dim(f"{safe(name)}: {stands(name, status, self.host.servers.get(name), 0)}")
        for name, held in self.host.held().items():
            self.dim(f"{safe(name)}: {held_back(len(held.names))}; {held_ways(name)}")
        for problem in self.host.problems:
            if problem.level == "error":
                self.dim(problem_line(problem, self.request.where.home))
        if standing:
            self.dim("You are the model: type what you want done, and pick a tool. /help shows what else there is.")
        else:
            await commands.run(self, "/mcp")

    async def _converse(self) -> None:
        warned = False
        while not self._leaving:
            try:
                async with self._terminal.floor:
                    line = await self._terminal.line(PROMPT, complete=commands.offered(self), keep=True)
            except Ended:
                return
            except Interrupted:
                if warned:
                    return
                warned = True
                self.dim("Ctrl+C again leaves; so do Ctrl+D and /quit.")
                continue
            warned = False
            await self._answered(line.strip())

    async def _answered(self, line: str) -> None:
        """Do what a line says; whatever goes wrong is a sentence."""
        while line:
            work = commands.run(self, line) if line.startswith("/") else self._turn(line)
            line = ""
            try:
                await self._guarded(work)
            except _Instead as instead:
                line = str(instead)
            except (Interrupted, Ended):
                self.dim("Left.")
            except ServerDisabled as error:
                self._warn(f'Server "{error.server}" is disabled. Run /mcp enable {error.server} first.')
            except MooringError as error:
                self._warn(str(error))

    def _warn(self, text: str) -> None:
        self.say(self._terminal.style(safe(text), "yellow"))

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
            self.dim("Stopped.")
        else:
            task.result()

    async def tool(self, name: str) -> Definition:
        """The tool of that name; its server is asked where it was not yet. Raises: as `Host.find`."""
        found = self.registry.find(name)
        if found is None:
            entry = await self.host.find(name)  # by another name of its server, or not asked for yet
            self.registry.use(self.host.tools)
            found = self.registry.find(entry.name)
        if found is None:
            raise UnknownTool("This chat", name)
        return found

    async def _turn(self, request: str) -> None:
        server, dot, _ = request.partition(".")
        if dot and " " not in request and server in self.host.status():
            request = (await self.tool(request)).name  # says why, where it cannot be had
        await self._backend.turn(request, self.registry, lambda words: self.say(safe_text(words)))

    def leave(self) -> None:
        self._leaving = True

    async def switch(self, server: str, on: bool) -> None:
        """Have a server, or do without it, for as long as this lasts. Raises: ConfigError."""
        if on and isinstance(self.host.status()[server], Disabled) and server not in self._off:
            self._on |= {server}
        self._off = self._off - {server} if on else self._off | {server}
        self._quiet = True
        await self.host.reload()
        self.registry.use(self.host.tools)
        if on and (refused := self.host.refused.get(server)) is not None:
            raise refused.error

    def _adapted(self, admitted: Admitted) -> Admitted:
        if self._on:
            mine = looking(replace(self.request, switched_on=self._on), None)()
            admitted = replace(admitted, wanted=mine.wanted, aliases=mine.aliases, refused=mine.refused)
        if not self._off:
            return admitted
        names = {*self._off, *(alias for alias, name in admitted.aliases.items() if name in self._off)}
        refused = {
            name: _switched_off(name, admitted.wanted.get(admitted.aliases.get(name, name)))
            for name in names
            if name in {*admitted.wanted, *admitted.aliases}
        }
        return replace(
            admitted,
            wanted={name: each for name, each in admitted.wanted.items() if name not in names},
            aliases={alias: name for alias, name in admitted.aliases.items() if alias not in names},
            refused={**admitted.refused, **refused},
        )

    # --- the person is the model ----------------------------------------------------------------------------------

    async def choose(self, found: Sequence[Definition]) -> Definition | str | None:
        pairs = self.registry.pairs
        for number, tool in enumerate(found, 1):
            self.say(f"  {number}  {self._terminal.style(label(tool.name, pairs), 'bold')}")
            if words := brief(tool.description):
                self.dim(f"     “{words}”")
        names = [".".join(pairs[tool.name]) for tool in found if tool.name in pairs]
        async with self._terminal.floor:
            typed = await self._terminal.line("Which? A number or a name; Enter for none: ", complete=names)
        typed = typed.strip()
        if typed.startswith("/"):
            raise _Instead(typed)
        if typed.isdecimal() and 0 < int(typed) <= len(found):
            return found[int(typed) - 1]
        named = [tool for tool in found if typed == pairs.get(tool.name, ("", ""))[1]]
        return named[0] if len(named) == 1 else typed or None

    async def fill(self, tool: Definition) -> Mapping[str, Any] | None:
        pairs = self.registry.pairs
        server = pairs[tool.name][0] if tool.name in pairs else "Mooring"
        async with self._terminal.floor:
            self.say(self._terminal.style(label(tool.name, pairs), "bold"))
            return await Filling(self._terminal, server, tool.name, tool.schema).done()

    # --- what is shown --------------------------------------------------------------------------------------------

    def say(self, *lines: str) -> None:
        for line in lines:
            self._terminal.say(line)

    def dim(self, text: str) -> None:
        self._terminal.say(self._terminal.style(text, "dim"))

    def _happened(self, happened: Happening) -> None:
        """What happens to the tools of the conversation."""
        match happened:
            case CallChanged(state=CallProcessing(background=False)):
                self._terminal.step(f"{happening(happened, self.registry.pairs)[0]} · Ctrl+C ends it")
            case CallChanged(request, CallProcessing(background=True)):
                name = label(request.name, self.registry.pairs)
                self.dim(f"{name} goes on in the background; its result will be shown.")
            case CallChanged(state=CallFailed(aborted=True)):
                pass  # whoever stopped it says so
            case CallChanged(request, CallDone(outcome) | CallFailed(outcome)):
                self._ended(request, outcome)
            case WatchNews():
                self.say(*happening(happened, self.registry.pairs))
            case CallChanged():
                pass

    def _ended(self, request: Invocation, outcome: Outcome) -> None:
        known = dict(self.registry.pairs)
        if request.server is not None:
            known[request.name] = (request.server, request.tool)
        way = renderer(request.name, known)
        panel = way.render({key: _short(value) for key, value in request.arguments.items()}, outcome)
        self.say("", self._terminal.style(f"{way.icon} {label(request.name, known)}", "bold"))
        self.say(self._terminal.style(panel.title, "red" if outcome.is_error else "green"), *panel.lines)
        for note in outcome.notes:
            self.dim(safe(note))
        self.tell_file(outcome)

    def tell_file(self, outcome: Outcome) -> None:
        """Say where the whole is, behind what was shown of it: further up nobody would see it."""
        if outcome.file is not None:
            self.dim(f"Shown in part; the whole is in {safe(outcome.file)}")

    async def _listen(self) -> None:
        async for event in self.host.events():
            with suppress(MooringError):
                self._heard(event)

    def _heard(self, event: Event) -> None:
        """What changed about servers, as far as a person wants to hear of it."""
        match event:
            case StatusChanged(server, Connected()):
                if self._missed.pop(server, None) is not None:
                    tools = sum(entry.server == server for entry in self.host.tools)
                    self._news(f"{safe(server)} is there now: {counted(tools, 'tool')}")
            case StatusChanged(server, Failed() | NeedsAuth()):
                if self._missed.get(server) != (words := told(event)):
                    self._missed[server] = words
                    self._news(words)
            case ToolsChanged(server):
                known = any(pair[0] == server for pair in self.registry.pairs.values())
                self.registry.use(self.host.tools)
                if known and server not in self._missed:
                    self._news(told(event))
            case Reloaded(added, removed, replaced):
                self.registry.use(self.host.tools)
                if (added or removed or replaced) and not self._quiet:
                    self._news(told(event))
                self._quiet = False
            case ListChanged() | Updated() | Troubled():
                self._news(told(event))
            case StatusChanged() | Logged():
                pass

    def _news(self, text: str) -> None:
        if self._greeted:
            self.dim(text)


def _short(value: Any) -> Any:
    """An argument as it is shown once it has been used; before, all of it is."""
    if not isinstance(value, str) or len(value) <= LONGEST:
        return value
    return f"{value[:LONGEST]}… ({len(value):,} characters)"


def _switched_off(name: str, approved: Approved | None) -> NotAdmitted:
    by, config = "in this chat", None if approved is None else approved.config
    return NotAdmitted(Disabled(by), ServerDisabled(name, by), config)
