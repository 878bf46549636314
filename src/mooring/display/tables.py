"""Servers and tools as a notebook shows them; everything else takes them for what they are, a mapping or a tuple."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from mooring.core.conversation.status import Status, status_error, status_word
from mooring.core.definitions.config import ServerConfig
from mooring.core.protocol.content import make_table
from mooring.display.text import safe, shorten_description


class _ShownTool(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def server(self) -> str: ...

    @property
    def description(self) -> str: ...


class _ShownServer(Protocol):
    @property
    def status(self) -> Status: ...

    @property
    def config(self) -> ServerConfig: ...

    @property
    def origin(self) -> str: ...

    @property
    def tools(self) -> Sequence[Any]: ...


Tool = TypeVar("Tool", bound=_ShownTool)
Server = TypeVar("Server", bound=_ShownServer)


class ToolTable(tuple[Tool, ...]):
    """Tools, each with its server and the first line of its description."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [(safe(tool.name), safe(tool.server), safe(shorten_description(tool.description))) for tool in self]
        return make_table(("tool", "server", "description"), rows)


class ServerTable(dict[str, Server]):
    """Servers by name, each with its status, how many tools it has, and where it comes from."""

    def _repr_html_(self) -> str:
        rows = [(safe(name), *_describe_server(server)) for name, server in sorted(self.items())]
        return make_table(("server", "status", "transport", "tools", "from"), rows)


class StatusTable(dict[str, Status]):
    """The status of each server, and what is wrong with it."""

    def __init__(self, statuses: Mapping[str, Status]) -> None:
        super().__init__(sorted(statuses.items()))

    def _repr_html_(self) -> str:
        rows = [(safe(name), status_word(status), safe(status_error(status) or "")) for name, status in self.items()]
        return make_table(("server", "status", "error"), rows)


def _describe_server(server: _ShownServer) -> tuple[str, ...]:
    status = status_word(server.status)
    return status, server.config.transport, str(len(server.tools)), safe(server.origin)
