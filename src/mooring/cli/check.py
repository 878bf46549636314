"""`mooring mcp list --check`."""

import asyncio

from mooring.actions.check import check, healthy
from mooring.actions.list import Listing
from mooring.cli.adhoc import opening
from mooring.cli.base import OK, UNHEALTHY, Globals
from mooring.cli.list import print_listing
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn


def show_checked(options: Globals, listing: Listing, timeout: float | None) -> int:
    """Print the list with how each server stands now; the exit code says whether all that should be there is."""
    with Ticker(options, "the servers") as ticker:
        live = asyncio.run(check(opening(options, timeout), listing, ticker.pending))
    print_listing(options, live)
    was = {row.name: row.error for row in listing.servers}
    warn(options, failed={row.name: row.error for row in live.servers if row.error and row.error != was[row.name]})
    return OK if healthy(live) else UNHEALTHY
