"""What a chat needs of whatever shows it: a terminal to ask for lines and say some, and a view of what happens."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from mooring.chat.plain.dialog import DialogTerminal
from mooring.core.conversation.event import ConversationEvent

if TYPE_CHECKING:
    from mooring.chat.session import ChatSession
    from mooring.verbs.agent.options import ConversationOptions


class ChatTerminal(DialogTerminal):
    """A terminal that has a whole conversation."""

    on_interrupt: Callable[[], object] | None = None
    """What Ctrl+C does while no line is read; without it, the next line ends before it begins."""
    history: list[str]
    """Lines that were typed in earlier chats, before the first one is read."""

    def hold_for_prompt(self) -> AbstractAsyncContextManager[None]:
        """Held while the conversation's next line is read: here no question can be put meanwhile."""
        return self.dialog

    @property
    @abstractmethod
    def width(self) -> int:
        """How many cells a line has now."""

    @abstractmethod
    def show_progress(self, text: str) -> None:
        """Show how far something has come, in a line that changes."""

    @abstractmethod
    def clear_progress(self) -> None:
        """Take away the line that changes."""

    @property
    @abstractmethod
    def theme(self) -> str:
        """The theme that it is drawn in."""

    @abstractmethod
    def use_theme(self, name: str) -> str:
        """Draw everything in another theme; why that isn't possible, empty if it is."""

    @abstractmethod
    def list_keys(self) -> Sequence[tuple[str, str]]:
        """Its keys, and what each does."""

    @abstractmethod
    def end_at_once(self) -> None:
        """End the program, with the terminal as it was before."""


class ChatView(Protocol):
    """Shows what happens in the conversations of one chat."""

    def begin(self, doing: str) -> None:
        """Something begins; `doing` is what it does while no call is under way, empty if that needs no words."""

    def drawn(self) -> AbstractContextManager[None]:
        """Show that it is under way, and for how long."""

    def draw(self) -> None:
        """Show it anew."""

    async def show_history(self, id: str) -> bool:
        """Show all that was said before in the conversation of that id; whether it was shown."""

    def show(self, event: ConversationEvent, *, in_turn: bool) -> None:
        """Show what happened; `in_turn` says whether the chat has a turn under way."""


MakeView: TypeAlias = Callable[[ChatTerminal, "ChatSession"], ChatView]
MakeOptions: TypeAlias = "Callable[[], ConversationOptions | None]"
"""How the conversation is had. To say that takes modules that a screen loads after it is drawn."""
