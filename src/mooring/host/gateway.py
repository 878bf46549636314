"""All servers of a host as one client sees them: the upstream of `mooring.serve`.

The servers are everybody's. The questions, answers, rules, subscriptions and log messages of a client are its own.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from secrets import token_bytes
from typing import Any, Final, TypeVar

from msgspec import Raw, UnsetType, json
from msgspec.structs import replace

from mooring.conversation.requests import Requests
from mooring.core.conversation.host_event import HostEvent, ListChanged, Reloaded, StatusChanged, ToolsChanged
from mooring.core.conversation.question import Ask
from mooring.core.conversation.status import Connected, NeedsAuth
from mooring.core.protocol.era import EraName
from mooring.core.protocol.request_metadata import RequestMetadata, make_passed_extras
from mooring.core.protocol.result import Progress, Result, TaskState
from mooring.core.protocol.tool import Execution, Item, Listing, Pair, Prompt, Resource, ResourceTemplate, Tool
from mooring.display.text import safe
from mooring.errors import Denied, MooringError, NeedsLogin, RpcError, UnknownTool
from mooring.host.client_logins import LOG_IN, ClientLogins, find_login_error, make_login_result, make_login_tool
from mooring.host.exposed_names import NameStyle, ShownAddresses, name_pairs, qualify_address
from mooring.host.first_starts import LATELY
from mooring.host.host import Host
from mooring.host.instructions import join_instructions
from mooring.host.links import FoundAddress, ServedLinks
from mooring.host.options import Policy, find_mode
from mooring.host.runtime import HostRuntime
from mooring.host.search_tools import CALL, SEARCH, describe_found, make_search_tools, read_call, read_search
from mooring.serve.upstream import ClientSide, LogListener, RequestTerms
from mooring.servers.questions import Answerer
from mooring.servers.server import Server
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.catalog.names import name_tools
from mooring.wire.rpc.message import INVALID_PARAMS
from mooring.wire.session.client import TASKS, ListName, task_listener

T = TypeVar("T")

PATIENCE: Final = 10.0
"""How many seconds a list of resources or prompts, or a login, waits for servers."""
SHORT_PATIENCE: Final = 3.0
"""The same for the instructions of the only server, which the client gets with its first answer or never."""
_MAY_BE_TASK: Final = Execution("optional")
RESOURCE_NOT_FOUND: Final = -32002
"""The code of the handshake era."""


def open_client(
    host: Host,
    client: ClientSide,
    *,
    policy: Policy | None = None,
    names: NameStyle = "full",
    search: bool = False,
    browser: bool = True,
    seal_key: bytes | None = None,
    on_failure: Callable[[MooringError], object] = lambda error: None,
) -> "GatewayClient":
    """All servers of a host as one MCP client sees them, with permissions of its own as in `Host.conversation`; to be
    closed.

    With `search`, it is shown a tool to find tools and one to call them, instead of all. Without a `browser` that can
    come back to this machine, a login prefers a code for another device. `seal_key` seals links for clients of the
    stateless era: those with the same key can use them after a restart too. `on_failure` gets why a call failed or was
    refused: what the client is told of it has no advice for a person.
    """
    # Not a method of the host: programs that only use servers need not know of clients.
    runtime = host._runtime
    permissions = runtime.permissions.begin(client.ask, find_mode(policy), ())

    def find_answerer() -> Answerer:
        """Who answers servers in the course of the current request."""
        return Answerer(client.find_asker(), client.find_roots())

    requests = runtime.make_requests(permissions, client.ask, find_answerer=find_answerer)
    links = ServedLinks((seal_key or token_bytes()) if client.era == "stateless" else None)
    return GatewayClient(
        runtime, client, requests, links, names=names, search=search, browser=browser, on_failure=on_failure
    )


class GatewayClient:
    """The servers behind one client. `mooring.serve.upstream.Upstream` explains what each method does."""

    def __init__(
        self,
        runtime: HostRuntime,
        client: ClientSide,
        requests: Requests,
        links: ServedLinks,
        *,
        names: NameStyle,
        search: bool = False,
        browser: bool = True,
        on_failure: Callable[[MooringError], object] = lambda error: None,
    ) -> None:
        """With `search`, the client is shown two tools instead of all: see `search_tools`."""
        self._runtime = runtime
        self._client = client
        self._names: NameStyle = names
        self._is_searching = search
        self._requests = requests
        self._logins = ClientLogins(runtime, client, browser=browser)
        self._shown_logins: frozenset[str] = frozenset()
        """The tools that log in, as they were last listed."""
        self._links = links
        self._on_failure = on_failure
        self._tools: dict[str, CatalogEntry] = {}
        self._tools_version: object = None
        self._prompts: dict[str, Pair] = {}
        self._resources: ShownAddresses | None = None
        """As they were last listed; `None` before, and once they have changed."""
        self._templates: ShownAddresses | None = None
        self._subscribed: dict[str, Callable[[], None]] = {}
        runtime.meet_client(client.era)
        runtime.fleet.seek_missing()
        self._follower = asyncio.get_running_loop().create_task(self._follow(), name="mooring client")

    async def close(self) -> None:
        self._follower.cancel()
        for release in self._subscribed.values():
            release()
        self._subscribed.clear()
        self._close_conversation()
        await self._logins.close()
        await asyncio.wait({self._follower})

    def _close_conversation(self) -> None:
        self._requests.close()

    async def find_instructions(self) -> str:
        servers = self._servers
        if len(servers) == 1:
            await self._runtime.fleet.ready(servers, SHORT_PATIENCE, trusted=LATELY, era=self._client.era)
        known = {server.name: server.instructions for server in servers if self._may_tell(server)}
        if len(servers) == 1 and self._names == "raw":
            # Then this stands for that one server, in all that it says.
            return "".join(known.values())
        return join_instructions(known)

    def _may_tell(self, server: Server) -> bool:
        """Whether a server says something about how to use it, and all that it offers is what was approved."""
        said, pins = server.instructions, self._runtime.permissions.pins
        return bool(said.strip()) and not pins.find_held(server.approved, server.tools, said)

    @property
    def _servers(self) -> list[Server]:
        lookup = self._runtime.lookup
        return [lookup.server(name) for name in lookup.own_names]

    # --- tools ----------------------------------------------------------------------------------------------------

    async def list_tools(self) -> Sequence[Tool]:
        if self._is_searching:
            return make_search_tools(", ".join(map(safe, self._runtime.lookup.own_names)))
        await self._wait_for_tools()
        shown, logins = self._find_tools(), self._find_logins()
        self._shown_logins = frozenset(logins)
        return [
            *(
                replace(entry.definition, name=name, execution=self._find_execution(entry))
                for name, entry in shown.items()
            ),
            *(make_login_tool(name, server) for name, server in logins.items()),
        ]

    async def runs_tasks(self, name: str) -> bool:
        # What stands for other tools, or for a server without any, is never a task itself.
        if self._is_searching or name in self._find_logins():
            return False
        return self._find_execution(await self._find_tool(name)) is not None

    def _find_execution(self, entry: CatalogEntry) -> Execution | None:
        """Whether a client may call a tool as a task. None has to: what must be a task is waited for otherwise."""
        return _MAY_BE_TASK if _makes_tasks(self._runtime.lookup.server(entry.server), entry.definition) else None

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any], *, terms: RequestTerms, on_progress: Callable[[Progress], None]
    ) -> Raw:
        if self._is_searching and name == SEARCH:
            return await self._search(arguments)
        if self._is_searching and name == CALL:
            name, arguments = read_call(arguments)
        if name not in self._find_tools() and (server := self._find_logins().get(name)) is not None:
            return await self._log_in(server)
        entry = await self._find_tool(name)
        if terms.on_task is not None:
            _listen_to_tasks(self._runtime.lookup.server(entry.server), terms.on_task)
        try:
            result = await self._call(entry, arguments, self._make_extras(terms), on_progress)
        except MooringError as error:
            self._on_failure(error)
            raise
        return self._links.show_result(entry.server, result, _read_raw(result))

    async def _call(
        self,
        entry: CatalogEntry,
        arguments: Mapping[str, Any],
        extras: RequestMetadata,
        on_progress: Callable[[Progress], None],
    ) -> Result:
        calls = self._requests.calls
        return await self._with_login(
            entry.server, lambda approved: calls.call(entry, arguments, None, on_progress, None, approved, extras)
        )

    async def _find_tool(self, name: str) -> CatalogEntry:
        entry = self._find_tools().get(name)
        if entry is None:
            await self._wait_for_tools()
            entry = self._find_tools().get(name)
        if entry is None:
            raise UnknownTool("Mooring", name)
        return entry

    async def _search(self, arguments: Mapping[str, Any]) -> Raw:
        """Find tools by what they do: judged and logged as the tool of that name is everywhere."""
        query, limit = read_search(arguments)

        async def search() -> Result:
            await self._wait_for_tools()
            names = {(entry.server, entry.tool): name for name, entry in self._find_tools().items()}
            found = self._runtime.lookup.catalog.search(query, limit)
            return describe_found({names[entry.server, entry.tool]: entry for entry in found})

        return _read_raw(await self._requests.calls.call_own_tool(SEARCH, arguments, search))

    async def _wait_for_tools(self) -> None:
        """Wait for servers whose tools are unknown: many clients ask for the list only once."""
        seconds: float = self._runtime.settings["serverWait"]
        await self._runtime.fleet.ready(self._servers, seconds, trusted=LATELY, era=self._client.era)

    def _find_tools(self) -> dict[str, CatalogEntry]:
        """The tools by the names that this client is shown."""
        version = self._runtime.lookup.catalog.version
        if version is not self._tools_version:
            entries = {(entry.server, entry.tool): entry for entry in self._list_entries()}
            full = {pair: entry.name for pair, entry in entries.items()}
            shown = name_pairs(list(entries), full, self._names)
            self._tools = {name: entries[pair] for name, pair in shown.items()}
            self._tools_version = version
        return self._tools

    def _list_entries(self) -> Iterable[CatalogEntry]:
        """The tools of all servers that this client is shown."""
        return self._runtime.lookup.tools

    # --- resources ------------------------------------------------------------------------------------------------

    async def list_resources(self) -> Sequence[Resource]:
        items = await self._list_everywhere("resources", self._requests.resources)
        listed = self._resources = ShownAddresses([(item.server, item.item.uri) for item in items])
        return [replace(item.item, uri=uri) for uri, item in zip(listed.shown, items, strict=True)]

    async def list_templates(self) -> Sequence[ResourceTemplate]:
        items = await self._list_everywhere("templates", self._requests.templates)
        listed = self._templates = ShownAddresses([(item.server, item.item.uri_template) for item in items])
        return [replace(item.item, uri_template=uri) for uri, item in zip(listed.shown, items, strict=True)]

    async def read_resource(self, uri: str, terms: RequestTerms) -> Raw:
        found = await self._find_address(uri)
        read, extras = self._requests.read, self._make_extras(terms)
        reading = await self._with_login(
            found.server,
            lambda approved: read(found.server, found.uri, linked=found.is_linked, approved=approved, extras=extras),
        )
        return _require_raw(reading.raw)

    async def subscribe(self, uri: str) -> None:
        if uri in self._subscribed:
            return
        found = await self._find_address(uri)
        await self._requests.permit_subscription(found.server, found.uri, found.is_linked)
        report = self._client.on_updated
        is_plain = uri == found.uri

        def report_changed(changed: str) -> None:
            # Behind an address of ours, a part that changed has none that the client knows.
            report(changed if is_plain else uri)

        server = self._runtime.lookup.server(found.server)
        release = await self._runtime.subscriptions.add(server, found.uri, report_changed, self._era)
        if uri in self._subscribed:
            # The client asked twice at the same time.
            release()
        else:
            self._subscribed[uri] = release

    async def unsubscribe(self, uri: str) -> None:
        release = self._subscribed.pop(uri, None)
        if release is not None:
            release()

    async def _find_address(self, uri: str) -> FoundAddress:
        """The server that has a resource. Raises: RpcError if no server has it, or more than one."""
        names = self._runtime.lookup.own_names
        if found := self._links.find(uri, names):
            return found
        if len(names) == 1:
            return FoundAddress(names[0], uri, self._links.has(names[0], uri))
        server = self._find_listed(uri)
        if server is None:
            await asyncio.gather(self.list_resources(), self.list_templates())
            server = self._find_listed(uri)
        if server is None:
            raise RpcError("mooring", RESOURCE_NOT_FOUND, f"Resource not found: {uri}", {"uri": uri})
        return FoundAddress(server, uri, self._links.has(server, uri))

    def _find_listed(self, uri: str) -> str | None:
        """The server that lists an address, or has a template for it, as far as lists are known. Raises: RpcError."""
        if self._resources is None:
            return None
        # A listed address wins: a template can be written so that it covers what other servers have.
        if servers := self._resources.find_servers(uri):
            return _require_one(servers, uri)
        if self._templates is None:
            return None
        servers = self._templates.match_templates(uri)
        return _require_one(servers, uri) if servers else None

    # --- prompts --------------------------------------------------------------------------------------------------

    async def list_prompts(self) -> Sequence[Prompt]:
        items = await self._list_everywhere("prompts", self._requests.prompts)
        pairs = [(item.server, item.item.name) for item in items]
        self._prompts = name_pairs(pairs, name_tools(pairs), self._names)
        by_pair = {(item.server, item.item.name): item.item for item in items}
        return [replace(by_pair[pair], name=name) for name, pair in self._prompts.items()]

    async def get_prompt(self, name: str, arguments: Mapping[str, str], terms: RequestTerms) -> Raw:
        server, prompt = await self._find_prompt(name)
        extras = self._make_extras(terms)
        filled = await self._with_login(server, lambda _: self._requests.prompt(server, prompt, arguments, extras))
        return self._links.show_prompt(server, filled, _require_raw(filled.raw))

    async def _find_prompt(self, name: str) -> Pair:
        if name not in self._prompts:
            await self.list_prompts()
        found = self._prompts.get(name)
        if found is None:
            raise RpcError("mooring", INVALID_PARAMS, f"Unknown prompt: {name}")
        return found

    async def complete(
        self, ref: Mapping[str, str], argument: str, value: str, context: Mapping[str, str] | None, terms: RequestTerms
    ) -> Raw:
        if ref.get("type") == "ref/prompt":
            server, prompt = await self._find_prompt(ref.get("name", ""))
            ref = {**ref, "name": prompt}
        else:
            found = await self._find_template(ref.get("uri", ""))
            server, ref = found.server, {**ref, "uri": found.uri}
        completed = await self._requests.complete(server, ref, argument, value, context, self._make_extras(terms))
        return _require_raw(completed.raw)

    async def _find_template(self, uri: str) -> FoundAddress:
        if self._templates is None:
            await self.list_templates()
        servers = self._templates.find_servers(uri) if self._templates is not None else []
        return FoundAddress(_require_one(servers, uri), uri) if servers else await self._find_address(uri)

    # --- logins ---------------------------------------------------------------------------------------------------

    async def _with_login(self, server: str, work: Callable[[bool], Awaitable[T]]) -> T:
        """Do something, and again once the person has logged in, if the server demands that.

        `work` is told whether it was approved before: nobody is asked twice about one request.

        Raises: what it raises, and what `ClientLogins.log_in` raises.
        """
        try:
            return await work(False)
        except NeedsLogin as error:
            # Nothing was done: a server demands a login before it looks at a request.
            await self._logins.log_in(self._runtime.lookup.server(server), error)
        return await work(True)

    def _find_logins(self) -> dict[str, Server]:
        """The servers that show nothing before a login, by the name of the tool that stands for each."""
        waiting = {(server.name, LOG_IN): server for server in self._servers if find_login_error(server)}
        names = name_tools(waiting)
        return {names[pair]: server for pair, server in waiting.items()}

    async def _log_in(self, server: Server) -> Raw:
        """Log in because the client called the tool for it."""

        async def work() -> Result:
            if (error := find_login_error(server)) is not None:
                await self._logins.log_in(server, error)
            await self._runtime.fleet.ready([server], PATIENCE)
            return make_login_result(server)

        return _read_raw(await self._requests.calls.do_for_server(server, LOG_IN, work))

    @property
    def _era(self) -> EraName | None:
        """The era in which the client is passed on to servers that speak both; `None` if it is to be any."""
        return self._client.era

    def _make_extras(self, terms: RequestTerms) -> RequestMetadata:
        return make_passed_extras(terms.meta, terms.capabilities, self._era)

    # --- what happens unasked -------------------------------------------------------------------------------------

    async def follow_logs(self, asker: Ask, level: str, listener: LogListener) -> None:
        routes = self._runtime.shared.log_routes
        before = routes.level
        routes.add(asker, level, listener)
        if routes.level != before:
            await asyncio.gather(*(_set_level(server) for server in self._servers))

    def unfollow_logs(self, asker: Ask) -> None:
        self._runtime.shared.log_routes.remove(asker)

    async def _follow(self) -> None:
        """Tell the client what changed, for as long as it is there."""
        async for event in self._runtime.feed.listen():
            if not self._concerns(event):
                continue
            for kind in _find_changed_lists(event):
                if kind == "resources":
                    self._resources = self._templates = None
                self._client.on_list_changed(kind)
            if isinstance(event, StatusChanged) and isinstance(event.status, NeedsAuth | Connected):
                self._announce_logins()
            if isinstance(event, StatusChanged) and isinstance(event.status, Connected):
                with suppress(MooringError):
                    await _set_level(self._runtime.lookup.server(event.server))

    def _concerns(self, event: HostEvent) -> bool:
        """Whether an event is about anything that this client is shown."""
        return True

    def _announce_logins(self) -> None:
        # Only what is news: each list tries to connect such servers again, which must not lead to another list.
        if not self._is_searching and self._shown_logins != frozenset(self._find_logins()):
            self._client.on_list_changed("tools")

    async def _list_everywhere(self, kind: str, fetch: Callable[[str], Awaitable[list[Item]]]) -> list[Any]:
        """What all servers list; one that fails, or takes too long, costs only its own."""
        servers = sorted(self._servers, key=lambda server: server.name)
        tasks = [asyncio.ensure_future(self._list_one(server, kind, fetch)) for server in servers]
        if not tasks:
            return []
        try:
            await asyncio.wait(tasks, timeout=PATIENCE)
        finally:
            for task in tasks:
                task.cancel()
        found: list[Any] = []
        for server, task in zip(servers, tasks, strict=True):
            has_listed = task.done() and not task.cancelled()
            # What a server has listed before stays its own: others must not get it because it takes too long.
            found += task.result() if has_listed else _recall_list(server, kind)
        return found

    async def _list_one(
        self, server: Server, kind: str, fetch: Callable[[str], Awaitable[list[Item]]]
    ) -> Sequence[Item]:
        # A server that is not connected is not started for a list alone.
        known = None if server.is_connected else _find_known_list(server, kind)
        if known is not None:
            return known
        try:
            return await fetch(server.name)
        except Denied:
            return []
        except MooringError:
            return _recall_list(server, kind)


def _find_known_list(server: Server, kind: str) -> Sequence[Item] | None:
    """What a server is known to list; `None` if nothing is known."""
    offer = server.offer
    if offer is None:
        return None
    if not offer.hello.offers("prompts" if kind == "prompts" else "resources"):
        return ()
    listing: Listing[Any] | None = getattr(offer, kind)
    return None if listing is None else [Item(server.name, item) for item in listing.items]


def _recall_list(server: Server, kind: str) -> Sequence[Item]:
    return _find_known_list(server, kind) or ()


def _require_one(servers: Sequence[str], uri: str) -> str:
    """Raises: RpcError if there are several: which of them is meant, nobody can tell."""
    if len(servers) == 1:
        return servers[0]
    names = ", ".join(map(safe, servers))
    addresses = [qualify_address(server, uri) for server in servers]
    message = f"More than one server has {safe(uri)}: {names}. Read one of: {' '.join(map(safe, addresses))}"
    raise RpcError("mooring", INVALID_PARAMS, message, {"uri": uri, "addresses": addresses})


def _find_changed_lists(event: HostEvent) -> tuple[ListName, ...]:
    match event:
        case ToolsChanged():
            return ("tools",)
        case ListChanged(what=what):
            return (what,)
        case Reloaded():
            return ("tools", "resources", "prompts")
        case _:
            return ()


async def _set_level(server: Server) -> None:
    # What one server makes of a level is of no concern to the others.
    with suppress(MooringError):
        await server.set_log_level()


def _read_raw(result: Result) -> Raw:
    """A result as the protocol has it: as its server sent it, if a server did."""
    if result.raw:
        return result.raw
    # One of Mooring's own tools: nothing but text.
    return Raw(json.encode({"content": result.content, "isError": result.is_error}))


def _require_raw(raw: Raw | UnsetType) -> Raw:
    assert raw, "what a session reads has the answer it was read from"
    return raw


def _makes_tasks(server: Server, tool: Tool) -> bool:
    """Whether a server can make a task of a call, as far as is known."""
    if server.offer is None:
        return False
    hello = server.offer.hello
    if hello.offers("extensions", TASKS):
        # It decides with each call, and says nothing about it beforehand.
        return True
    is_possible = tool.execution is not None and tool.execution.task_support != "forbidden"
    return is_possible and hello.offers("tasks", "requests", "tools", "call")


def _listen_to_tasks(server: Server, listener: Callable[[TaskState], None]) -> None:
    """Have what a server says of its tasks passed on, as far as they belong to calls of the current task."""

    def listen(state: TaskState) -> None:
        listener(replace(state, message=server.redact(state.message) if state.message else None))

    task_listener.set(listen)
