"""What a long transcript costs, beside a short one in the same run."""

import gc
import time
from collections.abc import Awaitable, Callable
from statistics import median

import pytest
from tests.chat.screen.events import Calls
from tests.chat.screen.shown import Seen, open_transcript
from textual import events
from textual.color import Color
from textual.filter import Monochrome

from mooring.chat.screen.cards import Said
from mooring.chat.screen.line import Line, Piece, make_line
from mooring.chat.screen.markdown import MarkdownText
from mooring.chat.screen.reply import ReplyBlock
from mooring.chat.screen.stack import Block
from mooring.chat.screen.strips import RowLook, StripMaker
from mooring.chat.screen.styles import find_looks

REPLY = """# Title

A paragraph with **bold** text, `code` and many more words than fit into one line of the terminal that it is shown in.

- one item
- another item

```python
for number in range(10):
    print(number)
```

| name | value |
|------|-------|
| one  | 1     |
"""
ROUNDS = 15


def make_conversation(messages: int, cards: int) -> list[Block]:
    calls = Calls()
    output = "\n".join(f"line {number}" for number in range(40))
    blocks: list[Block] = []
    for number in range(messages):
        blocks.append(ReplyBlock(REPLY) if number % 2 else Said(f"question {number}"))
        if number < cards:
            blocks.append(calls.make_card(output))
    return blocks


async def measure(seen: Seen, act: Callable[[int], Awaitable[None]]) -> float:
    """The CPU time of one round, in seconds."""
    rounds = []
    for number in range(ROUNDS):
        began = time.process_time()
        await act(number)
        await seen.settle()
        rounds.append(time.process_time() - began)
    return median(rounds)


@pytest.mark.parametrize("is_open", [False, True], ids=["closed", "opened"])
async def test_a_long_transcript_costs_at_most_twice_as_much_as_a_short_one(is_open: bool) -> None:
    costs: list[dict[str, float]] = []
    for messages, cards in ((10, 4), (1_200, 500)):
        blocks = make_conversation(messages, cards)
        async with open_transcript(size=(120, 40)) as seen:
            began = time.process_time()
            for block in blocks:
                seen.transcript.add(block)
            added = time.process_time() - began
            if is_open:
                seen.transcript.action_open_all()
            await seen.settle()
            costs.append({
                "key": await measure(seen, lambda number: seen.pilot.press("a")),
                "resize": await measure(seen, lambda number: seen.pilot.resize_terminal(119 - number % 3, 40)),
                "scroll": await measure(seen, lambda number: _scroll(seen)),
                "focus": await measure(seen, lambda number: _lose_and_gain_focus(seen)),
            })  # fmt: skip
    assert added < 0.1
    short, long = costs
    # What the measurement itself takes, such as waiting for the next frame.
    slack = 0.003
    assert {act: cost for act, cost in long.items() if cost > 2 * short[act] + slack} == {}


async def _lose_and_gain_focus(seen: Seen) -> None:
    seen.pilot.app.post_message(events.AppBlur())
    await seen.pilot.pause()
    seen.pilot.app.post_message(events.AppFocus())


async def _scroll(seen: Seen) -> None:
    seen.transcript.scroll_rows(-3)


async def test_a_search_that_finds_nothing_lays_nothing_out() -> None:
    async with open_transcript(*make_conversation(400, 0)) as seen:
        await seen.settle()
        laid = [block for block in seen.transcript.blocks if isinstance(block, ReplyBlock) and block._text is not None]
        assert not seen.transcript.find("nowhere to be found")
        after = [block for block in seen.transcript.blocks if isinstance(block, ReplyBlock) and block._text is not None]
        assert len(after) == len(laid)


def test_rows_that_were_drawn_leave_nothing_for_the_garbage_collector() -> None:
    strips = StripMaker(find_looks("dark"))
    strips.use(strips.looks, 60)
    gc.collect()
    gc.disable()
    try:
        for number in range(100):
            strip = strips.find(make_line(f"row {number}"), RowLook()).apply_filter(Monochrome(), Color(0, 0, 0))
            assert strip.divide([60]) == [strip]
            assert [part.cell_length for part in strip.divide([20, 60])] == [20, 40]
        strips.use(strips.looks, 61)
        del strip
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_the_pieces_of_a_reply_are_not_looked_at_by_the_garbage_collector() -> None:
    text = MarkdownText(REPLY * 40)
    lines = text.layout(80)
    gc.collect()
    tracked = {type(each) for each in gc.get_objects()}
    assert len(lines) > 300
    assert tracked.isdisjoint({Line, Piece})
