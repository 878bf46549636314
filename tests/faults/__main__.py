"""`make faults`: try every fault and print the table; fails if a promise is not kept."""

import asyncio
import sys
import time
from collections.abc import Sequence

from tests.faults import gateways, host, http, real, signals, stdio
from tests.faults.table import Meter, Row
from tests.hearing import restore_signals
from tests.peers.install import CannotInstall, install

HEADER = ("", "id", "fault", "promise", "here, just now", "mcp 2.3", "fastmcp 4.1", "mcporter 0.12")


def main(words: list[str]) -> int:
    restore_signals()
    rows = [
        row
        for row in (*stdio.ROWS, *http.ROWS, *host.ROWS, *real.ROWS, *signals.ROWS)
        if not words or any(word in row.fault for word in words)
    ]
    pressures = gateways.pick(words)
    needs = {room for row in rows for room in row.needs} | set(gateways.NEEDS if pressures else ())
    try:
        install(_say, needs)
    except CannotInstall as error:
        _say(str(error))
        return 1
    began = time.monotonic()
    lines = [HEADER, *(_line(row) for row in rows)]
    if rows:
        _print_table(lines)
        print("The peers' columns were measured on another day.\n")  # noqa: T201
    pressed = [gateways.HEADER, *asyncio.run(gateways.try_all(pressures))]
    if pressures:
        _print_table(pressed)
    failed = sum(line[0] == "✗" for line in (*lines, *pressed))
    tried = len(rows) + len(pressures)
    print(f"{time.monotonic() - began:.0f} s.")  # noqa: T201
    print(f"{tried - failed} passed, {failed} failed")  # noqa: T201
    return 1 if failed or not tried else 0


def _print_table(lines: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())  # noqa: T201


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def _line(row: Row) -> tuple[str, ...]:
    mark, saw = _try(row)
    return mark, row.id, row.fault, row.promise, saw, row.peers.mcp, row.peers.fastmcp, row.peers.mcporter


def _try(row: Row) -> tuple[str, str]:
    meter = Meter(row.fault.replace(" ", "-"))
    try:
        saw = asyncio.run(asyncio.wait_for(row.trial(meter), 90))
        assert meter.left() == 0, f"{meter.left()} processes left"
    except Exception as error:  # noqa: BLE001  # a trial may fail in any way; the table says how
        return "✗", f"{type(error).__name__}: {error}"[:110]
    return "✓", saw


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
