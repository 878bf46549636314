"""Who answers what a server asks while it works: the conversation whose call it works on, or nobody."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextvars import Context, copy_context
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from msgspec import Raw, Struct

from mooring.core.conversation.question import Allow, Answer, Ask, Form, No, Question, Sampling, Visit, Yes
from mooring.core.protocol.result import LogMessage
from mooring.errors import RpcError

if TYPE_CHECKING:
    from mooring.wire.rpc.inbound import Responder
    from mooring.wire.session.client import Client, ListName, Respond

ListRoots: TypeAlias = Callable[[], Awaitable[Sequence[Any]]]
"""The folders that a program works in, as the protocol has them."""

REFUSED = -1
"""The error code that the protocol has for a person who refused."""


def make_client(
    server: str,
    roots: Sequence[str],
    ask: Ask,
    *,
    on_change: "Callable[[ListName], None] | None" = None,
    on_update: Callable[[str], None] | None = None,
    on_log: Callable[[LogMessage], None] | None = None,
) -> "Client":
    """This side of a connection.

    Every client declares the same capabilities, whether or not there is anyone to ask. Servers offer other tools to
    clients with other capabilities: what the command line had pinned, the chat would refuse.
    """
    from mooring.wire.session.client import Client, Root  # a conversation without servers needs none of it

    return Client(
        roots=lambda: [Root.of(folder) for folder in roots],
        sample=_make_sampler(server, ask),
        elicit=_make_elicitor(server, ask),
        elicit_by_url=True,
        on_change=on_change,
        on_update=on_update,
        on_log=on_log,
    )


def make_answers(server: str, ask: Ask, list_roots: ListRoots | None = None) -> "dict[str, Responder]":
    """What answers a server in the name of one person; the folders are theirs only with `list_roots`."""
    from mooring.wire.session.client import Client  # as above

    answers = Client(sample=_make_sampler(server, ask), elicit=_make_elicitor(server, ask)).answers()
    if list_roots is not None:

        async def answer(_: Raw) -> Mapping[str, Any]:
            return {"roots": await list_roots()}

        answers["roots/list"] = answer
    return answers


def find_roots(folder: str, home: str) -> list[str]:
    """The folders that a server is told to work in: the project's, unless that holds all that the person has.

    server-filesystem replaces the folders it was configured with by these. Somebody who calls it from the home folder,
    or from `/`, does not mean to open all of it.
    """
    holds_everything = os.path.join(home, "").startswith(os.path.join(folder, ""))
    return [] if holds_everything else [folder]


def _make_sampler(server: str, ask: Ask) -> "Respond":
    from mooring.wire.session.client import asked_as  # as above

    async def sample(params: dict[str, Any]) -> Mapping[str, Any]:
        match await ask(Sampling(server, params, asked_as.get())):
            case Yes(content) if isinstance(content, Mapping):
                return content
            case Yes() | Allow():
                raise RpcError(server, REFUSED, "There is no model to ask here.")
            case No(reason):
                raise RpcError(server, REFUSED, reason or "The person refused the request.")

    return sample


def _make_elicitor(server: str, ask: Ask) -> "Respond":
    async def elicit(params: dict[str, Any]) -> Mapping[str, Any]:
        match await ask(_make_question(server, params)):
            case Yes(None) | Allow():
                return {"action": "accept"}
            case Yes(content):
                return {"action": "accept", "content": content}
            case No(how=how):
                return {"action": how}

    return elicit


def _make_question(server: str, params: Mapping[str, Any]) -> Question:
    from mooring.wire.session.client import asked_as  # as above

    message, key = str(params.get("message", "")), asked_as.get()
    if params.get("mode") == "url":
        return Visit(server, message, str(params.get("url", "")), str(params.get("elicitationId", "")), key)
    schema = params.get("requestedSchema")
    return Form(server, message, schema if isinstance(schema, Mapping) else {}, key)


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

    def __call__(self) -> "dict[str, Responder]":
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
