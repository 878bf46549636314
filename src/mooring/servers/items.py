"""What servers offer besides tools: resources, patterns of addresses and prompts, each with the server that has it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from msgspec import Struct

from mooring.core.tool import Listing, Prompt, Resource, ResourceTemplate
from mooring.errors import MooringError
from mooring.servers.server import Server
from mooring.wire.session.session import Session

T = TypeVar("T", Resource, ResourceTemplate, Prompt)


class Item(Struct, frozen=True):
    """One resource, template or prompt, and the server that has it."""

    server: str
    item: Resource | ResourceTemplate | Prompt


async def of_one(server: Server, what: str, ask: Callable[[Session], Awaitable[Listing[T]]]) -> list[Item]:
    """What a server lists, which is remembered of it from then on. Raises: ServerError."""
    listing = await server.ask(ask)
    server.offering.learn(**{what: listing})
    return [Item(server.name, item) for item in listing.items]


async def of_all(servers: Iterable[Server], what: str, ask: Callable[[Session], Awaitable[Listing[T]]]) -> list[Item]:
    """What all list that can be reached, asked side by side."""
    found: list[Item] = []
    listed = (of_one(server, what, ask) for server in servers)
    for result in await asyncio.gather(*listed, return_exceptions=True):
        if isinstance(result, BaseException) and not isinstance(result, MooringError):
            raise result
        if not isinstance(result, BaseException):
            found += result
    return found
