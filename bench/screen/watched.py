"""`mooring`, watched: `watched FILE WORDS…` runs it with these words, and writes down each pause of the collector.

With the variable `FED_SECONDS`, a turn asks no model: for so long, text is fed at the conversation instead.
"""

import asyncio
import gc
import os
import sys
import time

from bench.screen.texts import EVENTS_PER_SECOND, cut_event, write_cycle
from mooring.chat.session import ChatSession
from mooring.cli import main
from mooring.core.conversation.event import TextPiece, TurnDone, TurnStarted

STEP = 0.005
"""Seconds after which what is due is fed."""


def note_pauses(path: str) -> None:
    """Write down when the collector was at work, and how much CPU it took, both in seconds."""
    file = open(path, "w", buffering=1)  # noqa: SIM115 - as long as the program
    began = 0.0

    def note(phase: str, _: dict[str, int]) -> None:
        nonlocal began
        # The thread's own time: a busy machine takes the processor away in the middle of anything.
        now = time.thread_time()
        if phase == "start":
            began = now
        else:
            file.write(f"{time.perf_counter()} {now - began}\n")

    gc.callbacks.append(note)


async def feed(session: ChatSession, _: str) -> None:
    """Say the text in a turn of the conversation, each piece an event of its own."""
    stream = session.responder.stream
    stream.begin_turn()
    stream.emit(TurnStarted(**stream.stamp, backend="api"))
    text, fed, began = write_cycle(), 0, time.perf_counter()
    seconds = float(os.environ["FED_SECONDS"])
    while (now := time.perf_counter() - began) < seconds:
        due = int(now * EVENTS_PER_SECOND)
        for number in range(fed, due):
            stream.emit(TextPiece(**stream.stamp, text=cut_event(text, number)))
        fed = due
        await asyncio.sleep(STEP)
    stream.emit(TurnDone(**stream.stamp, reason="completed"))
    stream.end_turn()


if __name__ == "__main__":
    note_pauses(sys.argv[1])
    if "FED_SECONDS" in os.environ:
        ChatSession.turn = feed  # type: ignore[method-assign]  # there is no model to ask
    sys.argv[:2] = ["mooring"]
    main()
