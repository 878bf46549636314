"""The end of the host, in whatever way, with servers of every kind: nothing is left."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable

from tests.faults.table import NONCE, Meter, Peers, Row, bound

HOST = """
import asyncio, sys, mooring
async def main():
    async with mooring.connect(sys.argv[1:], env={"MOORING_FAULTS": %r}) as session:
        await session.call_tool("echo", {"text": "x"})
        print("up", flush=True)
        await asyncio.sleep(60)
asyncio.run(main())
"""


def ends_by(number: signal.Signals, fault: str) -> Callable[[Meter], Awaitable[str]]:
    async def trial(meter: Meter) -> str:
        host = await asyncio.create_subprocess_exec(
            sys.executable, "-c", HOST % meter.nonce, sys.executable, "-m", "mooring.testing", fault,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, env={**os.environ, NONCE: ""},
        )  # fmt: skip
        assert host.stdout is not None
        assert await asyncio.wait_for(host.stdout.readline(), 20) == b"up\n"
        assert meter.left() >= 1
        meter.start()
        host.send_signal(number)
        await asyncio.wait_for(host.wait(), 20)
        while meter.left():
            bound("still there after", meter.seconds, 5 * 3)
            await asyncio.sleep(0.02)
        return f"nothing left after {meter.seconds:.2f} s"

    return trial


STUBBORN = Peers("orphan", "orphan", "orphan")
POLITE = {signal.SIGINT: Peers("4.2 s", "4.3 s", "orphan")}
KINDS = {
    "plain": "polite",
    "ignore_eof_term": "stubborn",
    "grandchild": "with grandchild",
    "setsid_grandchild": "with setsid grandchild",
}

ROWS = tuple(
    Row(
        "F17",
        f"host {number.name[3:]}, {words}",
        "nothing left ≤ 3 s",
        ends_by(number, fault),
        POLITE.get(number, STUBBORN) if fault == "ignore_eof_term" else Peers(),
    )
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
    for fault, words in KINDS.items()
)
