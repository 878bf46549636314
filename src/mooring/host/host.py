"""The host, as programs see it: every configured server behind one object. The work is done by its parts."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from math import inf
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Self, TypeVar, cast

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from mooring import files
from mooring.core.conversation.host_event import HostEvent
from mooring.core.conversation.question import Ask, check_ask
from mooring.core.conversation.status import KnownServer as Server
from mooring.core.conversation.status import Status
from mooring.core.conversation.verdict import Rule
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Broken, Origin, ServerConfig
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.limits import Timeout, find_seconds
from mooring.core.protocol.request_metadata import NO_METADATA, make_extras
from mooring.core.protocol.result import Completion, FilledPrompt, Progress, Reading, Result
from mooring.core.protocol.tool import Item
from mooring.display.text import count_noun
from mooring.errors import ConfigError, HeldBack, MooringError, ServerError, TimedOut
from mooring.host.options import HostOptions, Policy, check_rules, find_mode
from mooring.host.runtime import HostRuntime
from mooring.inventory.admit import GivenServers, NotAdmitted
from mooring.permissions.pins import HeldTools
from mooring.permissions.policy import Policy as CallPolicy
from mooring.servers.fleet import ServerTable, StatusTable, needs_listing
from mooring.servers.watch import DEFAULT_INTERVAL, Watch
from mooring.settings import Settings
from mooring.tools.catalog.catalog import CatalogEntry as Tool

if TYPE_CHECKING:
    from mooring.auth.login import LoginResult, LogoutResult
    from mooring.conversation.conversation import Conversation
    from mooring.conversation.events import EventStream
    from mooring.conversation.scope import ToolScope
    from mooring.conversation.tool import ModelTool
    from mooring.core.conversation.event import ConversationEvent
    from mooring.process.programs import Guard
    from mooring.servers.server import Server as LiveServer
    from mooring.tools.results.outcome import Media
    from mooring.tools.schema.adapt import Provider


T = TypeVar("T")

_NOT_OPEN = "This host is not open yet. Use it inside `async with mooring.open() as host:`."
_OPEN_ALREADY = "This host is open already. Use one `async with` for each `mooring.open()`."
_CLOSED = "This host is closed. Use it inside its `async with`, or open another one with `mooring.open()`."


class Host:
    """Many servers as one. `mooring.open` makes a host; it is usable inside its `async with`, once.

        what there is      servers, tools, status(), problems, instructions, search()
        waiting for it     ready(), events()
        using it           call(), read(), prompt(), resources(), prompts(), complete()
        for a model        conversation(): its tools, with permissions and questions of its own
        watching           subscribe(), poll(), unsubscribe(), watches
        changing it        reload(), apply(), forget()
        logging in         login(), logout()
        approving          held(), approve(), ask_about_server(), ask_about_tools()

    Methods may be called from any task of the loop that opened the host, any number of them at a time. `timeout` is a
    number of seconds, or a `Timeout`, and covers everything from the start of a server to its answer. Before and after
    its `async with`, whatever is asked of a host raises `ConfigError`.
    """

    def __init__(self, options: HostOptions) -> None:
        """Nothing is read before `async with`. Raises: ConfigError."""
        self._own_runtime = HostRuntime(options)
        # Not the host itself, which nothing may keep alive if it is dropped without being closed.
        self._record_user = object()
        self._state: Literal["new", "open", "closed"] = "new"
        self._runtime = _make_stand_in(_NOT_OPEN)

    def __repr__(self) -> str:
        if self._state != "open":
            return f"<Host, {'closed' if self._state == 'closed' else 'not open yet'}>"
        lookup = self._runtime.lookup
        servers = count_noun(len(lookup.servers), "server")
        tools = count_noun(len(lookup.catalog.entries), "tool")
        return f"<Host of {servers}, {tools}>"

    async def __aenter__(self) -> Self:
        if self._state != "new":
            raise ConfigError(_OPEN_ALREADY if self._state == "open" else _CLOSED)
        # Before anything is awaited: two tasks may try at the same time.
        self._state = "open"
        # A conversation of this host may have it open, whoever else reads files here.
        files.reserve_database(self._own_runtime.options.workspace.where.record, self._record_user)
        try:
            await self._own_runtime.open()
        except BaseException:
            self._become_closed()
            raise
        self._runtime = self._own_runtime
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close everything, in order: what is watched, all servers at the same time, the guard, then the files."""
        # Until this is done the host stays open, so that a second `close` can finish what a cancellation broke off.
        if self._state == "open":
            await self._runtime.close()
            self._become_closed()

    def _become_closed(self) -> None:
        self._state, self._runtime = "closed", _make_stand_in(_CLOSED)
        files.release_database(self._record_user)

    # --- what there is --------------------------------------------------------------------------------------------

    @property
    def settings(self) -> Settings:
        """The settings in force."""
        return self._runtime.settings

    @property
    def where(self) -> Paths:
        """The folders that it uses."""
        return self._runtime.options.workspace.where

    @property
    def guard(self) -> Guard:
        """Starts programs beside the servers, and ends them with the host. Raises: MooringError on Windows."""
        return self._runtime.shared.guard

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the configuration."""
        return self._runtime.problems

    @property
    def troubles(self) -> tuple[Problem, ...]:
        """What went wrong beside the work itself since the host was opened; all of it once the host is closed."""
        return self._own_runtime.troubles if self._state == "closed" else self._runtime.troubles

    @property
    def servers(self) -> Mapping[str, Server]:
        """What is known now of every server that may be started, by name.

        Two names whose definitions say the same lead to one server. With many servers, ask once and not for each.
        """
        return ServerTable({name: server.describe() for name, server in self._runtime.lookup.servers.items()})

    @property
    def tools(self) -> tuple[Tool, ...]:
        """Every tool that is known now, in a stable order; what `ready` adds later is announced by an event."""
        return self._runtime.lookup.tools

    @property
    def tools_by_server(self) -> Mapping[str, Mapping[str, Tool]]:
        """The tools by server, then by the name that the server gave them. A change costs no more than its server."""
        return self._runtime.lookup.tools_by_server

    @property
    def instructions(self) -> str:
        """What servers say about how to use them, for a system prompt: of every server whose tools are known.

        Each text is marked as its server's and cut to 2,000 characters, all of them to 20,000. A server with tools that
        are held back is left out, since it is not what was approved.
        """
        return self.join_instructions()

    def join_instructions(self, guests: Iterable[str] = ()) -> str:
        """The same, with those of servers that `bring` added for one agent."""
        from mooring.host.instructions import join_instructions  # lazy: a program without a model needs none

        held, is_hidden, guests = self.held(), self._runtime.guests.is_hidden, frozenset(guests)
        texts: dict[str, str] = {}
        for name, server in self._runtime.fleet.servers.items():
            if name not in held and not is_hidden(name, guests) and server.instructions.strip():
                texts[name] = server.instructions
        return join_instructions(texts)

    @property
    def workspace(self) -> Workspace:
        """The machine and the folder that it was opened for."""
        return self._runtime.options.workspace

    @property
    def viewpoint(self) -> Workspace:
        """The old name of `workspace`, for one more release."""
        warnings.warn("host.viewpoint is now host.workspace", DeprecationWarning, stacklevel=2)
        return self.workspace

    def status(self) -> dict[str, Status]:
        """The status of every configured server, including those that may not be started."""
        statuses = {name: server.status for name, server in self._runtime.lookup.servers.items()}
        statuses |= {name: refused.status for name, refused in self._runtime.lookup.refused.items()}
        return StatusTable(statuses)

    @property
    def refused(self) -> Mapping[str, NotAdmitted]:
        """Every configured server that may not be started, and why."""
        return self._runtime.lookup.refused

    def call_policy(self, conversation: Conversation | None = None) -> CallPolicy:
        """The rules and the mode that decide about calls now, in a conversation or outside of all."""
        permissions = None
        if conversation is not None:
            permissions = self._runtime.conversations[conversation]()
        return (permissions or self._runtime.permissions.own).gate.policy

    def change_mode(self, mode: Literal["plan", "ask", "edits", "accept-reads", "bypass"] | None) -> None:
        """Decide in another mode from now on, in every conversation without a `policy` of its own.

        `None` is the mode of the settings. A mode that is looser than the machine's settings has no effect.
        """
        self._runtime.permissions.change_mode(mode)

    def keep_answers(self) -> None:
        """Have what the user allowed for the session so far hold in every conversation that begins from now on."""
        self._runtime.permissions.keep_answers()

    def events(self) -> AsyncIterator[HostEvent]:
        """What changes from now on, until the host closes; the host itself always has the current state."""
        return self._runtime.feed.listen()

    async def ready(
        self,
        timeout: float | Timeout | None = None,
        *,
        servers: Iterable[str] | None = None,
        refresh: bool = False,
        trusted: float = 0.0,
    ) -> dict[str, MooringError]:
        """Connect every server whose tools are unknown (with `refresh`, every server); return the errors by server.

        Waits for `timeout` seconds at most; by default, as long as each server may take. A server that is late goes on
        connecting in the background. With `servers`, only those are connected, and the person is asked for what they
        lack. A server that failed less than `trusted` seconds ago, in this process or another, is not tried again.
        """
        fleet, seconds = self._runtime.fleet, find_seconds(timeout)
        if servers is not None:
            named = {await self._admit(name) for name in servers}
            return await fleet.ready(named, seconds, refresh=refresh, trusted=trusted)
        errors = await fleet.ready(fleet.servers.values(), seconds, refresh=refresh, trusted=trusted)
        return dict(sorted({**self._runtime.lookup.unusable, **errors}.items()))

    def lately_failed(self, seconds: float) -> dict[str, ServerError]:
        """Errors of servers with unknown tools that failed less than `seconds` ago, in this or another process."""
        fleet = self._runtime.fleet
        return fleet.lately_failed(filter(needs_listing, fleet.servers.values()), seconds)

    # --- using it -------------------------------------------------------------------------------------------------

    def call(
        self,
        name: str | Tool,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | Timeout | None = None,
        on_progress: Callable[[Progress], None] | None = None,
        on_start: Callable[[], None] | None = None,
        meta: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Coroutine[Any, Any, Result]:
        """Call a tool by its shown name, or as `server.tool`. A failure that the tool itself reports is a result.

        `on_progress` is called with each step that the server reports, `on_start` once the call is authorized.
        `meta` has keys for the call's `_meta`, such as a trace id. `headers` are sent with this call's HTTP requests
        alone, beside those that are configured, and win over them.

        Raises:
            UnknownServer, UnknownTool: there is none of that name; Stale if its server was replaced since.
            ServerDisabled, NotApproved: its server may not be started.
            Denied: a rule or the person forbids it; HeldBack if the tool differs from what was approved.
            BadArguments: the arguments cannot be sent.
            ConfigError: the protocol sets one of `meta` or `headers` itself, or the server is not reached over HTTP.
            ServerError: the server, or the connection to it, failed.
        """
        # Not a coroutine itself: one more for each call would be measurable.
        extras = NO_METADATA if meta is None and headers is None else make_extras(meta, headers)
        return self._runtime.calls.call(name, arguments, timeout, on_progress, on_start, False, extras)

    async def find(
        self, name: str | tuple[str, str], timeout: float | Timeout | None = None, *, trusted: float = 0.0
    ) -> Tool:
        """The tool of that name, or of that server and name. Raises: as `call`.

        If it is unknown, its server is asked for its tools first, unless it listed them less than `trusted` seconds
        ago.
        """
        seconds = find_seconds(timeout)
        return await self._runtime.calls.find(name, inf if seconds is None else seconds, trusted=trusted)

    def record_held(self, error: HeldBack) -> None:
        """Record that a tool would have been called, but is held back. `call` does this itself, `find` does not."""
        self._runtime.calls.record_held(error)

    def is_denied(self, tool: Tool, arguments: Mapping[str, Any] | None) -> bool:
        """Whether a call would be refused: its server need not be connected for it. Raises: Stale."""
        return self._runtime.calls.judge(tool, arguments).action == "deny"

    async def admit(self, name: str) -> Server:
        """The server of that name, which is about to be used: the person is asked for the approval and the inputs
        that it lacks. Raises: as `server`; InputMissing.
        """
        return (await self._admit(name)).describe()

    async def _admit(self, name: str) -> LiveServer:
        server = await self._runtime.consent.retry(lambda: self._runtime.lookup.find_approved_server(name))
        await server.ask_inputs()
        return server

    async def connect(self, server: str, timeout: float | Timeout | None = None) -> None:
        """Connect a server, unless it is; the person is asked for what it lacks. Raises: as `admit`; ServerError."""
        found, seconds = await self._admit(server), find_seconds(timeout)
        await found.session(inf if seconds is None else asyncio.get_running_loop().time() + seconds)

    def server(self, name: str) -> Server:
        """What is known now of the server of that name, ignoring case.

        Raises: UnknownServer, ServerDisabled, NotApproved; ConfigError if its definition is invalid.
        """
        return self._runtime.lookup.server(name).describe()

    def find_name(self, name: str) -> str:
        """The configured name that is meant, ignoring case; two names of one server stay two. Raises: as `server`."""
        return self._runtime.lookup.find_name(name)

    def find_configured_name(self, name: str) -> str:
        """The configured name that is meant, as `find_name`, even if it may not be started. Raises: UnknownServer."""
        return self._runtime.lookup.catalog.server(name)

    def definition(self, name: str) -> ServerConfig | Broken | None:
        """What is configured under a name, ignoring case, even if it may not be started.

        Raises: UnknownServer.
        """
        return self._runtime.lookup.definition(name)

    async def resources(self, server: str | None = None, *, timeout: float | Timeout | None = None) -> list[Item]:
        """The resources of a server, or of all that can be reached and are not denied.

        Raises: for one, as `server`; Denied; ServerError.
        """
        return await self._ask(self._runtime.own.resources, server, timeout=timeout)

    async def templates(self, server: str | None = None, *, timeout: float | Timeout | None = None) -> list[Item]:
        """The resource templates of a server, or of all that can be reached. Raises: as `resources`."""
        return await self._ask(self._runtime.own.templates, server, timeout=timeout)

    async def prompts(self, server: str | None = None, *, timeout: float | Timeout | None = None) -> list[Item]:
        """The prompts of a server, or of all that can be reached. Raises: as `resources`."""
        return await self._ask(self._runtime.own.prompts, server, timeout=timeout)

    async def read(self, server: str, uri: str, *, timeout: float | Timeout | None = None) -> Reading:
        """The content of a resource. An address that no list of its server names has to be permitted.

        Raises: as `server`; Denied; ServerError.
        """
        return await self._ask(self._runtime.own.read, server, uri, timeout=timeout)

    async def prompt(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | Timeout | None = None,
    ) -> FilledPrompt:
        """A prompt with its arguments filled in. Raises: as `server`; Denied; ServerError."""
        return await self._ask(self._runtime.own.prompt, server, name, arguments, timeout=timeout)

    async def complete(
        self,
        server: str,
        ref: Mapping[str, str],
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
        *,
        timeout: float | Timeout | None = None,
    ) -> Completion:
        """Completions of `value`; `ref` as in `Session.complete`. Raises: as `server`; Denied; ServerError."""
        return await self._ask(self._runtime.own.complete, server, ref, argument, value, context, timeout=timeout)

    async def _ask(
        self,
        question: Callable[..., Coroutine[Any, Any, T]],
        server: str | None,
        *details: Any,
        timeout: float | Timeout | None,
    ) -> T:
        """Ask a server something, or all of them; the person is asked first for what the one that is named lacks."""
        seconds = find_seconds(timeout)
        try:
            async with asyncio.timeout(seconds) as timer:
                if server is not None:
                    await self._admit(server)
                return await question(server, *details)
        except TimeoutError:
            if seconds is None or not timer.expired():
                raise
            raise TimedOut(server or "A server", "what it was asked", seconds) from None

    # --- for a conversation ----------------------------------------------------------------------------------------

    def search(self, words: str, limit: int = 5) -> list[Tool]:
        """The tools that fit a request, best first; see `learn`."""
        return self._runtime.lookup.catalog.search(words, limit)

    async def learn(self, words: str = "", timeout: float | Timeout = 60.0) -> str:
        """Wait until searches go by what tools mean, if the extra `search` is installed; or return why not yet.

        Meanings are computed once for each tool, in the background, beginning with the first search at the latest. With
        `words`, they are waited for only if a search for these words needs them.
        """
        index, meaning = self._runtime.lookup.catalog.index, self._runtime.load_meaning()
        if index.sense is None or meaning is None:
            return ""
        if words:
            index.search(words, 1)
        else:
            index.sense.learn()
        return await asyncio.to_thread(meaning.wait, find_seconds(timeout) or 0.0)

    def conversation(
        self,
        *,
        ask: Ask | None = None,
        policy: Policy | None = None,
        rules: Iterable[Rule] = (),
        part_of: Conversation | None = None,
        guests: Iterable[str] = (),
        own: bool = True,
        provider: Provider | None = None,
        budget: int | UnsetType | None = UNSET,
        always: Iterable[str] = (),
        allow: Iterable[str] | None = None,
        deny: Iterable[str] = (),
        within: ToolScope | None = None,
        loaded: Iterable[str] = (),
        follow: bool = False,
        takes: Iterable[Media] = ("image",),
        tokens: int | None = None,
        lines: int | None = None,
        background_after: float | UnsetType | None = UNSET,
        more: Iterable[ModelTool] = (),
        on_event: Callable[[ConversationEvent], None] | None = None,
        stream: EventStream | None = None,
        tell: Callable[[Any], None] | None = None,
    ) -> Conversation:
        """Everything that a model can call in one conversation, used with `async with`.

        The questions of a conversation go to its own `ask`, and nobody else waits for them or has the answers. `policy`
        and `rules` are its own too; what is left out is as in `mooring.open`.

        Args:
            part_of: the conversation that this one is part of, as a sub-agent's is. Its rules hold here too, and so
                does what was answered in either; `rules` come before them, and `policy` is not used.
            guests: names of servers that `bring` added for this conversation.
            own: False leaves out Mooring's own tools: `ToolSearch`, those for resources, and `ToolResult`.
            provider: whose model it is, such as "anthropic". Names and schemas are those that this provider takes, and
                `call` takes what its model sends. By default, they are the servers' own.
            budget: how many tokens the definitions may take before the model has to search for tools. 0 makes it
                search for all of them, None for none. By default, as `toolBudget` in the settings says.
            always: globs over `server.tool` of those that are shown whatever they cost.
            allow, deny: globs over `server.tool`, or over shown names, of what this agent may use.
            within: what narrows it further; `apply_selection` makes one of an agent's definition.
            loaded: `Conversation.loaded` of a conversation that is resumed.
            follow: whether tools of servers that connect later, or change theirs, appear in `definitions`. By default,
                the tools are those that are known now.
            takes: the media that the model accepts beside text.
            tokens, lines: how much of a result is returned at once.
            background_after: after how many seconds a call continues in the background; None waits for its end. By
                default, as `backgroundAfter` in the settings says.
            more: an agent's own tools; `mooring.tool` makes one.
            on_event: called with everything that happens, in order; it must not block. `Conversation.events` is for
                those who take their time.
            stream: where its events go, if something else tells events there too; `begin_stream` makes one. `ask` then
                tells its own questions there.
            tell: the old `on_event`, for one more release.

        Raises: ConfigError if an option is invalid, or a name is taken.
        """
        # lazy: a program without a model needs none of it
        from mooring.conversation.events import guard_listener, tell_questions
        from mooring.conversation.toolbox import ToolOptions
        from mooring.host import toolset

        runtime, settings = self._runtime, self._runtime.settings
        options = ToolOptions(
            own=own,
            provider=toolset.check_provider(provider),
            budget=toolset.find_budget(budget, settings, own),
            always=(*toolset.list_always_loaded(runtime), *always),
            allow=None if allow is None else tuple(allow),
            deny=tuple(deny),
            within=within,
            loaded=tuple(loaded),
            follow=follow,
            takes=frozenset(takes),
            tokens=tokens or settings["resultTokens"],
            lines=lines,
        )
        if stream is None:
            stream = self.begin_stream()
            ask = ask and tell_questions(stream, check_ask(ask))
        if on_event is not None:
            stream.add_listener(guard_listener(on_event))
        if tell is not None:
            from mooring.conversation.old_events import make_old_listener

            warnings.warn("tell= is now on_event=, with other events", DeprecationWarning, stacklevel=2)
            stream.add_listener(guard_listener(make_old_listener(tell)))
        return toolset.make_conversation(
            runtime,
            replace(options, background_after=toolset.find_background_after(background_after, settings, options)),
            ask=ask and check_ask(ask),
            mode=find_mode(policy),
            rules=check_rules(rules),
            part_of=part_of,
            guests=guests,
            more=more,
            stream=stream,
        )

    def begin_stream(self, session: str | None = None, turn: int = 0) -> EventStream:
        """The events of a conversation that is about to begin, for whoever tells more into it than its calls.

        `session` identifies a conversation that goes on, and `turn` is the number of turns that it had before.
        """
        from mooring.conversation.events import EventStream  # lazy, as for `conversation`

        lookup = self._runtime.lookup

        def find_origin(server: str) -> Origin | None:
            found = lookup.servers.get(server)
            return None if found is None else found.config.origin

        return EventStream(session, turn=turn, find_origin=find_origin)

    def registry(self, **options: Any) -> Conversation:
        """The old name of `conversation`, for one more release."""
        warnings.warn("host.registry() is now host.conversation()", DeprecationWarning, stacklevel=2)
        return self.conversation(**options)

    # --- tools as they were approved ------------------------------------------------------------------------------

    def held(self) -> dict[str, HeldTools]:
        """What is held back, by server, because it differs from what was approved: tools, and how to use them."""
        found = {
            name: self._runtime.permissions.pins.find_held(self.approved(name), server.tools, server.instructions)
            for name, server in self._runtime.lookup.servers.items()
        }
        return {name: held for name, held in found.items() if held}

    async def ask_about_server(self, server: str) -> bool:
        """Ask the person whether a project's server may be started, even if they rejected it; whether it may be now.

        Raises: UnknownServer; ConfigError if it needs no approval, or cannot be used; FileError.
        """
        return await self._runtime.consent.ask_about_server(server, anew=True)

    async def ask_about_tools(self, server: str) -> bool:
        """Ask the person about the tools of a server that are held back; whether all of them may be called now.

        Raises: as `server`; FileError.
        """
        return await self._runtime.consent.ask_about_tools(self.find_name(server))

    def approved(self, server: str) -> Approved:
        """What was approved under a name. Raises: as `server`."""
        return self._runtime.lookup.find_approved(server)

    def approve(self, server: str, held: HeldTools) -> None:
        """Approve tools as they were shown. Raises: as `server`; FileError."""
        self._runtime.permissions.pins.approve(self.approved(server), held)
        self._runtime.lookup.invalidate(self._runtime.lookup.server(server).name)

    def switch_pinning(self, server: str, *, off: bool) -> None:
        """Turn pinning off for a server, or on again. Raises: as `server`; FileError."""
        self._runtime.permissions.pins.switch(self.approved(server), off=off)
        self._runtime.lookup.invalidate()

    # --- watching -------------------------------------------------------------------------------------------------

    @property
    def watches(self) -> tuple[Watch, ...]:
        """Everything that is watched now; see `subscribe` and `poll`."""
        return self._runtime.watches.all

    async def subscribe(self, server: str, uri: str, *, reason: str = "", first: bool = False) -> Watch:
        """Announce through `events` when a resource changes; it is permitted as `read` is, now and each time.

        If `first`, what it is at the beginning is announced, too.

        Raises: as `server`; Denied; ConfigError; ServerError.
        """
        return await self._runtime.own.subscribe(server, uri, reason=reason, first=first)

    async def poll(
        self,
        server: str,
        *,
        uri: str | None = None,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        interval: float = DEFAULT_INTERVAL,
        reason: str = "",
        first: bool = False,
    ) -> Watch:
        """Read a resource, or call a tool, every `interval` seconds; changes come as events.

        If `first`, what it is at the beginning is an event, too.

        It must be authorized, now and each time, as `read` or `call` is. A yes of the person holds for as long as the
        watch does, but not against a rule that denies it.

        Raises: ConfigError; as `call`.
        """
        poll = self._runtime.own.poll
        return await poll(
            server, uri=uri, tool=tool, arguments=arguments, interval=interval, reason=reason, first=first
        )

    async def unsubscribe(self, id: str | None = None, *, server: str | None = None, target: str | None = None) -> bool:
        """End a watch by its id, or by its server and target; return whether there was one."""
        return await self._runtime.own.unsubscribe(id, server=server, target=target)

    # --- changing it ----------------------------------------------------------------------------------------------

    async def apply(self, servers: GivenServers) -> None:
        """Make these the only servers; whatever stays the same keeps running.

        Raises: ConfigError if `servers` is invalid.
        """
        await self._runtime.apply(servers)

    def bring(self, servers: Mapping[str, Approved]) -> AbstractAsyncContextManager[tuple[str, ...]]:
        """Add servers for one agent, and end them with it. No conversation has their tools but those that name them.

        Gives their names. One whose name is taken by another server is left out.
        """
        return self._runtime.bring(servers)

    async def reload(self, server: str | None = None) -> None:
        """Read the configuration again; with a name, only restart that server. Raises: as `server`."""
        if server is None:
            await self._runtime.reload()
        else:
            self._runtime.shared.secrets.forget()
            await self._runtime.lookup.server(server).restart()

    async def login(
        self, server: str, *, scopes: Iterable[str] = (), browser: bool = True, timeout: float = 300.0
    ) -> LoginResult:
        """Log in to a server: `ask` gets a `Login` question with the page to show. The token is stored for next time.

        `scopes` are asked for beside those that the login has; `NeedsLogin.scope` names what a refused call needs.
        Without a `browser` that can come back to this machine, a code for another device is preferred.

        Raises:
            as `server`; ConfigError if it is not behind a URL, or its login cannot be stored.
            LoginFailed: it could not be completed; LoginTimedOut if that took longer than `timeout` seconds.
            Denied: the person said no, or there is no `ask`.
        """
        from mooring.host.logins import log_in  # lazy: few programs log in

        return await log_in(
            await self._admit(server),
            self._runtime.shared,
            scopes=tuple(scopes),
            client_metadata_url=self.settings["clientMetadataUrl"] or "",
            browser=browser,
            seconds=timeout,
        )

    async def logout(self, server: str) -> LogoutResult:
        """Revoke the login of a server, and remove it. Raises: as `server`; ConfigError."""
        from mooring.host.logins import log_out

        return await log_out(await self._admit(server), self._runtime.shared)

    def forget(self, server: str) -> None:
        """Forget what a server offered: it lists it again, if it is connected now, else when it is.

        Raises: as `server`.
        """
        found = self._runtime.lookup.server(server)
        self._runtime.fleet.forget(found)
        self._runtime.lookup.invalidate(found.name)


class _StandIn:
    """In the place of the parts of a host that isn't open: whatever is asked of them is the same error."""

    def __init__(self, message: str) -> None:
        self._message = message

    def __getattr__(self, name: str) -> NoReturn:
        raise ConfigError(self._message)


def _make_stand_in(message: str) -> HostRuntime:
    return cast(HostRuntime, _StandIn(message))
