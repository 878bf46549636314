"""What every adapter has to do, shown through a run of its framework's own agent with a model that follows a script."""

import asyncio
import os
import signal
import sys
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest
from tests.peers.processes import marked

import mooring
from support import Home

Call = tuple[str, dict[str, Any]]
Turn = str | Sequence[Call] | Callable[[], Sequence[Call]]
"""What the model does when it is asked: it answers, or calls tools; a function is run first, and says which."""

ADD: Call = ("mcp__demo__add", {"a": 2, "b": 40})
ECHO: Call = ("mcp__demo__echo", {"text": "ahoy"})
NOTE: Call = ("mcp__demo__note", {"text": "kept"})
SUM = '{"sum": 42}'
PNG = b"\x89PNG\r\n\x1a\n"


@dataclass
class Reply:
    """What the model was given for one call."""

    text: str = ""
    images: list[bytes] = field(default_factory=list)
    is_error: bool = False


class Run(ABC):
    """One run of an agent, which may be interrupted and resumed."""

    def __init__(self, tools: mooring.Conversation, turns: Sequence[Turn]) -> None:
        self.tools = tools
        self.turns = list(turns)
        self.offered: list[dict[str, Any]] = []
        """The schema of each tool that the model was shown, by name, for each time it was asked."""
        self.answer = ""
        self.waiting: list[str] = []
        """The tools whose calls wait for a person."""

    def next_turn(self) -> str | Sequence[Call]:
        turn = self.turns.pop(0)
        return turn() if callable(turn) else turn

    @abstractmethod
    async def start(self) -> None:
        """Run until the answer, or until something waits for a person."""

    @abstractmethod
    async def resume(self, approved: bool) -> None:
        """Go on with the person's answer to all that waits."""

    @property
    @abstractmethod
    def replies(self) -> list[Reply]:
        """What the model was given for its calls, in order."""


class Sink:
    """Everything that happens to calls."""

    def __init__(self) -> None:
        self.finished: list[mooring.ToolFinished] = []
        self.began = asyncio.Event()

    def __call__(self, event: mooring.ConversationEvent) -> None:
        if isinstance(event, mooring.ToolProgress):
            self.began.set()
        if isinstance(event, mooring.ToolFinished):
            self.finished.append(event)

    def ended(self, tool: str) -> list[mooring.ToolFinished]:
        return [event for event in self.finished if event.tool == tool]


