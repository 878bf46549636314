"""One conversation, made from the host's servers, settings and results."""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from weakref import ref

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from mooring.conversation.conversation import Conversation
from mooring.conversation.deferral import DEFAULT_CONTEXT, glob_for_server
from mooring.conversation.events import EventStream, tell_questions
from mooring.conversation.options import ToolOptions
from mooring.conversation.scope import ToolScope
from mooring.conversation.tool import ModelTool
from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import Mode, Rule
from mooring.core.definitions.config import Origin
from mooring.core.protocol.limits import UNHURRIED
from mooring.errors import ConfigError
from mooring.host.runtime import HostRuntime
from mooring.permissions.conversation import ConversationPermissions
from mooring.settings import Settings
from mooring.tools.results.deliver import ResultStore
from mooring.tools.results.outcome import Media

if TYPE_CHECKING:
    from mooring.tools.schema.adapt import Provider


def make_conversation(
    runtime: HostRuntime,
    *,
    ask: Ask | None,
    mode: Mode | None,
    rules: Iterable[Rule],
    part_of: Conversation | None,
    guests: Iterable[str],
    own: bool,
    provider: "Provider | None",
    budget: int | UnsetType | None,
    always: Iterable[str],
    allow: Iterable[str] | None,
    deny: Iterable[str],
    within: ToolScope | None,
    loaded: Iterable[str],
    follow: bool,
    takes: Iterable[Media],
    tokens: int | None,
    lines: int | None,
    background_after: float | UnsetType | None,
    more: Iterable[ModelTool],
    stream: EventStream,
) -> Conversation:
    """See `Host.conversation`. Raises: ConfigError if an option is invalid, or a name is taken."""
    settings = runtime.settings
    options = ToolOptions(
        own=own,
        provider=_check_provider(provider),
        budget=_find_budget(budget, settings, own),
        always=(*_list_always_loaded(runtime), *always),
        allow=None if allow is None else tuple(allow),
        deny=tuple(deny),
        within=within,
        loaded=tuple(loaded),
        follow=follow,
        takes=frozenset(takes),
        tokens=tokens or settings["resultTokens"],
        lines=lines,
        background_after=None,
    )
    options = replace(options, background_after=_find_background_after(background_after, settings, options))
    if ask is None and runtime.shared.ask is not None:
        ask = tell_questions(stream, runtime.shared.ask)
    permissions = _share_permissions(runtime, part_of, ask, rules) or runtime.permissions.begin(ask, mode, rules)
    return _open_conversation(runtime, permissions, ask, options, frozenset(guests), more, stream)


def _share_permissions(
    runtime: HostRuntime, part_of: Conversation | None, ask: Ask | None, rules: Iterable[Rule]
) -> ConversationPermissions | None:
    """The permissions of a part of a conversation: its rules and its answers, with an `ask` of their own."""
    permissions = None if part_of is None else runtime.conversations[part_of]()
    return None if permissions is None else permissions.share(ask, rules)


def _open_conversation(
    runtime: HostRuntime,
    permissions: ConversationPermissions,
    ask: Ask | None,
    options: ToolOptions,
    guests: frozenset[str],
    more: Iterable[ModelTool],
    stream: EventStream,
) -> Conversation:
    # A call that may go on in the background is not ended by silence.
    timeout = None if options.background_after is None else UNHURRIED
    lookup = runtime.lookup
    conversation = Conversation(
        runtime.make_requests(permissions, ask, timeout),
        lookup,
        runtime.feed.listen,
        runtime.guests.list_visible(lambda: lookup.tools, guests),
        ResultStore(runtime.results),
        options,
        more=more,
        stream=stream,
        selections=runtime.selections,
        is_hidden=lambda server: runtime.guests.is_hidden(server, guests),
    )
    runtime.conversations[conversation] = ref(permissions)
    if options.follow:
        runtime.fleet.seek_missing()
    return conversation


def _list_always_loaded(runtime: HostRuntime) -> list[str]:
    """Globs over the tools that are always shown, by the servers' entries or by the settings."""
    servers = runtime.fleet.servers.items()
    whole = [glob_for_server(name) for name, server in servers if server.config.always_load]
    return [*whole, *runtime.settings["alwaysLoad"]]


def _check_provider(provider: "Provider | None") -> "Provider | None":
    """The same provider. Raises: ConfigError if there is none of that name."""
    if provider is None:
        return None
    from mooring.tools.schema.adapt import PROVIDERS  # few conversations name one

    if provider not in PROVIDERS:
        raise ConfigError(f"{provider!r} is no provider. Use one of {', '.join(PROVIDERS)}.")
    return provider


def _find_budget(budget: int | UnsetType | None, settings: Settings, own: bool) -> int | None:
    """How many tokens tools may take; `None` for any number."""
    if not own:
        if budget is not UNSET and budget is not None:
            raise ConfigError("With own=False there is no ToolSearch to find tools with. Leave budget out.")
        return None
    if budget is UNSET:
        percent: float = settings["toolBudget"]
        return round(DEFAULT_CONTEXT * percent / 100)
    if budget is not None and budget < 0:
        raise ConfigError(f"budget is {budget}. Use a number of tokens from 0 on, or None for any number.")
    return budget


def _find_background_after(seconds: float | UnsetType | None, settings: Settings, options: ToolOptions) -> float | None:
    """After how many seconds a call continues in the background; `None` if it never does."""
    if seconds is not UNSET:
        return seconds
    # Without this tool a model has none to fetch the result with.
    return (settings["backgroundAfter"] or None) if options.has_builtin("ToolResult") else None


def begin_stream(runtime: HostRuntime, session: str | None, turn: int) -> EventStream:
    """See `Host.begin_stream`."""
    lookup = runtime.lookup

    def find_origin(server: str) -> Origin | None:
        found = lookup.servers.get(server)
        return None if found is None else found.config.origin

    return EventStream(session, turn=turn, find_origin=find_origin)
