"""A host as the tools of one conversation know it."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from mooring.core.limits import UNHURRIED
from mooring.core.result import Progress, Result
from mooring.tools.catalog.catalog import CatalogEntry
from mooring.tools.tool import ToolHost


class Conversation:
    """All of the host that tools need. A call that can be left to itself is not ended for being silent."""

    def __init__(self, host: ToolHost, call: Callable[..., Coroutine[Any, Any, Result]]) -> None:
        """`call` is the host's, which takes more than tools need to know of."""
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
