"""Where the person types: a text of up to ten lines, with history, completion and pastes that take one line.

Enter says it. Ctrl+J, Shift+Enter, or Enter behind a `\\` begins another line. All of these keys are settings.
"""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct
from textual import events
from textual.document._document import EditResult
from textual.document._edit import Edit
from textual.message import Message
from textual.widgets import TextArea

from mooring.chat.screen.dropped import may_be_dropped, spell_dropped
from mooring.chat.screen.folded import FoldedPastes
from mooring.chat.screen.keys import do_own_key, find_input_actions
from mooring.core.keys import choose_keys, spell_key

MOST_LINES = 10


class Submitted(Message):
    """The person said something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class QueueSent(Message):
    """What waits is to go into the turn under way."""


class Offered(Message):
    """What Tab can complete the text to; none if that is over."""

    def __init__(self, completions: Sequence[str]) -> None:
        super().__init__()
        self.completions = completions


class _HistorySearch(Struct):
    """A search in what was said before."""

    draft: str
    """What was being typed."""
    words: str = ""
    found: int | None = None
    """Where it was found."""


class _HistoryPlace(Struct):
    """Where in the history the person is, and what they had typed before."""

    position: int
    draft: str


class Prompt(TextArea):
    """The input of a conversation."""

    DEFAULT_CSS = f"""
    Prompt {{
        height: auto; max-height: {MOST_LINES}; border: none; padding: 0;
        background: transparent; scrollbar-size-vertical: 1;
        & .text-area--cursor-line {{ background: transparent; }}
    }}
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id, soft_wrap=True, show_line_numbers=False, tab_behavior="focus", compact=True)
        self.cursor_blink = False  # what blinks costs power while nobody types
        self.highlight_cursor_line = False
        self.said: list[str] = []
        self._place: _HistoryPlace | None = None
        self.complete: Callable[[str], Sequence[str]] = lambda _: ()
        self._pastes = FoldedPastes()
        self._is_offering = False
        self._search: _HistorySearch | None = None
        self.actions = find_input_actions(choose_keys({}).keys)
        """What a key does, if not what it does in any text."""
        self.take_queued: Callable[[], str | None] = lambda: None
        """Gives back what was said last and has not had its turn."""

    # --- the text ---------------------------------------------------------------------------------------------------

    @property
    def whole_text(self) -> str:
        """What was typed, with each paste as it was."""
        return self._pastes.unfold(self.text)

    def set_text(self, text: str) -> None:
        """Have the person go on with a text."""
        self.text = text
        self.move_cursor(self.document.end)

    def add_text(self, text: str) -> None:
        """Add to what was typed, on a line of its own."""
        before = self.text.rstrip("\n")
        self.set_text(f"{before}\n{text}" if before else text)

    def take(self) -> str:
        """What was typed; the input is empty then."""
        text = self.whole_text
        self.clear()
        self._pastes.clear()
        self._place = None
        return text

    def insert_paste(self, text: str) -> None:
        """Insert what was pasted; many lines are shown as one, and said as they are."""
        self._replace_via_keyboard(self._pastes.fold(text.replace("\r\n", "\n").replace("\r", "\n")), *self.selection)

    def insert_words(self, text: str) -> None:
        """Insert something that stands by itself: blanks set it off from what is around it."""
        row, column = min(self.selection)
        before = self.document.get_line(row)[:column]
        lead = " " if before and not before[-1].isspace() else ""
        self._replace_via_keyboard(f"{lead}{text} ", *self.selection)

    def edit(self, edit: Edit) -> EditResult:
        """Change the text; of a folded paste, an edit changes all or nothing."""
        return super().edit(self._widen(edit))

    def _widen(self, edit: Edit) -> Edit:
        (top, start), (bottom, end) = edit.top, edit.bottom
        if top == bottom:
            start, end = self._pastes.widen(self.document.get_line(top), start, end)
        else:
            first, last = self.document.get_line(top), self.document.get_line(bottom)
            start = self._pastes.widen(first, start, len(first)).start
            end = self._pastes.widen(last, 0, end).end
        if ((top, start), (bottom, end)) == (edit.top, edit.bottom):
            return edit
        return Edit(edit.text, (top, start), (bottom, end), edit.maintain_selection_offset)

    async def type_key(self, event: events.Key) -> None:
        """Take a key that was pressed elsewhere, but was meant for this."""
        await self._on_key(event)

    # --- keys -------------------------------------------------------------------------------------------------------

    async def _on_key(self, event: events.Key) -> None:
        if self._search is not None and self._search_key(self._search, event):
            event.stop()
            event.prevent_default()
            return
        match self.actions.get(event.key, event.key):
            case "search-history":
                self._search = _HistorySearch(self.text)
                self._show_search(self._search)
            case "send":
                self._say_or_break()
            case "newline":
                self.insert("\n")
            case "complete":
                self._complete()
            case "up" if self.cursor_location[0] == 0 and self._go_back():
                pass
            case "down" if self.cursor_location[0] == self.document.line_count - 1 and self._go_forth():
                pass
            case _:
                self._end_offer()
                if not await do_own_key(self, event.key):
                    await super()._on_key(event)
                    return
        event.stop()
        event.prevent_default()

    def _say_or_break(self) -> None:
        row, column = self.cursor_location
        line = self.document.get_line(row)[:column]
        if (len(line) - len(line.rstrip("\\"))) % 2 == 1:
            self.action_delete_left()
            self.insert("\n")
            return
        self._end_offer()
        if self.text.strip():
            text = self.take()
            if not self.said or self.said[-1] != text:
                self.said.append(text)
            self.post_message(Submitted(text))
        else:
            self.post_message(QueueSent())

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        dropped = "" if self._is_command else await self._find_dropped(event.text)
        if dropped:
            self.insert_words(dropped)
        else:
            self.insert_paste(event.text)

    @property
    def _is_command(self) -> bool:
        """Whether what was typed is for Mooring or the shell: they take a path as it is."""
        return self.text.startswith(("/", "!"))

    async def _find_dropped(self, text: str) -> str:
        """The mentions of the files whose paths were pasted; empty if it isn't just that."""
        # In a thread: a path may lead to a disk that doesn't answer.
        return await asyncio.to_thread(spell_dropped, text) if may_be_dropped(text) else ""

    # --- completion -------------------------------------------------------------------------------------------------

    def _complete(self) -> None:
        """Go on as far as all completions agree, and show them if there are several."""
        typed = self.text
        if "\n" in typed:
            return
        found = list(self.complete(typed))
        common = _find_common_start(found)
        if len(common) > len(typed):
            self.set_text(common)
        if len(found) > 1:
            self._is_offering = True
            self.post_message(Offered(found))
        else:
            self._end_offer()

    def _end_offer(self) -> None:
        if self._is_offering:
            self._is_offering = False
            self.post_message(Offered(()))

    # --- history ----------------------------------------------------------------------------------------------------

    def _go_back(self) -> bool:
        """Show what was said before; whether there was anything."""
        queued = None if self.text else self.take_queued()
        if queued is not None:
            self.set_text(queued)
            return True
        place = self._place or _HistoryPlace(len(self.said), self.text)
        if place.position == 0:
            return False
        place.position -= 1
        self._place = place
        self.set_text(self.said[place.position])
        return True

    def _go_forth(self) -> bool:
        """Show what was said after it, at last what was being typed; whether there was anything."""
        place = self._place
        if place is None:
            return False
        place.position += 1
        if place.position < len(self.said):
            self.set_text(self.said[place.position])
        else:
            self._place = None
            self.set_text(place.draft)
        return True

    def _search_key(self, search: _HistorySearch, event: events.Key) -> bool:
        """Take a key of the search; `False` if it ends the search, and does what it always does."""
        match self.actions.get(event.key, event.key):
            case "search-history":
                self._find_earlier(search, search.found)
            case "backspace":
                search.words = search.words[:-1]
                self._find_earlier(search, None)
            case _ if event.character is not None and event.is_printable:
                search.words += event.character
                self._find_earlier(search, None if search.found is None else search.found + 1)
            case _:
                self._end_search()
                return False
        return True

    def _find_earlier(self, search: _HistorySearch, before: int | None) -> None:
        """Show what was said last before that place with these words in it, if anything was."""
        end = len(self.said) if before is None else before
        found = next((number for number in reversed(range(end)) if search.words in self.said[number]), None)
        if found is not None and search.words:
            search.found = found
            self.set_text(self.said[found])
        self._show_search(search)

    def _show_search(self, search: _HistorySearch) -> None:
        self._is_offering = True
        key = next((spell_key(key) for key, action in self.actions.items() if action == "search-history"), "")
        self.post_message(Offered([f"search: {search.words} · {key} finds an earlier one, Esc goes back"]))

    @property
    def is_searching(self) -> bool:
        return self._search is not None

    def cancel_search(self) -> None:
        """Go on with what was being typed."""
        if self._search is not None:
            self.set_text(self._search.draft)
            self._end_search()

    def _end_search(self) -> None:
        self._search = None
        self._end_offer()


def _find_common_start(texts: Sequence[str]) -> str:
    if not texts:
        return ""
    first, last = min(texts), max(texts)
    size = next(
        (number for number, character in enumerate(first) if last[number : number + 1] != character), len(first)
    )
    return first[:size]
