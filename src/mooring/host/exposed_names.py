"""The names and addresses under which one client is shown what all servers have."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, TypeAlias
from urllib.parse import quote, unquote

from mooring.core.protocol.address import is_expansion
from mooring.core.protocol.tool import Pair

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


class ShownAddresses:
    """What all servers list of one kind: the resources, or the templates of their addresses.

    Addresses stay what they are, because results and descriptions of tools quote them. One that two servers list says
    which of them it belongs to: no server takes over what another lists.
    """

    def __init__(self, pairs: Sequence[Pair] = ()) -> None:
        holders: dict[str, dict[str, None]] = {}
        for server, uri in pairs:
            holders.setdefault(uri, {})[server] = None
        self._holders = holders
        self.shown = [self._show(server, uri) for server, uri in pairs]
        """The address that is shown for each of them."""

    def _show(self, server: str, uri: str) -> str:
        is_plain = len(self._holders[uri]) == 1 and not uri.lower().startswith(_OWN)
        return uri if is_plain else qualify_address(server, uri)

    def find_servers(self, uri: str) -> list[str]:
        """The servers that list this very address."""
        # Listed by a server, an address with our scheme is only ever shown behind that server's name.
        return [] if uri.lower().startswith(_OWN) else list(self._holders.get(uri, ()))

    def match_templates(self, uri: str) -> list[str]:
        """The servers with a template that expands to an address; for addresses of templates."""
        templates: dict[str, list[str]] = {}
        for template, servers in self._holders.items():
            for server in servers:
                templates.setdefault(server, []).append(template)
        return [server for server, written in templates.items() if is_expansion(uri, written)]


def qualify_address(server: str, uri: str) -> str:
    """An address that says which server it belongs to. A template stays one."""
    return f"{_OWN}{quote(server, safe='')}/{uri}"


def split_address(address: str, servers: Iterable[str]) -> Pair | None:
    """The server and the address behind a qualified address; `None` if it is none."""
    if not address.startswith(_OWN):
        return None
    name, slash, uri = address.removeprefix(_OWN).partition("/")
    server = unquote(name)
    return (server, uri) if slash and server in servers else None
