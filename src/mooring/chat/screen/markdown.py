"""Markdown as it streams: text goes in piece by piece, lines come out; only what is still open is laid out again."""

from collections.abc import Sequence

from mooring.chat.screen.blocks import BlockReader
from mooring.chat.screen.leaves import MOST_CHARACTERS, CodeText, LayoutRoom, Position, Prose
from mooring.chat.screen.line import Line
from mooring.display.text import safe_text

_LEAST_CELLS = 8
_TAB = 4
_MOST_CUTS = 8
"""No paragraph that a person wrote is longer: the rest of it stays plain."""


class MarkdownText:
    """One text, such as the reply of a model."""

    def __init__(self, text: str = "") -> None:
        self._source: list[str] = []
        self._reader = BlockReader()
        self._tail: list[str] = []
        """What was fed since the last newline."""
        self._tail_size = 0
        self._cuts = 0
        """How many parts of the tail's line were read already, because it is that long."""
        self._is_ended = False
        self._room: LayoutRoom | None = None
        self._laid: list[Line] = []
        """The lines of all finished leaves."""
        self._laid_leaves = 0
        self._shown: list[Line] | None = None
        if text:
            self.feed(text)
            self.end()

    @property
    def source(self) -> str:
        """Everything that was fed."""
        self._source = ["".join(self._source)]
        return self._source[0]

    def feed(self, text: str) -> None:
        """The next piece of the text, however short."""
        if not text:
            return
        self._source.append(text)
        self._shown = None
        if "\n" in text:
            *lines, text = "".join([*self._tail, text]).split("\n")
            for line in lines:
                self._read_line(line)
            self._tail, self._tail_size = [], 0
        self._tail.append(text)
        self._tail_size += len(text)
        if self._tail_size > MOST_CHARACTERS:
            rest = self._read_beginnings("".join(self._tail))
            self._tail, self._tail_size = [rest], len(rest)

    def end(self) -> None:
        """There is no more of it."""
        if self._is_ended:
            return
        self._is_ended = True
        self._shown = None
        tail = "".join(self._tail)
        if tail:
            self._read_line(tail)
        self._tail = []
        self._reader.close()

    def layout(self, cells: int) -> Sequence[Line]:
        """Its lines, at most so many cells wide except for code; the same object as long as nothing changed."""
        room = LayoutRoom(max(cells, _LEAST_CELLS))
        if self._room != room:
            self._room = room
            self._laid, self._laid_leaves, self._shown = [], 0, None
        if self._shown is None:
            self._lay_finished(room)
            self._shown = [*self._laid, *self._lay_open(LayoutRoom(room.cells, is_open=not self._is_ended))]
        return self._shown

    def release(self) -> None:
        """Forget the lines: they can be laid out again."""
        self._room = self._shown = None
        self._laid, self._laid_leaves = [], 0
        for leaf in self._reader.leaves:
            leaf.release()

    def _read_line(self, line: str) -> None:
        rest = self._read_beginnings(line)
        self._read_part(rest.removesuffix("\r"))
        self._cuts = 0

    def _read_beginnings(self, line: str) -> str:
        """Reads what is too long of a line; returns its end."""
        while len(line) > MOST_CHARACTERS:
            space = line.rfind(" ", MOST_CHARACTERS // 2, MOST_CHARACTERS)
            size = MOST_CHARACTERS if space < 0 else space + 1
            self._read_part(line[:size])
            self._reader.note_cut("" if space < 0 else " ")
            self._cuts += 1
            line = line[size:]
        return line

    def _read_part(self, part: str) -> None:
        shown = _make_safe(part)
        if self._cuts:
            self._reader.read_more(shown, is_plain=self._cuts > _MOST_CUTS)
        else:
            self._reader.read(shown)

    def _lay_finished(self, room: LayoutRoom) -> None:
        leaves = self._reader.leaves
        finished = len(leaves) - (self._reader.open is not None)
        for leaf in leaves[self._laid_leaves : finished]:
            self._laid.extend(leaf.layout(room))
        self._laid_leaves = finished

    def _lay_open(self, room: LayoutRoom) -> list[Line]:
        leaf = self._reader.open
        tail = "".join(self._tail)
        self._tail = [tail]
        shown = _make_safe(tail.removesuffix("\r"))
        if not shown:
            return [] if leaf is None else leaf.layout(room)
        if self._cuts:
            return self._lay_cut(room, shown)
        return self._lay_tail(room, shown)

    def _lay_tail(self, room: LayoutRoom, tail: str) -> list[Line]:
        """The open leaf with what the tail adds to it, or behind it what the tail begins."""
        leaf = self._reader.open
        effect = self._reader.peek(tail)
        lines: list[Line] = []
        if leaf is not None:
            text = effect.text if effect.kind == "add" else None
            if text is not None and isinstance(leaf, CodeText) and _may_end(text, leaf):
                text = None
            is_open = effect.kind != "start" or effect.takes_line
            lines = leaf.layout(room if is_open else LayoutRoom(room.cells), text)
        if effect.leaf is not None and not effect.takes_line:
            lines = [*lines, *effect.leaf.layout(room)]
        return lines

    def _lay_cut(self, room: LayoutRoom, tail: str) -> list[Line]:
        """The end of a line whose beginning was read already."""
        leaf = self._reader.open
        lines = [] if leaf is None else leaf.layout(room)
        if not isinstance(leaf, Prose):
            # So far to the right, nobody sees code grow: the rest of it comes with the next part or the newline.
            return lines
        margin = leaf.position.rest
        rest = Prose(Position(None, margin, margin), tail)
        rest.is_plain = True
        return [*lines, *rest.layout(room)]


def _make_safe(line: str) -> str:
    return safe_text(line).expandtabs(_TAB) if line else line


def _may_end(text: str, code: CodeText) -> bool:
    """Whether a half-written line of code may become the fence that ends it."""
    return bool(code.fence) and code.fence.startswith(text.strip())
