"""What a server asks while it works on a call is asked of the conversation that made the call, and of no other."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from test_gatekeeping import Person, opened

from mooring.core.conversation.question import Answer, Form, No, Question, Yes
from mooring.host.host import Host
from mooring.servers.questions import UNCLEAR
from mooring.testing.site import ReceivedRequest, Site, event, said
from support import DEMO, Home

WHO = {"question": "Who is there?"}


class SlowPerson:
    """Answers with their own name, after a while."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: list[Question] = []
        self.was_asked = asyncio.Event()

    async def __call__(self, question: Question) -> Answer:
        self.asked.append(question)
        self.was_asked.set()
        await asyncio.sleep(0.1)
        return Yes({"answer": self.name})


@asynccontextmanager
async def demo(home: Home, **options: Any) -> AsyncIterator[Host]:
    """The demo server, whose tool `ask` asks the person something."""
    async with opened(home, servers={"demo": DEMO}, policy="allow", **options) as host:
        await host.ready()
        yield host


async def test_each_conversation_answers_what_the_server_asks_about_its_own_call(home: Home) -> None:
    program, ada, grace = Person(No()), SlowPerson("Ada"), SlowPerson("Grace")
    async with (
        demo(home, ask=program) as host,
        host.conversation(ask=ada) as one,
        host.conversation(ask=grace) as other,
    ):
        for tools, person in ((one, ada), (other, grace), (one, ada)):
            outcome = await tools.call("mcp__demo__ask", WHO)
            assert outcome.text == f"The person answered: {person.name}"
    assert [type(question) for question in ada.asked] == [Form, Form]
    assert [type(question) for question in grace.asked] == [Form]
    assert program.asked == []


async def test_a_conversation_without_an_ask_of_its_own_has_the_programs(home: Home) -> None:
    program = SlowPerson("the program")
    async with demo(home, ask=program) as host, host.conversation() as tools:
        answers = await asyncio.gather(tools.call("mcp__demo__ask", WHO), host.call("demo.ask", WHO))
    assert [answer.text for answer in answers] == ["The person answered: the program"] * 2


async def test_nobody_is_asked_where_two_conversations_wait_for_a_server_that_names_no_call(home: Home) -> None:
    ada, grace = SlowPerson("Ada"), SlowPerson("Grace")
    async with demo(home) as host, host.conversation(ask=ada) as one, host.conversation(ask=grace) as other:
        long_call = asyncio.create_task(one.call("mcp__demo__slow", {"seconds": 30}))
        await asyncio.sleep(0.2)
        outcome = await other.call("mcp__demo__ask", WHO)
        assert outcome.text == "The person closed the question without answering."
        assert (ada.asked, grace.asked) == ([], [])
        long_call.cancel()
        await asyncio.wait({long_call})
        assert (await other.call("mcp__demo__ask", WHO)).text == "The person answered: Grace"
    assert any(UNCLEAR in path.read_text() for path in home.home.rglob("*.log"))


USERS = 50


async def serve_many(home: Home, site: Site) -> list[str]:
    """Call the same tool for many users at the same time; each answers with their own name."""
    people = [SlowPerson(f"user {number}") for number in range(USERS)]

    async with opened(home, servers={"site": {"url": site.url}}, policy="allow") as host:
        await host.ready()

        async def serve(person: SlowPerson) -> str:
            async with host.conversation(ask=person) as tools:
                return (await tools.call("mcp__site__echo", {"text": f"for {person.name}"})).text

        answers = await asyncio.gather(*map(serve, people))
    for person in people:
        (question,) = person.asked
        assert isinstance(question, Form)
        assert question.message == f"for {person.name}"
    return answers


async def test_fifty_users_at_once_are_each_asked_about_their_own_call_and_answer_it(home: Home) -> None:
    def answer(heard: ReceivedRequest) -> dict[str, Any]:
        text = heard.params["arguments"]["text"]
        if "inputResponses" in heard.params:
            return said(f"{text}: {heard.params['inputResponses']['q']['content']['answer']}")
        question = {"method": "elicitation/create", "params": {"message": text, "requestedSchema": {}}}
        return {"resultType": "input_required", "inputRequests": {"q": question}}

    async with Site(stateless=True) as site:
        site.answers["tools/call"] = answer
        answers = await serve_many(home, site)
    assert answers == [f"for user {number}: user {number}" for number in range(USERS)]


