"""A search in a transcript: block by block from where the view is, and no further than the next match."""

import re
from collections.abc import Iterator, Sequence

from mooring.chat.screen.stack import Spot, Stack
from mooring.chat.screen.wrap import TextSpan


class Search:
    """One search; small and capital letters are alike."""

    def __init__(self, stack: Stack, words: str) -> None:
        self.words = words
        self.found: Spot | None = None
        """The match that was gone to last."""
        self._stack = stack
        self._pattern = re.compile(re.escape(words), re.IGNORECASE)
        self._known: dict[int, tuple[tuple[int, int], Sequence[TextSpan]]] = {}

    def list_matches(self, index: int) -> Sequence[TextSpan]:
        """The matches in the text of a block."""
        key = (self._stack.blocks[index].version, self._stack.cells)
        known = self._known.get(index)
        if known is None or known[0] != key:
            matches = self._pattern.finditer(self._stack.find_text(index))
            known = self._known[index] = (key, [TextSpan(*match.span()) for match in matches])
        return known[1]

    def find_next(self, start: Spot) -> bool:
        """Go to the first match behind a character; whether there is one."""
        return self._go_to(
            spot for spot in self._list_spots(range(start.block, len(self._stack.blocks))) if spot > start
        )

    def find_previous(self, start: Spot) -> bool:
        """Go to the last match before a character; whether there is one."""
        return self._go_to(spot for spot in self._list_spots(range(start.block, -1, -1), -1) if spot < start)

    def _go_to(self, spots: Iterator[Spot]) -> bool:
        found = next(spots, None)
        if found is not None:
            self.found = found
        return found is not None

    def _list_spots(self, indexes: range, step: int = 1) -> Iterator[Spot]:
        for index in indexes:
            if not self._stack.blocks[index].may_hold(self.words):
                continue
            for match in self.list_matches(index)[::step]:
                yield Spot(index, match.start)
            # Nothing may be left laid out of what is only passed.
            self._stack.release()
