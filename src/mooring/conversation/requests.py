"""What is asked of servers besides calls of tools: resources, prompts, completions and their lists.

Each request is judged as a call of Mooring's own tool for it on that server, `ReadMcpResource` of `github` for one. So
the rules about a server, `github.*`, cover all of them, and so do those about the tool, whoever asks: a model, a person
at the command line, or a program.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar

from msgspec import Struct

from mooring.conversation.calls import Calls
from mooring.conversation.lookup import Lookup
from mooring.core.conversation.verdict import ItemState, ProposedCall, Verdict
from mooring.core.definitions.config import describe_origin
from mooring.core.protocol.address import is_expansion
from mooring.core.protocol.era import EraName
from mooring.core.protocol.request_metadata import NO_METADATA, RequestMetadata
from mooring.core.protocol.result import Completion, FilledPrompt, Reading
from mooring.core.protocol.skill import ServerSkill
from mooring.core.protocol.tool import Item, Listing
from mooring.errors import ConfigError, Denied, MooringError, ProtocolError, RpcError
from mooring.permissions.conversation import ConversationPermissions
from mooring.servers.questions import Answerer, Work
from mooring.servers.watch import DEFAULT_INTERVAL, PermittedRead, Watch, Watches, check_interval

if TYPE_CHECKING:
    from mooring.servers.server import Server
    from mooring.wire.session.session import Session

T = TypeVar("T")
ListKind: TypeAlias = Literal["resources", "templates", "prompts"]

_LISTS: "Mapping[ListKind, Callable[[Session], Awaitable[Listing[Any]]]]" = {
    "resources": lambda session: session.list_resources(),
    "templates": lambda session: session.list_templates(),
    "prompts": lambda session: session.list_prompts(),
}

# Every name under which a rule may speak of a request, the one in the log first.
READ: Final = ("ReadMcpResource", "ReadMcpResourceTool")
# Whoever may not read a resource may not have it read again and again.
SUBSCRIBE: Final = ("SubscribeMcpResource", *READ)
POLL: Final = ("SubscribePolling", *READ)
LIST_RESOURCES: Final = ("ListMcpResources", "ListMcpResourcesTool")
LIST_PROMPTS: Final = ("ListMcpPrompts",)
GET_PROMPT: Final = ("GetMcpPrompt",)
# A skill that may not be read is not listed either.
LIST_SKILLS: Final = (*LIST_RESOURCES, *READ)
COMPLETE: Final = ("CompleteMcpArgument",)
_READING_TOOLS = {tools[0]: tools for tools in (READ, SUBSCRIBE, POLL)}
"""The names under which a rule may speak of each of Mooring's tools that read addresses."""


class _PermittedRequest(Struct, frozen=True):
    """Something that was permitted to be asked of a server, once or again and again."""

    server: "Server"
    calls: Sequence[ProposedCall]
    verdict: Verdict
    permissions: ConversationPermissions
    answerer: Answerer

    def check(self) -> None:
        """Check it against what is denied by now. Raises: Denied."""
        self.permissions.recheck(*self.calls)

    async def send(self, ask: "Callable[[Session, Work], Awaitable[T]]", era: EraName | None = None) -> T:
        """Ask the server for somebody of an era, and put it on record. Raises: as `Server.ask`."""
        with self.server.questions.working_for(self.answerer) as work:
            asking = partial(self.server.ask, lambda session: ask(session, work), era=era, work=work)
            return await self.permissions.audit.record_work(self.calls[0], self.verdict, asking)


