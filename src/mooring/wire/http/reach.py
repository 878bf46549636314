"""What an address leads to: the whole world, a private network, or this machine; and who may go where."""

import asyncio
import socket
from collections.abc import Callable, Collection
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

IpAddress: TypeAlias = IPv4Address | IPv6Address
AddressKind: TypeAlias = Literal["global", "private", "link-local", "loopback"]
FoundAddresses: TypeAlias = list[tuple[int, str]]
"""Families and addresses, as the system has them."""
ANYWHERE: frozenset[AddressKind] = frozenset({"global", "private", "link-local", "loopback"})

_NAT64 = "64:ff9b::/96"


class OutOfReach(OSError):
    """An address that must not be contacted, in words for whoever wanted to."""


class NetworkReach:
    """Which addresses a fetch may contact, whatever names lead there.

    Each name is resolved once, and its addresses are checked where a connection is made: a name that is given another
    address in between leads nowhere else.
    """

    def __init__(self, allowed: Collection[AddressKind], explain: Callable[[str], str] = str) -> None:
        """`explain` has the words for an address that is not allowed."""
        self.allowed = allowed
        self._explain = explain
        self._found: dict[str, FoundAddresses] = {}

    async def resolve(self, host: str) -> FoundAddresses:
        """The addresses of a name, the same each time. Raises: OSError."""
        if host not in self._found:
            loop = asyncio.get_running_loop()
            found = await loop.getaddrinfo(host, None, type=socket.SOCK_STREAM)
            self._found[host] = [(int(family), str(address[0])) for family, _, _, _, address in found]
        return self._found[host]

    def check(self, address: str) -> None:
        """Raises: OutOfReach; ValueError if it is no address."""
        if find_address_kind(parse_ip(address)) not in self.allowed:
            raise OutOfReach(self._explain(address))

    async def check_for_proxy(self, url: str) -> None:
        """The same where a proxy connects: as far as this machine can tell where a name leads. Raises: OutOfReach."""
        try:
            found = await self.resolve(urlsplit(url).hostname or "")
        except OSError:
            # The proxy may know the name; what it can reach is for whoever runs it to say.
            return
        for _, address in found:
            self.check(address)


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
