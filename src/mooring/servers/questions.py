"""Who answers what a server asks while it works: the conversation whose call it works on."""

from collections.abc import Callable
from types import TracebackType

from mooring.core.question import Answer, Ask, No, Question

UNCLEAR = "It is not clear who is asked: more than one conversation uses the server."


class ServerQuestions:
    """The questions of one server. Where it is not clear whose call they belong to, nobody is asked."""

    def __init__(
        self,
        own: Ask | None,
        *,
        on_unanswered: Callable[[Question], None] = lambda question: None,
        on_unclear: Callable[[], None] = lambda: None,
    ) -> None:
        """`own` is asked while no call is in flight; `on_unanswered` gets what is asked when nobody can be."""
        self._own = own
        self._on_unanswered = on_unanswered
        self._on_unclear = on_unclear
        self._working: dict[_Work, None] = {}

    def working_for(self, ask: Ask | None) -> "_Work":
        """While this is entered, a call is in flight whose questions go to `ask`; what `ask` raises comes out of it."""
        return _Work(self._working, ask)

    async def ask(self, question: Question) -> Answer:
        """Ask whoever the server works for."""
        working = tuple(self._working)
        ask = working[0].ask if working else self._own
        if any(work.ask != ask for work in working):
            self._on_unclear()
            return No(UNCLEAR, how="cancel")
        if ask is None:
            # Nobody refused, so that the server may go on without an answer.
            self._on_unanswered(question)
            return No("Nobody can be asked here.", how="cancel")
        try:
            return await ask(question)
        except Exception as error:
            # A program may raise to interrupt its run. By now the call may have ended, and another one have begun.
            for work in working:
                if work in self._working:
                    work.interrupt = error
                    return No("The question was put off.", how="cancel")
            raise


class _Work:
    """A call in flight. Every call makes one, so it is no generator, which would take four times as long."""

    __slots__ = ("_working", "ask", "interrupt")

    def __init__(self, working: "dict[_Work, None]", ask: Ask | None) -> None:
        self._working = working
        self.ask = ask
        self.interrupt: Exception | None = None
        """What `ask` raised when the server asked something."""

    def __enter__(self) -> None:
        self._working[self] = None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self._working[self]
        # A call that was canceled stays canceled; any other end of it matters less than what the program raised.
        is_canceled = error is not None and not isinstance(error, Exception)
        if self.interrupt is not None and not is_canceled:
            raise self.interrupt
