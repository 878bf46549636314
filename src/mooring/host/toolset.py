"""The tools of one conversation: a registry made from the host's servers, settings and results."""

from collections.abc import Iterable
from weakref import ref

from mooring.core.limits import UNHURRIED
from mooring.core.question import Ask
from mooring.core.verdict import Mode, Rule
from mooring.host.assembly import Assembly
from mooring.tools.deferral import glob_for_server
from mooring.tools.registry import EventListener, Registry, RegistryOptions
from mooring.tools.results.outcome import Media
from mooring.tools.results.store import ResultStore
from mooring.tools.tool import ModelTool


def make_registry(
    parts: Assembly,
    *,
    ask: Ask | None,
    mode: Mode | None,
    rules: Iterable[Rule],
    context: int,
    takes: Iterable[Media],
    allow: Iterable[str] | None,
    deny: Iterable[str],
    loaded: Iterable[str],
    tokens: int | None,
    lines: int | None,
    more: Iterable[ModelTool],
    tell: EventListener | None,
) -> Registry:
    """See `Host.registry`. Raises: ConfigError if a name is taken."""
    settings = parts.settings
    always_loaded = [glob_for_server(name) for name, server in parts.fleet.servers.items() if server.config.always_load]
    terms = RegistryOptions(
        context=context,
        percent=settings["toolBudget"],
        always=(*always_loaded, *settings["alwaysLoad"]),
        allow=None if allow is None else tuple(allow),
        deny=tuple(deny),
        loaded=tuple(loaded),
        takes=frozenset(takes),
        tokens=tokens or settings["resultTokens"],
        lines=lines,
        patience=settings["backgroundAfter"] or None,
    )
    # A call that may go on in the background is not ended by silence.
    timeout = None if terms.patience is None else UNHURRIED
    permissions = parts.permissions.begin(ask, mode, rules)
    conversation = parts.converse(permissions, ask or parts.shared.ask, timeout)
    registry = Registry(
        conversation,
        parts.lookup.tools,
        ResultStore(parts.results),
        terms,
        more=more,
        tell=tell or _tell_nobody,
        selections=parts.selections,
    )
    parts.registries[registry] = ref(permissions)
    return registry


def _tell_nobody(_: object) -> None:
    return
