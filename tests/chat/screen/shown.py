"""A transcript on a screen of its own, and what stands there."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from mooring.chat.screen.cards import Said
from mooring.chat.screen.clipboard import Clipboard
from mooring.chat.screen.line import Line, make_line
from mooring.chat.screen.stack import Block
from mooring.chat.screen.transcript import FRAME, Transcript
from mooring.display.text import width

SIZE = (60, 12)


class TranscriptApp(App[None]):
    """A transcript and nothing else."""

    def __init__(self, clipboard: Clipboard | None = None) -> None:
        super().__init__()
        self.clipboard_used = clipboard
        self.copied: list[Transcript.Copied] = []

    def compose(self) -> ComposeResult:
        yield Transcript(clipboard=self.clipboard_used)

    def on_transcript_copied(self, message: Transcript.Copied) -> None:
        self.copied.append(message)


class Growing(Block):
    """A block that grows line by line."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: list[Line] = []

    def grow(self, text: str) -> None:
        self._lines.append(make_line(text))
        self.version += 1

    def make_lines(self, cells: int) -> Sequence[Line]:
        return list(self._lines)


class Seen:
    """What stands on the screen of a pilot."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.transcript = pilot.app.query_one(Transcript)

    async def rows(self) -> list[str]:
        """The rows, without the gutter and the scroll bar."""
        await self.settle()
        size = self.transcript.size
        return [self.transcript.render_line(y).text[2:-1].rstrip() for y in range(size.height)]

    async def bar(self) -> str:
        await self.settle()
        return "".join(self.transcript.render_line(y).text[-1] for y in range(self.transcript.size.height))

    async def find(self, text: str) -> tuple[int, int]:
        """The column and the row at which a text stands."""
        await self.settle()
        for y in range(self.transcript.size.height):
            row = self.transcript.render_line(y).text
            if text in row:
                return width(row[: row.index(text)]), y
        raise AssertionError(f"{text!r} is not in view")

    async def drag(self, start: tuple[int, int], end: tuple[int, int]) -> None:
        """Select with the mouse."""
        await self.pilot.mouse_down(offset=start)
        await self.pilot.hover(offset=end)
        await self.pilot.mouse_up(offset=end)
        await self.settle()

    def find_marked(self, style: str) -> list[str]:
        """The texts that stand out by an attribute, row by row."""
        strips = [self.transcript.render_line(y) for y in range(self.transcript.size.height)]
        found = ["".join(part.text for part in strip if part.style and getattr(part.style, style)) for strip in strips]
        return [text for text in found if text]

    async def settle(self) -> None:
        """Let what is due be drawn, however busy the machine is."""
        await self.pilot.pause(2 * FRAME)
        while self.transcript._is_marked or not self.transcript._drawn_at:
            await self.pilot.pause(FRAME)


@asynccontextmanager
async def open_transcript(
    *blocks: Block, size: tuple[int, int] = SIZE, clipboard: Clipboard | None = None
) -> AsyncIterator[Seen]:
    async with TranscriptApp(clipboard).run_test(size=size) as pilot:
        seen = Seen(pilot)
        for block in blocks:
            seen.transcript.add(block)
        yield seen


def make_messages(count: int) -> list[Block]:
    return [Said(f"message {number} {'word ' * (number % 40)}".rstrip()) for number in range(count)]
