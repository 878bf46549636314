"""What a model says and thinks, as it comes in pieces."""

import time
from collections.abc import Callable, Sequence

from mooring.chat.screen.cards import estimate_height
from mooring.chat.screen.line import Line, Piece, indent_lines, make_line
from mooring.chat.screen.markdown import MarkdownText
from mooring.chat.screen.stack import Block
from mooring.chat.screen.wrap import wrap_text
from mooring.chat.thinking import describe_thinking
from mooring.display.text import count_noun, safe_text


class ReplyBlock(Block):
    """A reply in Markdown."""

    def __init__(self, source: str = "") -> None:
        """`source` is all of a reply that has ended; without it, the reply comes piece by piece."""
        super().__init__()
        self._text: MarkdownText | None = None if source else MarkdownText()
        self._source = source
        self._is_dropped = False

    def drop(self) -> None:
        """It broke off and begins anew: what it said so far is void."""
        self.end()
        self._is_dropped = self.can_open = True
        self.version += 1

    def feed(self, text: str) -> None:
        """The next piece."""
        if self._text is not None:
            self._text.feed(text)
            self.version += 1

    def end(self) -> None:
        """There is no more of it."""
        if self._text is not None:
            self._text.end()
            self._source = self._text.source
            self.version += 1

    def layout(self, cells: int) -> Sequence[Line]:
        if self._is_dropped and not self.is_open:
            return super().layout(cells)
        if self._text is None:
            self._text = MarkdownText()
            self._text.feed(self._source)
            self._text.end()
        return self._text.layout(cells)

    def make_lines(self, cells: int) -> Sequence[Line]:
        words = count_noun(len(self._source.split()), "word")
        return [make_line(f"a reply that broke off · {words}", "dim")]

    def estimate(self, cells: int) -> int:
        return estimate_height(self._source, cells)

    def may_hold(self, words: str) -> bool:
        # Marks of Markdown stand between words that are read as one text, and so do the ends of lines.
        return strip_marks(words) in strip_marks(self.write_source())

    def release(self) -> None:
        if self._source:
            self._text = None

    def write_source(self) -> str:
        return self._source or (self._text.source if self._text is not None else "")


def strip_marks(text: str) -> str:
    """A text without whatever may be left out, or stand elsewhere, once it is laid out."""
    return "".join(filter(str.isalnum, text.lower()))


class ThinkingBlock(Block):
    """What a model thinks before it goes on: one line, unless it is opened."""

    can_open = True
    head_lines = 1

    def __init__(self, text: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._pieces = [text] if text else []
        self._clock = clock
        self._began = clock()
        self._seconds: float | None = None
        self._words = len(text.split())
        self._is_in_word = False

    def feed(self, text: str) -> None:
        """The next piece."""
        self._pieces.append(text)
        # Counted as they come: a long thought is not split anew for each piece.
        joins = self._is_in_word and not text[:1].isspace()
        self._words += len(text.split()) - (1 if joins and text.strip() else 0)
        self._is_in_word = not text[-1:].isspace()
        self.version += 1

    def end(self) -> None:
        """It goes on with something else."""
        if self._seconds is None:
            self._seconds = self._clock() - self._began
            self.version += 1

    def make_lines(self, cells: int) -> Sequence[Line]:
        head = Line((Piece(self._describe(), "dim"),), (Piece("✻ ", "dim"),))
        if not self.is_open:
            return [head]
        lines = wrap_text(safe_text("".join(self._pieces).strip()), cells - 2, "dim")
        return [head, *indent_lines(lines, (Piece("  "),))]

    def _describe(self) -> str:
        if self._seconds is None:
            return f"thinking · {count_noun(self._words, 'word')}"
        return describe_thinking(self._seconds, self._words)

    def write_source(self) -> str:
        return "".join(self._pieces)
