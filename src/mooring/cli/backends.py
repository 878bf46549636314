"""`mooring backends`: prints who can answer in a chat, and what is missing for those who can't yet."""

from mooring.cli.base import Globals, make_guard, print_columns, print_json, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.ticker import Ticker
from mooring.display.text import safe
from mooring.process.programs import Guard
from mooring.verbs.agent.backends import BackendState, list_backends


def run(options: Globals) -> None:
    with Ticker(options, "the programs"):
        states = run_until_interrupted(_list(options))
    if options.json:
        print_json({"backends": states})
        return
    print_columns([("NAME", "STATE", "VERSION", "LOGIN"), *map(_make_cells, states)])
    for state in states:
        if state.fix is not None and not options.quiet:
            say(f"{_DO[state.state]} {state.name}: {safe(state.fix)}", err=True)


async def _list(options: Globals) -> tuple[BackendState, ...]:
    async with make_guard(options) or Guard() as guard:
        return await list_backends(options.workspace(), guard)


_DO = {"not-installed": "To install", "needs-login": "To log in to"}


def _make_cells(state: BackendState) -> tuple[str, ...]:
    name = f"{state.name} (default)" if state.default else state.name
    return name, state.state.replace("-", " "), safe(state.version or "-"), safe(state.login or "-")
