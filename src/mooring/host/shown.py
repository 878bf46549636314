"""The names and addresses under which one client is shown what all servers have."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias

from mooring.core.tool import Pair
from mooring.tools.catalog.names import name_tools

NameStyle: TypeAlias = Literal["full", "raw"]
"""`full` names say which server they belong to; `raw` ones are the servers' own, as far as no two are the same."""

_OWN: Final = "mooring://"


def name_pairs(pairs: Sequence[Pair], full: Mapping[Pair, str], style: NameStyle) -> dict[str, Pair]:
    """The pair behind each shown name, in the order of the pairs; `full` has the full name of each."""
    if style == "full":
        return {full[pair]: pair for pair in pairs}
    counts = Counter(name for _, name in pairs)
    taken = {full[pair] for pair in pairs if counts[pair[1]] > 1}
    shown: dict[str, Pair] = {}
    for pair in pairs:
        own = pair[1]
        # A server could call a tool as another one's full name.
        is_free = counts[own] == 1 and own not in taken
        shown[own if is_free else full[pair]] = pair
    return shown


def name_prompts(pairs: Sequence[Pair], style: NameStyle) -> dict[str, Pair]:
    """The same for prompts, whose names follow the same rules as those of tools."""
    return name_pairs(pairs, name_tools(pairs), style)


def address_pairs(pairs: Iterable[Pair]) -> dict[str, Pair]:
    """The server and address behind each shown address: its own, unless a server before it has the same.

    Addresses stay what they are, because results and descriptions of tools quote them.
    """
    shown: dict[str, Pair] = {}
    for server, uri in pairs:
        address = uri if uri not in shown else qualify_address(server, uri)
        shown[address] = (server, uri)
    return shown


def qualify_address(server: str, uri: str) -> str:
    """An address that says which server it belongs to. A template stays one."""
    return f"{_OWN}{server}/{uri}"


def split_address(address: str, servers: Iterable[str]) -> Pair | None:
    """The server and the address behind a qualified address; `None` if it is none."""
    if not address.startswith(_OWN):
        return None
    rest = address.removeprefix(_OWN)
    for server in servers:
        if rest.startswith(f"{server}/"):
            return server, rest[len(server) + 1 :]
    return None
