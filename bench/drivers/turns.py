"""What the drivers of agents share: turns of one conversation, each with a call of a tool, and what they take.

The model is a program on the loopback that answers at once, so that what is measured is the agent: its requests to the
model, its client of the server, and all that it does between them.
"""

import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import NamedTuple

from common import Command, Figures, answer_jobs, cpu

PROMPT = "Send back the text that you find in turn {number}, and tell me what you got."
MODEL = "scripted"
INSTRUCTIONS = "You are a careful assistant. Use the tools that you have."
WARM_UP = 3

Turn = Callable[[str], Awaitable[str]]
"""Says something in a conversation; returns the answer."""


class Place(NamedTuple):
    """Where an agent works."""

    model_url: str
    server: Command


Converse = Callable[[Place], AbstractAsyncContextManager[Callable[[], Turn]]]
"""An agent with its server; in it, what begins a conversation."""


def serve_turns(converse: Converse) -> None:
    answer_jobs({"turns": partial(take_turns, converse)})


async def take_turns(converse: Converse, model_url: str, server: Command, turns: int) -> Figures:
    """One turn after another of one conversation, which gets longer; starting the agent is not counted."""
    async with converse(Place(model_url, server)) as begin:
        await _talk(begin(), WARM_UP)
        turn = begin()
        began, started = cpu(), time.perf_counter()
        await _talk(turn, turns)
        spent, took = cpu() - began, time.perf_counter() - started
        return {"cpu": spent / turns * 1e3, "wall": took / turns * 1e3}


async def _talk(turn: Turn, turns: int) -> None:
    for number in range(turns):
        answer = await turn(PROMPT.format(number=number))
        # The model says this only to the result of a call: no agent is faster by leaving it out.
        assert answer.startswith("The tool sent back"), answer
