"""`mooring mcp doctor`: prints what to fix, and how; with names or `--check`, after trying the servers."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mooring.cli.base import OK, UNHEALTHY, Globals, print_json, print_lines, say, tell
from mooring.cli.interrupts import run_until_interrupted
from mooring.display.text import safe, short_path
from mooring.process.table import list_processes
from mooring.verbs.doctor.diagnose import diagnose
from mooring.verbs.doctor.report import Repair, Report, list_lines

if TYPE_CHECKING:  # what connects to servers is loaded only if they are tried
    from mooring.inventory.load import Inventory
    from mooring.verbs.doctor.trial import TriedServer

VERSION = 1
"""Of the data that `--json` prints."""


def run(options: Globals, names: tuple[str, ...], check: bool, fix: bool, dry_run: bool, timeout: float | None) -> int:
    where = options.workspace().where
    inventory = options.inventory()
    chosen = tuple(dict.fromkeys(inventory.find(name).name for name in names)) or None
    # Before anything is tried: what this command starts itself does not run twice.
    processes = list_processes()
    tried = _try(options, inventory, chosen, timeout) if check or chosen else {}
    repairs = _repair(options, inventory, tried, only_show=dry_run) if fix or dry_run else ()
    if any(repair.done for repair in repairs):
        inventory = options.inventory()
    store = None
    if options.json or options.verbose:
        from mooring.verbs.config.secrets import describe_store

        store = run_until_interrupted(describe_store(where))
    report = diagnose(inventory, where, names=chosen, processes=processes, tried=tried, store=store)
    if options.json:
        print_json(_make_data(report, repairs))
    else:
        for repair in repairs:
            _print_repair(repair, where.home)
        if (fix or dry_run) and not repairs:
            tell("Nothing here can be fixed automatically." if report.findings else "There is nothing to fix.")
        print_lines(options, list_lines(report, where.home, is_named=chosen is not None, verbose=options.verbose))
    return OK if report.healthy else UNHEALTHY


def _try(
    options: Globals, inventory: "Inventory", names: Sequence[str] | None, timeout: float | None
) -> "Mapping[str, TriedServer]":
    """Connect to the servers, all of them or those that were named."""
    # Loaded here because a quick look must not pay for the host.
    from msgspec.structs import replace

    from mooring.cli.adhoc import make_configured_setup, run_with_host
    from mooring.cli.ticker import Ticker
    from mooring.inventory.admit import admit
    from mooring.verbs.doctor.trial import list_triable, try_servers
    from mooring.verbs.use.opening import Setup

    where = options.workspace().where
    setup = make_configured_setup(options, timeout)
    # Nobody is asked about servers that they didn't name, and what is missing is among the findings.
    setup = replace(setup, ask=setup.ask if names else None, warn=Setup(workspace=setup.workspace).warn)
    admitted = admit(inventory)
    # The other names of a server start the very same program: once is enough.
    wanted = names or tuple(admitted.wanted)
    triable = list_triable(admitted, wanted, where.env, asks=setup.ask is not None)
    if not triable:
        return {}
    with Ticker(options, ", ".join(triable[:3])) as ticker:
        return run_with_host(
            setup, lambda host, deadline: try_servers(host, triable, deadline, where, ticker.on_pending)
        )


def _repair(
    options: Globals, inventory: "Inventory", tried: "Mapping[str, TriedServer]", *, only_show: bool
) -> tuple[Repair, ...]:
    from mooring.verbs.doctor.repairs import make_repair, plan_repairs

    planned = plan_repairs(inventory, options.workspace().where, tried)
    if only_show:
        return tuple(each.repair for each in planned)
    return tuple(map(make_repair, planned))


def _make_data(report: Report, repairs: Sequence[Repair]) -> dict[str, Any]:
    return {
        "version": VERSION,
        "healthy": report.healthy,
        "files": report.files,
        "servers": report.servers,
        "findings": report.findings,
        "repairs": repairs,
        "secretStore": report.store,
    }


def _print_repair(repair: Repair, home: str) -> None:
    place = short_path(repair.path, home)
    if repair.error is not None:
        say(f"! {place}: could not be fixed: {safe(repair.error)}", "bad")
    else:
        done = "Fixed" if repair.done else "Would fix"
        say(f"{done} {place}: {safe(repair.what)}")
