"""The tools of one conversation: a registry made from the host's servers, settings and results."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeAlias

from mooring.core.limits import UNHURRIED
from mooring.core.result import Progress, Result
from mooring.host.assembly import Assembly
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.deferral import glob_for_server
from mooring.tools.registry import EventListener, Registry, RegistryOptions
from mooring.tools.results.outcome import Media
from mooring.tools.results.store import ResultStore
from mooring.tools.tool import ModelTool, ToolHost

HostCall: TypeAlias = Callable[..., Coroutine[Any, Any, Result]]
"""`Host.call`, which takes more than `ToolHost.call` does."""


def make_registry(
    host: ToolHost,
    call: HostCall,
    parts: Assembly,
    *,
    context: int,
    takes: Iterable[Media],
    allow: Iterable[str] | None,
    deny: Iterable[str],
    loaded: Iterable[str],
    tokens: int | None,
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
        patience=settings["backgroundAfter"] or None,
    )
    owner: ToolHost = host if terms.patience is None else PatientHost(host, call)
    registry = Registry(
        owner,
        parts.lookup.tools,
        ResultStore(parts.results),
        terms,
        more=more,
        tell=tell or _tell_nobody,
        meaning=parts.load_meaning(),
    )
    parts.registries.add(registry)
    return registry


def _tell_nobody(_: object) -> None:
    return


class PatientHost:
    """A host for tools whose calls may go on in the background: silence doesn't end them."""

    def __init__(self, host: ToolHost, call: HostCall) -> None:
        self._call = call
        self.own, self.server, self.origin, self.events = host.own, host.server, host.origin, host.events
        self.resources, self.read = host.resources, host.read
        self.subscribe, self.poll, self.unsubscribe = host.subscribe, host.poll, host.unsubscribe

    def call(
        self,
        name: CatalogEntry,
        arguments: Mapping[str, Any],
        *,
        on_start: Callable[[], None],
        on_progress: Callable[[Progress], None],
    ) -> Coroutine[Any, Any, Result]:
        return self._call(name, arguments, timeout=UNHURRIED, on_start=on_start, on_progress=on_progress)
