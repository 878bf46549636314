"""A screen with a conversation that has everything in it, the same in every run."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, TypeAlias

from rich.segment import Segment
from tests.chat.screen.events import Calls
from tests.chat.screen.svg import draw_svg, read_segments
from textual.pilot import Pilot
from textual.strip import Strip

from mooring.chat.plain.dialog import LineRequest
from mooring.chat.screen.app import ChatScreen
from mooring.chat.screen.cards import LinesBlock, NoticeBlock, PlanBlock, ReadsBlock, Said, SubAgentBlock, WarningBlock
from mooring.chat.screen.preferences import ScreenPreferences
from mooring.chat.screen.prompt import Offered
from mooring.chat.screen.reply import ReplyBlock, ThinkingBlock
from mooring.chat.screen.stack import Block
from mooring.chat.screen.styles import ThemeName, find_looks
from mooring.chat.screen.terminal import AskedLine
from mooring.chat.screen.transcript import FRAME, Transcript
from mooring.core.conversation.event import Todo, TokensUsed, TokenUsage, TurnDone, TurnStarted
from mooring.core.conversation.status import Connected, NeedsAuth, Status
from mooring.core.protocol.result import Progress
from mooring.display.text import Verbatim, paint

REPLY = """\
## Why the build is red

The parser reads **dates** as `str` since [v2.4](https://example.com/v2.4), so two checks fail:

1. `test_due_dates` compares a date with a text.
2. The report sorts by that text, and *10 May* comes before *2 May*.

| check | before | now |
|:------|-------:|----:|
| test_due_dates | 12 ms | fails |
| test_report | 8 ms | fails |

```python
def parse_due(text: str) -> date:
    return date.fromisoformat(text)  # a date again
```

> Nothing else uses the text.
"""
DONE = "Both checks pass again. Shall I open a pull request?"
STDERR = ["npm warn old lockfile", "Error: connect ECONNREFUSED 10.0.0.7:5432", "    at TCPConnectWrap.afterConnect"]
NOW = 100.0


def list_everything() -> Iterator[Block]:
    """The blocks of a conversation."""
    yield LinesBlock(
        paint("mooring · 9 servers, 64 tools", "bold"), paint("linear: needs login: /mcp login linear", "dim")
    )
    yield Said("The build is red since this morning.\nFind out why, and fix it.")
    yield _make_thought()
    yield PlanBlock(
        (Todo("Read the log of the build", "completed"), Todo("Fix the parser", "in_progress"), Todo("Run the checks"))
    )
    calls = Calls()
    yield _make_reads(calls)
    yield ReplyBlock(REPLY)
    yield _make_change(calls)
    yield from _make_failures(calls)
    yield from _make_sub_agents(calls)
    yield _make_running_call(calls)
    yield WarningBlock("The model is overloaded; trying again in 4 s.")
    yield LinesBlock("! git status --short", Verbatim(" M src/dates.py"), Verbatim("?? notes.txt"))
    yield ReplyBlock(DONE)
    yield NoticeBlock("3 replies · 18,240 tokens · $0.04", gap=0)


def _make_thought() -> Block:
    clock = iter((0.0, 6.0))
    thought = ThinkingBlock(clock=lambda: next(clock))
    thought.feed("The log names two checks. " * 9)
    thought.end()
    return thought


def _make_reads(calls: Calls) -> Block:
    reads = ReadsBlock()
    for tool, arguments in (
        ("Read", {"file_path": "src/dates.py"}),
        ("Grep", {"pattern": "parse_due"}),
        ("Read", {"file_path": "build.log"}),
    ):
        started, _ = calls.start(tool, arguments, server=None)
        _, call = calls.end(started, "1 line")
        assert call is not None
        reads.add(call)
    return reads


def _make_change(calls: Calls) -> Block:
    old = "import os\n\ndef parse_due(text):\n    return text.strip()\n"
    new = "import os\nfrom datetime import date\n\ndef parse_due(text: str) -> date:\n    return date.fromisoformat(text)\n"
    arguments = {"file_path": "src/reports/dates.py", "old_string": old, "new_string": new}
    started, card = calls.start("Edit", arguments, server=None)
    calls.now += 0.2
    card.finish(*calls.end(started, "Edited."))
    return card


def _make_failures(calls: Calls) -> Iterator[Block]:
    started, card = calls.start("query", {"sql": "select * from builds where state = 'red'"}, server="shop-db")
    calls.now += 2.6
    card.finish(*calls.end(started, "could not connect to the database", is_error=True), STDERR)
    yield card
    started, card = calls.start("delete_branch", {"name": "release"}, server="github")
    card.finish(*calls.end(started, for_person="You said no."))
    yield card


def _make_sub_agents(calls: Calls) -> Iterator[Block]:
    arguments = {"description": "look for other uses", "prompt": "…"}
    started, card = calls.start("Agent", arguments, server=None)
    yield card
    now = iter([NOW, *[NOW + 74.0] * 40])
    agent = SubAgentBlock(started, None, clock=lambda: next(now))
    agent.note(TurnStarted(session="s", turn=1, parent=started.id, backend="api", agent="explorer"))
    first, _ = calls.start("search_code", {"query": "parse_due"}, server="github")
    agent.note(first)
    calls.now += 1.4
    agent.note(*calls.end(first, "3 results\nsrc/reports/dates.py:4\nsrc/mail.py:31"))
    nested_call, _ = calls.start("Agent", {"description": "read the mails"}, server=None)
    agent.note(nested_call)
    nested = SubAgentBlock(nested_call, None, agent, clock=lambda: next(now))
    nested.note(TurnStarted(session="s", turn=1, parent=nested_call.id, backend="api", agent="reader"))
    nested.note(TurnDone(session="s", turn=1, parent=nested_call.id, reason="finished"))
    agent.toggle()
    yield agent


def _make_running_call(calls: Calls) -> Block:
    started, card = calls.start("run_checks", {"branch": "main"}, server="ci")
    card.note_progress(calls.go_on(started))
    calls.now += 12
    card.note_progress(calls.go_on(started, Progress(progress=31, total=48, message="test_report")))
    return card


class _Session:
    """What the status line asks a chat for."""

    def __init__(self) -> None:
        self.mode = "plan"
        self.responder = SimpleNamespace(agent_name=None, model="anthropic:claude-sonnet-5-5", agent=None, program=None)
        use = TokensUsed(session="s", turn=1, model="m", usage=TokenUsage(input_tokens=68_000), window=200_000)
        self.conversations = SimpleNamespace(last_use=use)
        hello: Any = None
        status: dict[str, Status] = {f"server-{number}": Connected(hello, 0.0) for number in range(9)}
        self.host = SimpleNamespace(status=lambda: {**status, "linear": NeedsAuth(""), "figma": NeedsAuth("")})


class Shown:
    """The screen, and what can be done on it."""

    def __init__(self, screen: ChatScreen, pilot: Pilot[None]) -> None:
        self.screen = screen
        self.pilot = pilot

    async def settle(self) -> None:
        """Let everything that is due be drawn, however busy the machine is."""
        transcript = self.screen.query_one(Transcript)
        await self.pilot.pause(2 * FRAME)
        while transcript._is_marked or not transcript._drawn_at:
            await self.pilot.pause(FRAME)
        await self.pilot.pause()

    def queue(self, *texts: str) -> None:
        for text in texts:
            self.screen.terminal.queue.add(text)

    def ask(self, prompt: str) -> None:
        self.screen.open_question(AskedLine(LineRequest(prompt, False, (), keep=False, fresh=True)))

    async def draw(self) -> str:
        """The screen as an SVG picture."""
        await self.settle()
        base = find_looks(self.screen.preferences.theme).base
        rows = [list(read_segments(list(strip), base)) for strip in self._list_strips()]
        [page] = read_segments([Segment(" ")], base)
        return draw_svg(rows, page, "A chat in the terminal")

    async def rows(self) -> list[str]:
        """What stands on the screen, row by row."""
        await self.settle()
        return [strip.text for strip in self._list_strips()]

    def _list_strips(self) -> list[Strip]:
        return self.screen.screen._compositor.render_strips()


@asynccontextmanager
async def show_everything(size: tuple[int, int], theme: ThemeName = "dark") -> AsyncIterator[Shown]:
    """A chat in which everything was said; it waits for what is typed."""
    ends = asyncio.Event()

    async def converse(screen: ChatScreen) -> None:
        session: Any = _Session()
        for block in list_everything():
            screen.add_block(block)
        screen.note_session(session, 0.12)
        await ends.wait()

    screen = ChatScreen(converse, preferences=ScreenPreferences(theme=theme))
    async with screen.run_test(size=size) as pilot:
        shown = Shown(screen, pilot)
        await shown.settle()
        yield shown
        ends.set()


# --- what is done on it ---------------------------------------------------------------------------------------------

Scene: TypeAlias = Callable[[Shown], Awaitable[None]]


async def _work(shown: Shown) -> None:
    """A turn is under way, and two messages wait."""
    shown.screen.show_waiting("running ci / run_checks · 12 s · Esc stops it")
    shown.queue(
        "Then run all checks, those of the other packages too, and tell me which of them are slow", "And a changelog"
    )


async def _see_everything(shown: Shown) -> None:
    await _work(shown)
    await shown.pilot.press("alt+up", "alt+up")


async def _ask(shown: Shown) -> None:
    """A question is open."""
    shown.ask("Call it? [y]es, [n]o, [a]lways for this conversation, [e]dit what is sent: ")


async def _search(shown: Shown) -> None:
    """Words are searched for in what was said."""
    shown.screen.action_search()
    await shown.pilot.press(*"text")


async def _complete(shown: Shown) -> None:
    """A command is typed, of which there are many."""
    await shown.pilot.press("/")
    shown.screen.post_message(Offered([f"/command-{number} of a server with a long name" for number in range(12)]))


async def _type(shown: Shown) -> None:
    """A long message is typed."""
    for number in range(14):
        await shown.pilot.press(*f"line {number}", "ctrl+j")


async def _scroll(shown: Shown) -> None:
    """Everything is opened, and the view is at the beginning."""
    await shown.pilot.press("ctrl+o", "ctrl+home")


SCENES: Mapping[str, Scene] = {
    "working": _work,
    "everything": _see_everything,
    "asking": _ask,
    "searching": _search,
    "completing": _complete,
    "typing": _type,
    "scrolled": _scroll,
}
