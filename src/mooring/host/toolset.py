"""One conversation, made from the host's servers, settings and results."""

from collections.abc import Iterable
from typing import TYPE_CHECKING
from weakref import ref

from msgspec import UNSET, UnsetType

from mooring.conversation.conversation import Conversation
from mooring.conversation.deferral import DEFAULT_CONTEXT
from mooring.conversation.events import EventStream, tell_questions
from mooring.conversation.tool import ModelTool
from mooring.conversation.toolbox import ToolOptions
from mooring.core.conversation.question import Ask
from mooring.core.conversation.verdict import Mode, Rule
from mooring.core.protocol.limits import UNHURRIED
from mooring.core.text.glob import literal
from mooring.errors import ConfigError
from mooring.host.runtime import HostRuntime
from mooring.settings import Settings
from mooring.tools.results.deliver import ResultStore

if TYPE_CHECKING:
    from mooring.tools.schema.adapt import Provider


def make_conversation(
    runtime: HostRuntime,
    options: ToolOptions,
    *,
    ask: Ask | None,
    mode: Mode | None,
    rules: Iterable[Rule],
    part_of: Conversation | None,
    guests: Iterable[str],
    more: Iterable[ModelTool],
    stream: EventStream,
) -> Conversation:
    """See `Host.conversation`. Raises: ConfigError if a name is taken."""
    if ask is None and runtime.shared.ask is not None:
        ask = tell_questions(stream, runtime.shared.ask)
    # A part of a conversation has its rules and its answers, with an `ask` of its own.
    above = None if part_of is None else runtime.conversations[part_of]()
    permissions = runtime.permissions.begin(ask, mode, rules) if above is None else above.share(ask, rules)
    # A call that may go on in the background is not ended by silence.
    timeout = None if options.background_after is None else UNHURRIED
    lookup, brought = runtime.lookup, frozenset(guests)
    conversation = Conversation(
        runtime.make_requests(permissions, ask, timeout),
        lookup,
        runtime.feed.listen,
        runtime.guests.list_visible(lambda: lookup.tools, brought),
        ResultStore(runtime.results),
        options,
        more=more,
        stream=stream,
        selections=runtime.selections,
        is_hidden=lambda server: runtime.guests.is_hidden(server, brought),
    )
    runtime.conversations[conversation] = ref(permissions)
    if options.follow:
        runtime.fleet.seek_missing()
    return conversation


def list_always_loaded(runtime: HostRuntime) -> list[str]:
    """Globs over the tools that are always shown, by the servers' entries or by the settings."""
    servers = runtime.fleet.servers.items()
    whole = [f"{literal(name)}.*" for name, server in servers if server.config.always_load]
    return [*whole, *runtime.settings["alwaysLoad"]]


def check_provider(provider: "Provider | None") -> "Provider | None":
    """The same provider. Raises: ConfigError if there is none of that name."""
    if provider is None:
        return None
    from mooring.tools.schema.adapt import PROVIDERS  # few conversations name one

    if provider not in PROVIDERS:
        raise ConfigError(f"{provider!r} is no provider. Use one of {', '.join(PROVIDERS)}.")
    return provider


def find_budget(budget: int | UnsetType | None, settings: Settings, own: bool) -> int | None:
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


def find_background_after(seconds: float | UnsetType | None, settings: Settings, options: ToolOptions) -> float | None:
    """After how many seconds a call continues in the background; `None` if it never does."""
    if seconds is not UNSET:
        return seconds
    # Without this tool a model has none to fetch the result with.
    return (settings["backgroundAfter"] or None) if options.has_builtin("ToolResult") else None
