"""A conversation that is killed at its n-th write, for every n, and goes on in a process of its own each time.

Run by test_sessions_killed.py: `killed.py FOLDER statement`, or `killed.py FOLDER LIBRARY` with a library preloaded that
ends the process inside the system calls of SQLite. Prints what it counted.
"""

import asyncio
import ctypes
import json
import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec

sys.path.insert(0, str(Path(__file__).parents[1]))

from killing import KILLED, kill_at_statement

from mooring.agents.history import (
    CallBlock,
    CallResult,
    Message,
    ModelMessage,
    ReplyBlock,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
)
from mooring.agents.loop import run_turn
from mooring.agents.model import BlockFinished, ModelRequest, ReplyEvent, ReplyFinished, ReplyText
from mooring.agents.reporter import TurnReporter
from mooring.agents.sessions.store import ResumedSession, SessionStore
from mooring.agents.thread import AgentThread
from mooring.conversation.events import EventStream
from mooring.core.conversation.call import ToolCall
from mooring.core.conversation.event import TokenUsage
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.turn import TurnInput
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.content import Text
from support import Swift

FOLDER = sys.argv[1]
SAID, RAN = f"{FOLDER}/said", f"{FOLDER}/ran"
WHERE = Paths(f"{FOLDER}/home", {})
DONE = 0
MOST_WRITES = 2_000


def log(path: str, line: str) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def read_log(path: str) -> list[str]:
    return Path(path).read_text().splitlines() if os.path.exists(path) else []


# --- the conversation -------------------------------------------------------------------------------------------------

REPLIES: list[list[str | CallBlock]] = [
    ["I look at both first.", CallBlock("a", "look", "{}"), CallBlock("b", "look", "{}")],
    ["Now I change it.", CallBlock("c", "change", "{}")],
    ["All of it is done."],
    ["And once more.", CallBlock("d", "change", "{}")],
    ["That was the last of it."],
]


class Model:
    """Says what the script has next; each piece of text is followed by a second of silence."""

    name = "scripted:one"
    schemas = None
    takes = frozenset[Any]()
    window = None

    def __init__(self, replies: list[list[str | CallBlock]]) -> None:
        self.replies = list(replies)

    async def reply(self, request: ModelRequest) -> AsyncGenerator[ReplyEvent, None]:
        check_history(request.messages)
        blocks: list[ReplyBlock] = []
        for step in self.replies.pop(0):
            if isinstance(step, str):
                for piece in (step[:6], step[6:]):
                    yield ReplyText(piece)
                    await asyncio.sleep(1.0)
                    log(SAID, piece)
                blocks.append(TextBlock(step))
            else:
                blocks.append(step)
            yield BlockFinished(blocks[-1])
            log(SAID, step if isinstance(step, str) else f"call {step.id}")
        yield ReplyFinished(ModelMessage(tuple(blocks), self.name), TokenUsage(1, 1), 0.5)

    async def close(self) -> None:
        return


class Tools:
    """Runs a tool: what it does to the world is a line in a file."""

    definitions = ()

    def __init__(self, thread: AgentThread) -> None:
        self.thread = thread

    def find(self, name: str) -> None:
        return None

    async def call(
        self, name: str, arguments: Mapping[str, Any] | str | None = None, *, id: str | None = None
    ) -> Outcome:
        assert id is not None
        await asyncio.sleep(0)
        call = ToolCall(id=id, server=None, tool=name, name=name, arguments={})
        self.thread.reporter.stream.move_call(call, None, False)
        log(RAN, id)
        await asyncio.sleep(0)
        return Outcome((Text(f"result of {id}"),), tool=name)


def fail(problem: Problem) -> None:
    raise AssertionError(problem)


async def converse() -> None:
    """Two turns, with room made between them."""
    journal = SessionStore(WHERE, on_problem=fail).begin(FOLDER, model=Model.name)
    thread = AgentThread(Model(REPLIES), TurnReporter(EventStream(journal.id), "test"), journal=journal)
    thread.tools = Tools(thread)  # type: ignore[assignment]
    await take_turn(thread, "First thing")
    compacted = (SummaryMessage("It was looked at."), *thread.messages[-3:])
    journal.compact(compacted)
    thread.messages = list(compacted)
    await take_turn(thread, "Second thing")
    journal.close()


async def take_turn(thread: AgentThread, words: str) -> None:
    await run_turn(thread, TurnInput(words))
    log(SAID, words)


