"""Text that would draw outside of its place, on terminals that measure it in other ways than we do."""

import pyte
import pytest
from tests.chat.screen.events import Calls
from textual.app import App, ComposeResult

from mooring.chat.screen.cards import NoticeBlock
from mooring.chat.screen.transcript import FRAME, Transcript

SIZE = (50, 12)
HOSTILE = [
    "\x1b[2J\x1b[H\x1b]0;title\x07\x1b[?1049l", "[bold red]markup[/] [link=x]", "\u202egnp.exe\u2066", "e\u0301" * 90,
    "資料夾" * 60, "👨\u200d👩\u200d👧\u200d👦" * 30, "a\rb\x08c\x9b31m", "\u200b\ufeff\u00ad" * 20, "क्षत्रिय" * 20, "\t\v\f" * 20,
    "☠️" * 40, "1️⃣" * 40,
]  # fmt: skip


class HostileApp(App[None]):
    """A card with text of others between two notices."""

    def compose(self) -> ComposeResult:
        yield Transcript()


class NarrowScreen(pyte.Screen):
    """A terminal that draws every character that isn't ASCII in one cell."""

    def draw(self, data: str) -> None:
        super().draw("".join(each if each.isascii() or each in "│┃✓✗◌…❯" else "?" for each in data))


@pytest.mark.parametrize("kind", [pyte.Screen, NarrowScreen])
@pytest.mark.parametrize("hostile", HOSTILE, ids=[ascii(text[:8]) for text in HOSTILE])
async def test_nothing_outside_of_a_card_changes_whatever_is_in_it(kind: type[pyte.Screen], hostile: str) -> None:
    drawn = kind(*SIZE)
    stream = pyte.Stream(drawn)
    stream.feed("\x1b[?7l")  # as Textual does
    app = HostileApp()
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.query_one(Transcript)

        async def draw() -> list[str]:
            await pilot.pause(2 * FRAME)
            while transcript._is_marked or not transcript._drawn_at:
                await pilot.pause(FRAME)
            for y in range(SIZE[1]):
                stream.feed(f"\x1b[{y + 1};1H{transcript.render_line(y).render(app.console)}")
            return list(drawn.display)

        for number in range(40):
            transcript.add(NoticeBlock(f"before {number} {'x' * 30}"))
        await draw()
        transcript.add(Calls().make_card(hostile, arguments={"text": hostile}))
        transcript.add(NoticeBlock("after"))
        rows = await draw()
        assert rows[-1].rstrip(" │┃") == "  after"
        assert [row for row in rows if "before" in row] == [
            f"  before {39 - number} {'x' * 30}".ljust(49) + "│"
            for number in reversed(range(sum("before" in row for row in rows)))
        ]
        # The scroll bar is where it was, and nothing is left of what stood in the card's rows before.
        assert {row[-1] for row in rows} <= set("│┃")
        assert sum("xxx" in row for row in rows) == sum("before" in row for row in rows)
        assert app.title != "title"
