"""`/mcp` verbs on a host that several conversations share: each sees what came and went, and no call is disturbed."""

import asyncio
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from mooring.chat import commands
from mooring.chat.session import ChatSession
from mooring.core.conversation.call import ToolDefinition
from mooring.core.conversation.event import ConversationEvent
from mooring.core.conversation.outcome import Outcome
from mooring.core.conversation.question import Allow, Answer, Ask, Form, Permission, Question, Yes
from mooring.core.conversation.verdict import CommandPermissions
from support import DEMO, Home

pytestmark = pytest.mark.processes


class QuietFace:
    """A chat that agrees to everything and notes what it was told."""

    def __init__(self, home: Home) -> None:
        self.told: list[str] = []
        self.asked: list[Question] = []
        self.form_is_open = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.session = ChatSession(home.request(), CommandPermissions(), self, tokens=10_000, lines=1_000)

    width = 200

    @property
    def ask(self) -> Ask:
        return self._agree

    async def _agree(self, question: Question) -> Answer:
        self.asked.append(question)
        if isinstance(question, Form):
            self.form_is_open.set()
            await self.may_answer.wait()
            return Yes({"answer": "this"})
        return Allow() if isinstance(question, Permission) else Yes()

    def show_waiting(self, servers: Sequence[str]) -> None:
        return

    def say(self, *lines: str) -> None:
        self.told += lines

    warn = say

    def notice(self, text: str) -> None:
        self.told.append(text)

    def show_progress(self, text: str) -> None:
        pass

    def show_outcome(self, outcome: Outcome) -> None:
        raise AssertionError("nothing is read here")

    def show_event(self, event: ConversationEvent) -> None:
        pass

    async def choose(self, found: Sequence[ToolDefinition]) -> ToolDefinition | str | None:
        raise AssertionError("nothing is chosen here")

    async def fill(self, tool: ToolDefinition, given: Mapping[str, Any] | None = None) -> Mapping[str, Any] | None:
        raise AssertionError("nothing is filled in here")

    async def fill_form(self, title: str, owner: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        raise AssertionError("nothing is filled in here")

    def leave(self) -> None:
        raise AssertionError("nobody leaves")


async def test_a_second_conversation_on_the_same_host_sees_what_is_added_and_removed(home: Home) -> None:
    face = QuietFace(home)
    async with face.session.open(), face.session.host.conversation(follow=True, budget=None) as second:
        face.session.start()
        await commands.run(face, f"/mcp add demo {shlex.join([DEMO['command'], *DEMO['args']])}")
        assert "Added demo to ~/.config/mooring/mcp.json." in face.told
        pairs = [*second.pairs.values()]
        assert ("demo", "echo") in pairs
        shown = next(name for name, pair in second.pairs.items() if pair == ("demo", "echo"))
        outcome = await second.call(shown, {"text": "second"})
        assert "second" in outcome.text
        await commands.run(face, "/mcp remove demo")
        assert "Removed demo from ~/.config/mooring/mcp.json." in face.told
        assert not second.pairs
        assert [type(question).__name__ for question in face.asked] == ["KeepServer", "Permission", "RemoveServer"]


async def test_a_call_that_runs_is_not_disturbed_by_what_happens_to_other_servers(home: Home) -> None:
    home.configure(held={**DEMO, "env": {"WHICH": "held"}}, demo={**DEMO, "disabled": True})
    face = QuietFace(home)
    async with face.session.open():
        await face.session.servers.wait()
        face.session.start()
        # The call waits for an answer that is given only after everything else has happened.
        call = asyncio.create_task(face.session.host.call("held.ask", {"question": "Which?"}))
        await face.form_is_open.wait()
        words = shlex.join([DEMO["command"], *DEMO["args"]])
        for line in (
            f"/mcp add other -e A=b -- {words}",
            "/mcp enable demo",
            "/mcp disable demo --save",
            "/mcp rm other",
        ):
            await commands.run(face, line)
        assert "Removed other from ~/.config/mooring/mcp.json." in face.told
        face.may_answer.set()
        result = await call
        assert not result.is_error