class Behaviors:
    """Inherited by the tests of each adapter, which say how a run of their framework is made."""

    run: ClassVar[type[Run]]
    interruptible: ClassVar[type[Run] | None] = None
    """The same where an interruption is asked for otherwise than by `ask`."""
    ask: ClassVar[mooring.Ask | None] = None
    """The `ask` that interrupts a run, where the adapter has one."""
    flags_errors: ClassVar[bool] = True
    """Whether the framework marks the result of a call as an error."""

    @pytest.fixture(autouse=True)
    def _in_home(self, home: Home) -> None:
        self.home = home
        self.nonce = os.urandom(8).hex()

    @asynccontextmanager
    async def host(self, **options: Any) -> AsyncIterator[mooring.Host]:
        demo = {
            "command": sys.executable,
            "args": ["-I", "-m", "mooring.demo"],
            "env": {"MOORING_TEST": self.nonce},
        }
        options = {"remember": False, "request": self.home.request(), **options}
        async with mooring.open(servers={"demo": demo}, **options) as host:
            assert await host.ready() == {}
            yield host
        assert marked(self.nonce) == []

    async def finish(self, host: mooring.Host, turns: Sequence[Turn], **options: Any) -> Run:
        async with host.conversation(**options) as tools:
            run = self.run(tools, turns)
            await run.start()
        return run

    def make_interruptible(self, tools: mooring.Conversation, turns: Sequence[Turn]) -> Run:
        return (self.interruptible or self.run)(tools, turns)

    def assert_error(self, reply: Reply) -> None:
        assert reply.is_error or not self.flags_errors
        assert reply.text.startswith(("Error: ", "MCP error: ")) or not reply.is_error

    async def test_a_tool_is_shown_with_its_schema_and_its_result_reaches_the_model(self) -> None:
        async with self.host(policy="allow") as host:
            run = await self.finish(host, [[ADD], "it is 42"])
        assert run.offered[0]["mcp__demo__add"]["required"] == ["a", "b"]
        assert [reply.text for reply in run.replies] == [SUM]
        assert not run.replies[0].is_error
        assert run.answer == "it is 42"

    async def test_an_image_reaches_the_model_as_an_image(self) -> None:
        async with self.host(policy="allow") as host:
            run = await self.finish(host, [[("mcp__demo__picture", {})], "I see"])
        [reply] = run.replies
        [image] = reply.images
        assert image.startswith(PNG)

    async def test_a_tool_that_a_search_found_is_called_in_the_same_run(self) -> None:
        async with self.host(policy="allow") as host:
            search: Call = ("ToolSearch", {"query": "add two numbers"})
            run = await self.finish(host, [[search], [ADD], "done"], budget=0)
        assert "mcp__demo__add" not in run.offered[0]
        assert run.offered[1]["mcp__demo__add"]["required"] == ["a", "b"]
        assert run.replies[-1].text == SUM

    async def test_a_denied_call_is_an_error_and_the_run_goes_on(self) -> None:
        async with self.host(policy="allow", rules=[mooring.Rule("demo.note", "deny")]) as host:
            run = await self.finish(host, [[NOTE], [ECHO], "well"])
        denied, echoed = run.replies
        self.assert_error(denied)
        assert "demo.note" in denied.text
        assert (echoed.text, run.answer) == ("ahoy", "well")

    async def test_a_failure_of_the_tool_and_bad_arguments_are_errors_and_the_run_goes_on(self) -> None:
        async with self.host(policy="allow") as host:
            run = await self.finish(host, [[("mcp__demo__fail", {})], [("mcp__demo__add", {"a": 2})], [ADD], "42"])
        failed, wrong, right = run.replies
        self.assert_error(failed)
        self.assert_error(wrong)
        assert "b" in wrong.text
        assert right.text == SUM

    async def test_a_call_that_needs_a_person_interrupts_the_run_and_is_made_once_it_is_approved(self) -> None:
        sink = Sink()
        allowed = [mooring.Rule("demo.echo", "allow")]
        async with self.host(rules=allowed) as host, host.conversation(ask=type(self).ask, on_event=sink) as tools:
            run = self.make_interruptible(tools, [[ECHO, NOTE], "kept"])
            await run.start()
            assert run.waiting == ["mcp__demo__note"]
            assert run.answer == ""
            assert await self.notes(host) == ""
            await run.resume(approved=True)
            assert await self.notes(host) == "kept"
        assert [reply.text for reply in run.replies] == ["ahoy", "Kept; demo://notes now holds 1."]
        assert run.answer == "kept"
        assert [event.success for event in sink.ended("echo")] == [True]

    async def test_a_call_that_a_person_refuses_is_not_made_and_the_run_goes_on(self) -> None:
        async with self.host() as host, host.conversation(ask=type(self).ask) as tools:
            run = self.make_interruptible(tools, [[NOTE], "a pity"])
            await run.start()
            assert run.waiting == ["mcp__demo__note"]
            await run.resume(approved=False)
            assert await self.notes(host) == ""
        [reply] = run.replies
        assert "Kept" not in reply.text
        assert reply.text
        assert run.answer == "a pity"

    async def notes(self, host: mooring.Host) -> str:
        return ((await host.read("demo", "demo://notes")).contents[0].text or "").strip()

    async def test_a_server_that_is_killed_in_a_call_is_an_error_and_works_again_in_the_next(self) -> None:
        def stop() -> Sequence[Call]:
            for pid in marked(self.nonce):
                os.kill(pid, signal.SIGSTOP)
            asyncio.get_running_loop().call_later(0.3, kill)
            return [NOTE]

        def kill() -> None:
            for pid in marked(self.nonce):
                os.kill(pid, signal.SIGKILL)

        async with self.host(policy="allow") as host:
            run = await self.finish(host, [[ECHO], stop, [ECHO], "still here"])
        first, killed, again = run.replies
        self.assert_error(killed)
        assert "SIGKILL" in killed.text
        assert (first.text, again.text, run.answer) == ("ahoy", "ahoy", "still here")

    async def test_two_users_beside_each_other_each_have_their_own_answers(self) -> None:
        async def serve(user: str, answer: mooring.Answer) -> Run:
            async def ask(question: mooring.Question) -> mooring.Answer:
                asked[user].set()
                # Both are asked before either answers.
                await asyncio.gather(*(event.wait() for event in asked.values()))
                return answer

            return await self.finish(host, [[("mcp__demo__echo", {"text": user})], f"bye {user}"], ask=ask)

        asked = {"ann": asyncio.Event(), "bob": asyncio.Event()}
        async with self.host() as host:
            ann, bob = await asyncio.gather(serve("ann", mooring.Allow("once")), serve("bob", mooring.No("bob minds")))
        assert [reply.text for reply in ann.replies] == ["ann"]
        self.assert_error(bob.replies[0])
        assert "bob minds" in bob.replies[0].text
        assert (ann.answer, bob.answer) == ("bye ann", "bye bob")

    async def test_cancelling_the_run_cancels_the_call(self) -> None:
        sink = Sink()
        async with self.host(policy="allow") as host, host.conversation(on_event=sink) as tools:
            slow: Call = ("mcp__demo__slow", {"seconds": 60})
            running = asyncio.create_task(self.run(tools, [[slow], "never"]).start())
            await sink.began.wait()
            running.cancel()
            with pytest.raises(asyncio.CancelledError):
                await running
            [end] = sink.ended("slow")
        assert not end.success
        assert end.canceled