async def test_a_question_in_the_stream_of_a_call_is_about_that_call(home: Home) -> None:
    site = Site()

    async def answer(heard: ReceivedRequest) -> web.StreamResponse:
        text, key = heard.params["arguments"]["text"], f"question {heard.message['id']}"
        stream = await heard.stream()
        question = {"jsonrpc": "2.0", "id": key, "method": "elicitation/create", "params": {"message": text}}
        await stream.write(event(json.dumps(question).encode()))
        while not (replies := [reply for reply in site.said("reply") if reply.message["id"] == key]):  # noqa: ASYNC110 - a site has no event for a reply
            await asyncio.sleep(0.02)
        reply = replies[0].message["result"]["content"]["answer"]
        await stream.write(event(heard.result(said(f"{text}: {reply}"))))
        return stream

    async with site:
        site.answers["tools/call"] = answer
        answers = await serve_many(home, site)
    assert answers == [f"for user {number}: user {number}" for number in range(USERS)]


request_number: ContextVar[int] = ContextVar("request_number")


async def test_ask_runs_in_the_context_of_the_call_that_it_is_about(home: Home) -> None:
    async def ask(question: Question) -> Answer:
        return Yes({"answer": f"request {request_number.get()}"})

    async with demo(home, ask=ask) as host, host.conversation() as tools:
        for number in (1, 2):
            request_number.set(number)
            assert (await tools.call("mcp__demo__ask", WHO)).text == f"The person answered: request {number}"
        request_number.set(3)
        assert (await host.call("demo.ask", WHO)).text == "The person answered: request 3"


class ComeBackLater(Exception):
    """What a framework raises to end a run that goes on once somebody has answered."""


async def interrupt(question: Question) -> Answer:
    raise ComeBackLater(question)


async def test_raising_when_a_server_asks_something_interrupts_the_call_that_it_works_on(home: Home) -> None:
    async with demo(home, ask=interrupt) as host:
        async with host.conversation(ask=interrupt) as tools:
            with pytest.raises(ComeBackLater) as caught:
                await tools.call("mcp__demo__ask", WHO)
            assert isinstance(caught.value.args[0], Form)
            assert (await tools.call("mcp__demo__echo", {"text": "it goes on"})).text == "it goes on"
        with pytest.raises(ComeBackLater):
            await host.call("demo.ask", WHO)
        async with host.conversation(ask=SlowPerson("Ada")) as resumed:
            assert (await resumed.call("mcp__demo__ask", WHO)).text == "The person answered: Ada"


async def test_a_canceled_call_stays_canceled_whatever_ask_raises(home: Home) -> None:
    asked = asyncio.Event()

    async def raise_late(question: Question) -> Answer:
        asked.set()
        try:
            await asyncio.sleep(30)
        finally:
            raise ComeBackLater

    async with demo(home) as host, host.conversation(ask=raise_late) as tools:
        call = asyncio.create_task(tools.call("mcp__demo__ask", WHO))
        await asked.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.sleep(0.2)
        assert (await tools.call("mcp__demo__echo", {"text": "fine"})).text == "fine"


EARLY = """
import json, sys
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        info = {"name": "early", "version": "1"}
        send(id=message["id"], result={"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        send(id=message["id"], result={"tools": []})
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        send(id="q", method="elicitation/create", params={"message": "Hello?", "requestedSchema": schema})
    elif method and "id" in message:
        send(id=message["id"], error={"code": -32601, "message": "no"})
"""


async def test_a_server_that_asks_while_nobody_calls_it_asks_the_program(home: Home, tmp_path: Path) -> None:
    script = tmp_path / "early.py"
    script.write_text(EARLY)
    early = {"command": sys.executable, "args": ["-S", str(script)]}
    program, ada = SlowPerson("the program"), SlowPerson("Ada")
    async with opened(home, servers={"early": early}, policy="allow", ask=program) as host, host.conversation(ask=ada):
        await host.ready()
        await asyncio.wait_for(program.was_asked.wait(), 100)
    assert [type(question) for question in program.asked] == [Form]
    assert ada.asked == []
