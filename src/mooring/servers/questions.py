"""Who answers what a server asks while it works: the conversation whose call it works on."""

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from types import TracebackType
from typing import Self, TypeAlias

from msgspec import Struct

from mooring.core.conversation.question import Answer, Ask, No, Question
from mooring.servers.asking import ListRoots, make_answers
from mooring.wire.rpc.inbound import Responder

UNCLEAR = "It is not clear who is asked: more than one conversation uses the server."


class Answerer(Struct, frozen=True):
    """Who answers what servers ask: a person by `ask`, and the folders to work in, if they have their own."""

    ask: Ask | None = None
    list_roots: ListRoots | None = None


FindAnswerer: TypeAlias = Callable[[], Answerer]
"""Finds who answers for the current request, where one conversation has requests of several."""


class ServerQuestions:
    """The questions of one server. Where it is not clear whose call they belong to, nobody is asked."""

    def __init__(
        self,
        server: str,
        own: Ask | None,
        *,
        on_unanswered: Callable[[Question], None] = lambda question: None,
        on_unclear: Callable[[], None] = lambda: None,
    ) -> None:
        """`own` is asked while no call is in flight; `on_unanswered` gets what is asked when nobody can be."""
        self.server = server
        self.working: dict[Work, None] = {}
        """The calls in flight, oldest first."""
        self._own = own
        self._on_unanswered = on_unanswered
        self._on_unclear = on_unclear

    def working_for(self, answerer: "Answerer") -> "Work":
        """A call whose questions go to somebody; it is in flight while it is entered."""
        return Work(self, answerer.ask, copy_context(), answerer.list_roots)

    def find_working(self, connection: object) -> "list[Work]":
        """The calls that are on a second connection, or wait for it, oldest first; with `None`, on the server's own."""
        return [work for work in self.working if work.connection is connection]

    async def ask(self, question: Question, connection: object) -> Answer:
        """Ask about a call that the server does not name: all on that connection have to be of one conversation."""
        working = self.find_working(connection)
        if not working:
            return await self.put(question, self._own)
        oldest = working[0]
        if any(work.ask != oldest.ask for work in working):
            self._on_unclear()
            return No(UNCLEAR, how="cancel")
        return await oldest.put(question)

    async def put(self, question: Question, ask: Ask | None) -> Answer:
        """Put a question to somebody, if there is anybody."""
        if ask is not None:
            return await ask(question)
        # Nobody refused, so that the server may go on without an answer.
        self._on_unanswered(question)
        return No("Nobody can be asked here.", how="cancel", nobody=True)


class Work(Struct, eq=False):
    """A call in flight. Called, it returns what answers the server where it is known to ask about this call."""

    questions: ServerQuestions
    ask: Ask | None
    context: Context
    """That of the caller. What `ask` looks up there (the request it serves, the graph it runs in) is the caller's."""
    list_roots: ListRoots | None = None
    connection: object = None
    """What keeps the second connection that the call is on, or waits for; `None` if it is the server's own."""
    interrupt: Exception | None = None
    """What `ask` raised. It comes out of the call."""

    def __enter__(self) -> Self:
        self.questions.working[self] = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self.questions.working[self]
        # A call that was canceled stays canceled; any other end of it matters less than what the program raised.
        is_canceled = error is not None and not isinstance(error, Exception)
        if self.interrupt is not None and not is_canceled:
            raise self.interrupt

    def __call__(self) -> dict[str, Responder]:
        return make_answers(self.questions.server, self.put, self.list_roots)

    async def put(self, question: Question) -> Answer:
        """Put a question to the person behind the call. What `ask` raises comes out of the call."""
        putting = self.questions.put(question, self.ask)
        try:
            return await asyncio.get_running_loop().create_task(putting, context=self.context)
        except Exception as error:
            # By now the call may have ended, and there is nothing left to interrupt.
            if self not in self.questions.working:
                raise
            self.interrupt = error
            return No("The question was put off.", how="cancel")
