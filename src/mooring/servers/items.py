"""What servers offer besides tools: resources, resource templates and prompts, each with the server that has it."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import Struct

from mooring.core.protocol.tool import Listing, Prompt, Resource, ResourceTemplate
from mooring.servers.server import Server
from mooring.wire.session.session import Session

T = TypeVar("T", Resource, ResourceTemplate, Prompt)


class Item(Struct, frozen=True):
    """One resource, template or prompt, and the server that has it."""

    server: str
    item: Resource | ResourceTemplate | Prompt


async def list_server_items(server: Server, kind: str, fetch: Callable[[Session], Awaitable[Listing[T]]]) -> list[Item]:
    """Have a server list one kind of item, and remember the list. Raises: ServerError."""
    listing = server.offering.unite(kind, await server.ask(fetch))
    server.offering.learn(**{kind: listing})
    return [Item(server.name, item) for item in listing.items]