async def go_on() -> None:
    """Resume, do what was left, and say one more thing."""
    resumed = SessionStore(WHERE).resume(SessionStore(WHERE).find_newest(FOLDER).id)
    check_nothing_lost(resumed)
    check_waiting(resumed)
    replies: list[list[str | CallBlock]] = [["Going on."], ["Good."]]
    if not resumed.waiting and not resumed.ended:
        del replies[0]
    thread = AgentThread(
        Model(replies),
        TurnReporter(EventStream(resumed.journal.id), "test"),
        journal=resumed.journal,
        messages=resumed.messages,
        ended=resumed.ended,
    )
    thread.tools = Tools(thread)  # type: ignore[assignment]
    if len(replies) == 2:
        await run_turn(thread, None)
    await take_turn(thread, "Third thing")
    resumed.journal.close()
    again = SessionStore(WHERE).resume(resumed.journal.id)
    assert again.messages == tuple(thread.messages), (again.messages, thread.messages)
    assert not again.ended
    assert not again.waiting
    check_nothing_lost(again)
    again.journal.close()


# --- what has to be true of it ----------------------------------------------------------------------------------------


def check_history(messages: tuple[Message, ...]) -> None:
    """Each call has exactly one result, in its place."""
    for index, message in enumerate(messages):
        follower = messages[index + 1] if index + 1 < len(messages) else None
        before = messages[index - 1] if index else None
        if isinstance(message, ModelMessage) and message.calls:
            assert isinstance(follower, ResultsMessage), messages
            assert [result.id for result in follower.results] == [each.id for each in message.calls]
        if isinstance(message, ResultsMessage):
            assert isinstance(before, ModelMessage), messages
            assert before.calls


def check_nothing_lost(resumed: ResumedSession) -> None:
    """All that was said, and every result, is in the session, word by word."""
    _, transcript = SessionStore(WHERE).read(resumed.journal.id)
    stored = [msgspec.json.encode(entry.message).decode() for entry in transcript]
    for line in read_log(SAID):
        words = f'"id":"{line.removeprefix("call ")}"' if line.startswith("call ") else json.dumps(line)[1:-1]
        assert any(words in message for message in stored), (line, stored)


def check_waiting(resumed: ResumedSession) -> None:
    """What ran is not waiting to run; what may have run and has no result says so."""
    ran = read_log(RAN)
    assert not {call.id for call in resumed.waiting} & set(ran)
    last = resumed.messages[-1]
    settled = [*resumed.messages]
    if isinstance(last, ModelMessage) and last.calls:
        known = {result.id: result for result in resumed.ended}
        assert {call.id for call in last.calls} == {*known, *(call.id for call in resumed.waiting)}
        settled.append(ResultsMessage(tuple(known.get(call.id) or make_result(call) for call in last.calls)))
    check_history(tuple(settled))


def make_result(call: CallBlock) -> CallResult:
    return CallResult(call.id, call.name, ())


# --- the kills --------------------------------------------------------------------------------------------------------


def run_apart(work: Callable[[], Any], arm: Callable[[], None] = lambda: None) -> int:
    """How a process that does this ends."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        with asyncio.Runner(loop_factory=Swift) as runner:
            arm()
            runner.run(work())
        code = 0
    finally:
        # Nothing of the process that it was forked from is its business.
        sys.excepthook(*sys.exc_info()) if code else None  # type: ignore[arg-type]
        os._exit(code)


def clear() -> None:
    for path in Path(FOLDER).rglob("*"):
        if path.is_file():
            path.unlink()


def main(mode: str) -> None:
    library = None if mode == "statement" else ctypes.CDLL(mode)
    arm = kill_at_statement if library is None else library.arm
    found: Counter[str] = Counter()
    for number in range(MOST_WRITES):
        clear()
        code = run_apart(converse, lambda number=number: arm(number))  # type: ignore[misc]
        assert code in (KILLED, DONE), (number, code)
        found["kills"] += code == KILLED
        if SessionStore(WHERE).list(FOLDER):
            found["resumed"] += 1
            resumed = peek()
            found["waiting"] += bool(resumed.waiting)
            found["interrupted"] += any(result.is_error for result in resumed.ended)
            code_after = run_apart(go_on)
            assert code_after == DONE, (number, code_after)
        else:
            assert not read_log(SAID), (number, read_log(SAID))
        ran = Counter(read_log(RAN))
        assert not ran or max(ran.values()) == 1, (number, ran)
        if code == DONE:
            assert sorted(ran) == ["a", "b", "c", "d"]
            sys.stdout.write(json.dumps(found))
            return
    raise AssertionError("it never came to its end")


def peek() -> ResumedSession:
    """What a session is resumed with; nothing but the owner changes."""
    store = SessionStore(WHERE)
    resumed = store.resume(store.find_newest(FOLDER).id)
    resumed.journal.close()
    return resumed


if __name__ == "__main__":
    main(sys.argv[2])
