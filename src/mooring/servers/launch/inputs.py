"""The inputs of a definition, such as `${input:token}`: asked for when its server is used, and never before.

A start asks nobody. It takes what was answered before, or the default, and fails where there is neither: so a server
that is started in the background, or by a listing of everything, cannot put a question in anybody's way.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, TypeAlias

from msgspec import Struct

from mooring.core.conversation.question import Ask, MissingValue, Yes
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import list_inputs
from mooring.core.definitions.template import Gap, InputPart
from mooring.errors import InputMissing

Fetch: TypeAlias = Callable[[], Coroutine[Any, Any, str | Gap]]


class Secrets:
    """Fetched values by key, for as long as the host lives.

    Callers who want a value that is being fetched share that fetch. A failure reaches all of them and isn't kept, so
    that a person can unlock their password store and start the server again.
    """

    def __init__(self) -> None:
        self._values: dict[Hashable, str] = {}
        self._fetches: dict[Hashable, _SharedFetch] = {}

    async def fetch_once(self, key: Hashable, fetch: Fetch) -> str | Gap:
        """The value of a key, fetched if it is unknown. The fetch is canceled once nobody waits for it any more."""
        if key in self._values:
            return self._values[key]
        shared = self._fetches.get(key)
        if shared is None:
            shared = self._fetches[key] = _SharedFetch(asyncio.create_task(fetch()))
        shared.waiters += 1
        try:
            # Shielded: a caller who gives up leaves the fetch to the others.
            return await asyncio.shield(shared.task)
        finally:
            shared.waiters -= 1
            if not shared.waiters:
                self._end(key, shared)

    def get(self, key: Hashable) -> str | None:
        """A value that was fetched before."""
        return self._values.get(key)

    def forget(self) -> None:
        """Fetch every value again when it is next wanted."""
        self._values.clear()

    def _end(self, key: Hashable, shared: "_SharedFetch") -> None:
        if self._fetches.get(key) is shared:
            del self._fetches[key]
        task = shared.task
        if not task.done():
            task.cancel()
        elif not task.cancelled() and task.exception() is None and isinstance(value := task.result(), str):
            self._values[key] = value


class _SharedFetch(Struct):
    """A fetch under way, and how many wait for it."""

    task: asyncio.Task[str | Gap]
    waiters: int = 0

    def __repr__(self) -> str:
        return "<_SharedFetch>"  # the task's own repr shows its result


def find_missing_inputs(approved: Approved, secrets: Secrets) -> tuple[InputPart, ...]:
    """The inputs without which the server cannot be started."""
    inputs = list_inputs(approved.config.connection, approved.config.oauth)
    return tuple(part for part in inputs if find_input(approved, part, secrets) is None)


def find_unanswered_inputs(approved: Approved, secrets: Secrets) -> tuple[InputPart, ...]:
    """The inputs that the person is asked for when the server is used, those with a default too."""
    inputs = list_inputs(approved.config.connection, approved.config.oauth)
    return tuple(part for part in inputs if secrets.get(_make_key(approved, part)) is None)


def find_input(approved: Approved, part: InputPart, secrets: Secrets) -> str | None:
    """What the person answered, or the default."""
    answered = secrets.get(_make_key(approved, part))
    return part.default if answered is None else answered


async def ask_inputs(approved: Approved, secrets: Secrets, ask: Ask) -> None:
    """Ask for every input that was not answered before, one after the other.

    Raises: InputMissing at the first one that is refused and has no default: no other would be of use.
    """
    for part in list_inputs(approved.config.connection, approved.config.oauth):
        answer = await _ask_once(approved, part, secrets, ask)
        if isinstance(answer, Gap) and part.default is None:
            raise InputMissing(approved.name, part.id)


async def _ask_once(approved: Approved, part: InputPart, secrets: Secrets, ask: Ask) -> str | Gap:
    async def put_question() -> str | Gap:
        question = MissingValue(approved.name, part.id, part.description, part.default, part.secret, part.options)
        match await ask(question):
            case Yes(str(text)):
                return text
            case _:
                return Gap("was not given")

    return await secrets.fetch_once(_make_key(approved, part), put_question)


def _make_key(approved: Approved, part: InputPart) -> Hashable:
    # Servers of one file share the inputs that it defines.
    return "input", approved.config.origin.path, part
