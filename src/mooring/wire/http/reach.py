"""What an address leads to: the whole world, a private network, or this machine; and connections that know it first.

Names are resolved once and their addresses are checked where a connection is made, so that a name that is given another
address in between leads nowhere else.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from aiohttp.abc import AbstractResolver

IpAddress: TypeAlias = IPv4Address | IPv6Address
AddressKind: TypeAlias = Literal["global", "private", "link-local", "loopback"]
FoundAddresses: TypeAlias = list[tuple[int, str]]
"""Families and addresses, as the system has them."""

_NAT64 = "64:ff9b::/96"


async def look_up_addresses(host: str) -> FoundAddresses:
    """The addresses of a name. Raises: OSError."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [(int(family), str(address[0])) for family, _, _, _, address in found]


def make_resolver(resolve: Callable[[str], Awaitable[FoundAddresses]]) -> "AbstractResolver":
    """aiohttp's view of a function that knows the addresses of names."""
    from aiohttp.abc import AbstractResolver, ResolveResult

    class Resolver(AbstractResolver):
        async def resolve(self, host: str, port: int = 0, family: int = socket.AF_UNSPEC) -> list[ResolveResult]:
            found = [entry for entry in await resolve(host) if family in (socket.AF_UNSPEC, entry[0])]
            if not found:
                raise OSError(f"{host} has no address")
            return [
                ResolveResult(hostname=host, host=address, port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST)
                for kind, address in found
            ]

        async def close(self) -> None:
            return

    return Resolver()


def parse_ip(address: str) -> IpAddress:
    """An address as what it really leads to. Raises: ValueError."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address):
        # Each of these is another way to write an address of version 4.
        return found.ipv4_mapped or found.sixtofour or _read_nat64(found) or found
    return found


def _read_nat64(address: IPv6Address) -> IPv4Address | None:
    from ipaddress import ip_network

    return IPv4Address(address.packed[-4:]) if address in ip_network(_NAT64) else None


def find_address_kind(address: IpAddress) -> AddressKind:
    """Who can be there."""
    if address.is_loopback or address.is_unspecified:
        return "loopback"
    # The metadata services of clouds are here, which give out keys to whoever asks.
    if address.is_link_local:
        return "link-local"
    return "global" if address.is_global and not address.is_multicast else "private"
