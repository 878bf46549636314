"""Names for a shell to complete, from what is configured and cached; starts no server and writes nothing."""

from collections.abc import Iterable

from mooring.core.where import Where
from mooring.inventory.load import Inventory


def complete_tools(inventory: Inventory, where: Where, typed: str) -> list[str]:
    """What `server.tool` could become; only the servers, while several of them still fit."""
    servers = [choice.name for choice in inventory.choices]
    possible = _keep_matching([f"{name}." for name in servers], typed)
    if len(possible) > 1:
        return possible
    # A server's name can hold dots, so what was typed may begin with the names of several servers.
    meant = [name for name in servers if typed.casefold().startswith(f"{name}.".casefold())]
    if not meant:
        meant = [name.removesuffix(".") for name in possible]
    tools = _keep_matching(_list_cached_tools(inventory, where, meant), typed)
    return tools or possible


def _keep_matching(names: Iterable[str], typed: str) -> list[str]:
    return [name for name in names if name.casefold().startswith(typed.casefold())]


def _list_cached_tools(inventory: Inventory, where: Where, servers: Iterable[str]) -> list[str]:
    # Loaded here: completing a server's name needs neither, and the shell waits for the answer.
    from mooring.inventory.admit import admit
    from mooring.servers.cache import recall

    admitted = admit(inventory)
    found = []
    for name in dict.fromkeys(servers):
        alias = admitted.aliases.get(name)
        approved = admitted.wanted.get(name if alias is None else alias.server)
        if approved is None:
            continue
        for offer in recall([approved], where).values():
            found += [f"{name}.{tool.name}" for tool in offer.tools.items]
    return found
