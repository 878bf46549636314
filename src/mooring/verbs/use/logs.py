"""`logs`: finds the server whose log is meant."""

import os

from mooring.core.definitions.paths import Paths
from mooring.errors import UnknownServer
from mooring.inventory.load import Inventory
from mooring.servers.log import log_path


def find_logged_server(inventory: Inventory, name: str, where: Paths) -> str:
    """The server whose log is meant; one that is no longer configured may have left one.

    Raises:
        UnknownServer: no server has that name, and there is no log of one.
    """
    try:
        return inventory.find(name).name
    except UnknownServer:
        if os.path.exists(log_path(where, name)):
            return name
        raise
