"""`make soak`: long use, part after part, and what is held after it; fails if anything grew or was left behind."""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import NamedTuple

from tests.soak.meter import GROWTH, NONCE, Meter, Reading, descriptors, missed, threads
from tests.soak.parts import PARTS, Part

from mooring.core.definitions.paths import Workspace, here

WARM_UPS = (0.1, 0.2, 0.3)
"""When, as parts of the whole, it is measured what is held: the most of these counts, for one may meet a quiet moment."""
EVERY = 10.0
"""Seconds between two words about how far it is."""
SETTLING = 5.0


class Outcome(NamedTuple):
    part: str
    done: int
    seconds: float
    early: Reading
    late: Reading
    faults: tuple[str, ...]


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser("python -m tests.soak", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a hundredth of everything")
    parser.add_argument("--share", type=float, default=1.0, help="how much of everything; 0.01 is what --quick does")
    parser.add_argument("--parts", nargs="+", metavar="PART", choices=[part.name for part in PARTS])
    options = parser.parse_args(words)
    wanted = [part for part in PARTS if not options.parts or part.name in options.parts]
    share = 0.01 if options.quick else options.share
    outcomes = [attempt(part, round(part.amount * share)) for part in wanted]
    faults = [f"{outcome.part}: {fault}" for outcome in outcomes for fault in outcome.faults]
    sys.stdout.write("\n".join([table(outcomes), *faults, ""]))
    return 1 if faults else 0


def attempt(part: Part, amount: int) -> Outcome:
    """One part in a home of its own, and what is left when its host is closed."""
    os.environ[NONCE] = nonce = os.urandom(8).hex()
    before, began = (descriptors(), threads()), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        early, late = asyncio.run(soak(part, amount, folder, Meter(nonce)))
    seconds = time.monotonic() - began
    faults = [*missed(early, late), *left(Meter(nonce), before)]
    return Outcome(part.name, amount, seconds, early, late, tuple(faults))


async def soak(part: Part, amount: int, folder: str, meter: Meter) -> tuple[Reading, Reading]:
    env = {**os.environ, "HOME": folder}
    for name in [name for name in env if name.startswith("XDG_")]:
        del env[name]
    done, early, said = 0, list[Reading](), time.monotonic()
    async with aclosing(part.work(Workspace(here(env), folder))) as work:
        async for more in work:
            done += more
            if len(early) < len(WARM_UPS) and done >= amount * WARM_UPS[len(early)]:
                early.append(await meter.read())
            if time.monotonic() - said > EVERY:
                said = time.monotonic()
                sys.stderr.write(f"{part.name}: {done:,} of {amount:,}\n")
            if done >= amount:
                break
        late = await meter.read()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    assert not others, f"tasks are left once the host is closed: {others}"
    # A part of which a quick run does next to nothing is looked at once.
    return Reading(*(max(values) for values in zip(*early, strict=True))), late


def left(meter: Meter, before: tuple[int, int]) -> list[str]:
    """What outlives the host: processes, descriptors, threads; the kernel may need a moment to bury a joined thread."""
    until = time.monotonic() + SETTLING
    while (now := (meter.marked(), descriptors(), threads())) != ([], *before) and time.monotonic() < until:
        time.sleep(0.05)
    pids, after = now[0], now[1:]
    faults = [f"processes {pids} are left once it is closed"] if pids else []
    if after != before:
        faults.append(f"descriptors and threads were {before} before and are {after} once it is closed")
    return faults


def table(outcomes: Sequence[Outcome]) -> str:
    heads = ["", "done", "s", *("memory, MB", "guard, MB"), *Reading._fields[2:], ""]
    lines = [heads, *map(line, outcomes), ["may grow by", "", "", *(f"{most:g}" for most in GROWTH), ""]]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) if place else cell.ljust(width) for place, (cell, width) in enumerate(row)).rstrip()
        for row in (list(zip(line, widths, strict=True)) for line in lines)
    )


def line(outcome: Outcome) -> list[str]:
    pairs = zip(outcome.early, outcome.late, strict=True)
    cells = [f"{before:.1f} → {now:.1f}" if isinstance(now, float) else f"{before} → {now}" for before, now in pairs]
    return [
        outcome.part,
        f"{outcome.done:,}",
        f"{outcome.seconds:.1f}",
        *cells,
        "MISSED" if outcome.faults else "ok",
    ]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
