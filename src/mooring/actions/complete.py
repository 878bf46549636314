"""Names for a shell to complete: from what is configured and what is remembered; nothing is started or made."""

from mooring.core.where import Where
from mooring.inventory.load import Inventory


def tools(inventory: Inventory, where: Where, typed: str) -> list[str]:
    """What `server.tool` could become; the servers, where several could still be meant."""
    folded = typed.casefold()
    servers = [f"{choice.name}." for choice in inventory.choices]
    possible = [name for name in servers if name.casefold().startswith(folded)]
    meant = [name for name in servers if folded.startswith(name.casefold())] or possible
    if len(possible) > 1:
        return possible
    known = _known(inventory, where, {name[:-1] for name in meant})
    return [name for name in known if name.casefold().startswith(folded)] or possible


def _known(inventory: Inventory, where: Where, servers: set[str]) -> list[str]:
    from mooring.inventory.admit import admit
    from mooring.servers.cache import recall

    admitted = admit(inventory)
    meant = {name: admitted.wanted.get(admitted.aliases.get(name, name)) for name in servers}
    offers = recall([approved for approved in meant.values() if approved], where)
    return [
        f"{name}.{tool.name}"
        for name, approved in meant.items()
        if approved is not None and approved.name in offers
        for tool in offers[approved.name].tools.items
    ]
