"""What is remembered of servers, without starting or making anything."""

import os
from collections.abc import Iterable

from mooring.core.approved import Approved
from mooring.core.offer import Offer
from mooring.core.where import Where
from mooring.servers.cache import Cache


def remembered(servers: Iterable[Approved], where: Where) -> dict[str, Offer]:
    """What these servers offered last, by name; looking for it leaves nothing on disk that was not there."""
    if not os.path.exists(f"{where.cache}/catalog.db"):
        return {}
    return Cache(where).known(servers, where)