class Requests:
    """The requests of one conversation besides calls. None of them can skip the gate."""

    def __init__(self, lookup: Lookup, permissions: ConversationPermissions, calls: Calls, watches: Watches) -> None:
        self.calls = calls
        """The calls of tools, which pass the same gate."""
        self._lookup = lookup
        self._permissions = permissions
        self._watches = watches

    def close(self) -> None:
        """Fail whatever waits for a person's answer."""
        self.calls.close()

    def find_server_name(self, name: str) -> str:
        """The real name of a server, ignoring case and following aliases. Raises: as `Host.server`."""
        return self._lookup.server(name).name

    # --- resources and prompts ------------------------------------------------------------------------------------

    async def read(
        self,
        name: str,
        uri: str,
        *,
        linked: bool = False,
        approved: bool = False,
        on_start: Callable[[], None] = lambda: None,
        extras: RequestMetadata = NO_METADATA,
    ) -> Reading:
        """See `Host.read`; `linked` if a result of the conversation named the address."""
        request = await self._permit_address(READ, name, uri, linked, approved)
        on_start()
        return await request.send(
            lambda session, work: session.read_resource(uri, extras=extras, find_answers=work), extras.era
        )

    def judge_reading(self, tool: str, name: str, uri: str, *, linked: bool) -> Verdict:
        """What would become of reading an address, as far as its server's lists are known; nobody is asked.

        Raises: as `Host.server`.
        """
        is_listed = linked or _is_named(self._lookup.server(name), uri)
        proposed = self._propose(_READING_TOOLS[tool], name, {"uri": uri}, "listed" if is_listed else "unlisted")
        return self._permissions.judge(proposed)

    async def get_skill(self, name: str, uri: str) -> ServerSkill:
        """A skill by its address, which is permitted as the reading of a resource is. Raises: as `Host.read`."""
        request = await self._permit_address(READ, name, uri, linked=False, approved=False)
        return await request.send(lambda session, _: session.get_skill(uri))

    async def _permit_watching(
        self, tools: Sequence[str], name: str, uri: str, linked: bool, approved: bool = False
    ) -> PermittedRead:
        """Have the repeated reading of a resource authorized: each is held to the rules that deny something by then.

        Raises: as `Host.read`.
        """
        request = await self._permit_address(tools, name, uri, linked, approved)

        async def read() -> Reading:
            request.check()
            return await request.send(lambda session, work: session.read_resource(uri, find_answers=work))

        return PermittedRead(request.check, read)

    async def prompt(
        self, name: str, prompt: str, arguments: Mapping[str, str] | None = None, extras: RequestMetadata = NO_METADATA
    ) -> FilledPrompt:
        """See `Host.prompt`."""
        request = await self._permit(GET_PROMPT, name, {"name": prompt, "arguments": arguments or {}})
        return await request.send(
            lambda session, work: session.get_prompt(prompt, arguments, extras=extras, find_answers=work), extras.era
        )

    async def complete(
        self,
        name: str,
        ref: Mapping[str, str],
        argument: str,
        value: str,
        context: Mapping[str, str] | None = None,
        extras: RequestMetadata = NO_METADATA,
    ) -> Completion:
        """See `Host.complete`."""
        request = await self._permit(COMPLETE, name, {"ref": ref, "argument": argument, "value": value})
        return await request.send(
            lambda session, _: session.complete(ref, argument, value, context, extras=extras), extras.era
        )

    # --- watching -------------------------------------------------------------------------------------------------

    async def subscribe(
        self,
        server: str,
        uri: str,
        *,
        reason: str = "",
        linked: bool = False,
        approved: bool = False,
        first: bool = False,
        on_start: Callable[[], None] = lambda: None,
    ) -> Watch:
        """See `Host.subscribe`."""
        reading = await self._permit_watching(SUBSCRIBE, server, uri, linked, approved)
        on_start()
        return await self._watches.subscribe(self._lookup.server(server), uri, reading, reason, first=first)

    async def poll(
        self,
        server: str,
        *,
        uri: str | None = None,
        tool: str | None = None,
        arguments: Mapping[str, Any] | None = None,
        interval: float = DEFAULT_INTERVAL,
        reason: str = "",
        linked: bool = False,
        approved: bool = False,
        first: bool = False,
        on_start: Callable[[], None] = lambda: None,
    ) -> Watch:
        """See `Host.poll`."""
        if (uri is None) == (tool is None):
            raise ConfigError("Say what to watch: the URI of a resource, or the name of a tool.")
        check_interval(interval)
        watches = self._watches
        if uri is not None:
            reading = await self._permit_watching(POLL, server, uri, linked, approved)
            on_start()
            found = self._lookup.server(server)
            return await watches.poll(found, uri, "resource", reading.read, interval, reason, first=first)
        assert tool is not None  # one of the two is given
        entry = await self.calls.find((self._lookup.find_name(server), tool))
        call = await self.calls.authorize_polling(entry, arguments, approved)
        on_start()
        found = self._lookup.server(server)
        return await watches.poll(found, entry.tool, "tool", call, interval, reason, first=first)

    async def permit_subscription(self, server: str, uri: str, linked: bool) -> None:
        """Have it authorized that changes of a resource are reported. Raises: as `subscribe`."""
        await self._permit_watching(SUBSCRIBE, server, uri, linked)

    async def unsubscribe(self, id: str | None = None, *, server: str | None = None, target: str | None = None) -> bool:
        """See `Host.unsubscribe`."""
        return await self._watches.end(id=id, server=server, target=target)

    # --- lists ----------------------------------------------------------------------------------------------------

    async def resources(self, server: str | None = None) -> list[Item]:
        """See `Host.resources`."""
        return await self._list_items(server, "resources")

    async def templates(self, server: str | None = None) -> list[Item]:
        """See `Host.templates`."""
        return await self._list_items(server, "templates")

    async def prompts(self, server: str | None = None) -> list[Item]:
        """See `Host.prompts`."""
        return await self._list_items(server, "prompts")

    async def _list_items(self, name: str | None, kind: ListKind) -> list[Item]:
        """The resources, templates or prompts of a server; or of all, leaving out those that fail or are denied.

        A list is never asked about, just as the list of a server's tools is not; but what is denied is not listed.

        Raises: for one, as `Host.server`; Denied; ServerError.
        """
        if name is not None:
            return await self._list_of(name, kind)
        # A list of everything asks nobody for the inputs of a server that they did not name.
        names = [each for each in self._lookup.own_names if not self._lookup.server(each).pending_inputs]
        requests = [self._list_of(each, kind) for each in names]
        found: list[Item] = []
        for outcome in await asyncio.gather(*requests, return_exceptions=True):
            if isinstance(outcome, MooringError):
                continue
            if isinstance(outcome, BaseException):
                raise outcome
            found += outcome
        return found

    async def _list_of(self, name: str, kind: ListKind) -> list[Item]:
        self.check_listing(LIST_PROMPTS if kind == "prompts" else LIST_RESOURCES, name)
        server = self._lookup.server(name)
        listing = server.offering.unite(kind, await server.ask(_LISTS[kind]))
        server.offering.learn(**{kind: listing})
        return [Item(server.name, item) for item in listing.items]

    def check_listing(self, tools: Sequence[str], name: str) -> None:
        """Check whether a list of a server may be asked for. Raises: as `Host.server`; Denied."""
        self._permissions.recheck(*self._propose(tools, name, {}, "listed"))

    async def _is_listed(self, name: str, uri: str) -> bool:
        """Whether a list of the server names an address; it is asked for its lists if those that are known do not."""
        server = self._lookup.server(name)
        if _is_named(server, uri):
            return True
        # A list that is denied, or that the server cannot give, names nothing.
        kinds: tuple[ListKind, ...] = ("resources", "templates")
        for kind in kinds:
            with suppress(Denied, RpcError, ProtocolError):
                await self._list_of(name, kind)
        return _is_named(server, uri)

    # --- permission -----------------------------------------------------------------------------------------------

    async def _permit_address(
        self, tools: Sequence[str], name: str, uri: str, linked: bool, approved: bool
    ) -> _PermittedRequest:
        """Have the reading of an address authorized; one that its server never named is asked about.

        `linked` says that the server named it to whoever wants to read it, in the result of a call.
        """
        arguments = {"uri": uri}
        listed = self._propose(tools, name, arguments, "listed")
        # First: a server that is denied is not asked for its lists either.
        self._permissions.recheck(*listed)
        unlisted = self._propose(tools, name, arguments, "unlisted")
        needs_lists = not linked and self._permissions.allow_unasked(unlisted[0]) is None
        if linked or (needs_lists and await self._is_listed(name, uri)):
            return await self._authorize(listed, approved)
        return await self._authorize(unlisted, approved)

    async def _permit(self, tools: Sequence[str], name: str, arguments: Mapping[str, Any]) -> _PermittedRequest:
        return await self._authorize(self._propose(tools, name, arguments, "listed"))

    async def _authorize(self, calls: Sequence[ProposedCall], approved: bool = False) -> _PermittedRequest:
        verdict = await self.calls.authorize(calls, approved=approved)
        server = self._lookup.server(calls[0].server or "")
        return _PermittedRequest(server, calls, verdict, self._permissions, self.calls.find_answerer())

    def _propose(
        self, tools: Sequence[str], name: str, arguments: Mapping[str, Any], item: ItemState
    ) -> list[ProposedCall]:
        """The request under every name of its server, and of the tool for it. Raises: as `Host.server`."""
        used = self._lookup.find_name(name)
        origin = describe_origin(self._lookup.find_approved(used).config)
        given = {"server": used, **arguments}
        names = (used, *self._lookup.other_names(used))
        pairs = product(names, tools)
        return [ProposedCall(server, tool, given, None, origin, item=item) for server, tool in pairs]


def _is_named(server: "Server", uri: str) -> bool:
    offer = server.offer
    if offer is None:
        return False
    resources = offer.resources.items if offer.resources is not None else ()
    if any(resource.uri == uri for resource in resources):
        return True
    templates = offer.templates.items if offer.templates is not None else ()
    return is_expansion(uri, (template.uri_template for template in templates))
