"""The fake model over plain HTTP: which reply goes to whom, what is recorded, and how it goes wrong when told to.

Whether each API's own library understands the replies is tested beside the other peers.
"""

import asyncio
import json
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import msgspec
import pytest
from aiohttp import ClientPayloadError, ClientSession, ServerDisconnectedError
from tests.models import (
    Call,
    Drop,
    Fail,
    FakeModel,
    Hold,
    Malformed,
    ModelRequest,
    Reply,
    Say,
    ScriptError,
    Stall,
    Think,
)

ROOT = Path(__file__).parents[2]
Answer = tuple[int, Any]


class Client:
    """Asks in the shape of Anthropic's API, which is enough for what all of them share."""

    def __init__(self, session: ClientSession, url: str) -> None:
        self.session, self.url = session, url

    async def ask(self, *texts: str, path: str = "/v1/messages", key: str = "", **fields: Any) -> Answer:
        """The status and the body of the reply to a conversation of these texts, the person's first."""
        body = make_body(*texts, **fields)
        async with self.session.post(self.url + path, json=body, headers={"x-api-key": key}) as response:
            return response.status, await response.json()

    async def say(self, *texts: str, **fields: Any) -> str:
        status, reply = await self.ask(*texts, **fields)
        assert status == 200, reply
        return str(reply["content"][0]["text"])

    @asynccontextmanager
    async def stream(self, text: str) -> AsyncIterator[AsyncIterator[str]]:
        """The names of the events of a reply, as they come."""
        async with self.session.post(f"{self.url}/v1/messages", json=make_body(text, stream=True)) as response:
            yield (line.decode().split()[1] async for line in response.content if line.startswith(b"event:"))

    async def collect(self, text: str, seen: list[str]) -> None:
        """All names of events of a reply, kept also if it breaks off."""
        async with self.stream(text) as events:
            async for event in events:
                seen.append(event)


def make_body(*texts: str, **fields: Any) -> dict[str, Any]:
    roles = ["user", "assistant"] * len(texts)
    messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=False)]
    return {"model": "m", "max_tokens": 100, "messages": messages, **fields}


@asynccontextmanager
async def connect(model: FakeModel) -> AsyncIterator[Client]:
    async with ClientSession() as session:
        yield Client(session, model.url)


async def test_replies_of_a_list_are_given_in_order() -> None:
    async with FakeModel([Say("one"), [Say("two")]]) as model, connect(model) as client:
        assert model.unplayed == 2
        assert [await client.say("a"), await client.say("b")] == ["one", "two"]
        assert model.unplayed == 0
        assert [request.first_user_text for request in model.requests] == ["a", "b"]


async def test_a_request_beyond_the_script_fails_the_test_even_if_the_client_hides_it() -> None:
    model = FakeModel([Say("one")])
    await model.__aenter__()
    async with connect(model) as client:
        await client.say("a")
        status, reply = await client.ask("b")
    assert (status, "all 1 replies were given" in reply["error"]["message"]) == (400, True)
    with pytest.raises(ScriptError, match="all 1 replies were given"):
        await model.__aexit__(None, None, None)


async def test_a_function_that_fails_fails_the_test() -> None:
    def respond(request: ModelRequest) -> Reply:
        return Call(request.find_tool("add"))

    with pytest.raises(ScriptError, match=r"0 tools end with 'add' among \['subtract'\]"):
        async with FakeModel(respond) as model, connect(model) as client:
            await client.ask("a", tools=[{"name": "subtract", "input_schema": {"type": "object"}}])


async def test_a_request_that_cannot_be_read_fails_the_test() -> None:
    with pytest.raises(ScriptError, match="could not be read: KeyError"):
        async with FakeModel([]) as model, connect(model) as client:
            await client.session.post(f"{model.url}/v1/messages", json={"model": "m"})


async def test_twenty_conversations_at_once_each_get_their_own_replies() -> None:
    words = [f"word{number}." for number in range(20)]
    script = {word: [Say(f"{word} {turn}") for turn in range(10)] for word in words}

    async with FakeModel(script) as model, connect(model) as client:

        async def converse(word: str) -> list[str]:
            return [await client.say(f"Begin with {word}", "Yes.", f"Turn {turn}") for turn in range(10)]

        heard = await asyncio.gather(*(converse(word) for word in words))
    assert heard == [[f"{word} {turn}" for turn in range(10)] for word in words]


async def test_a_conversation_with_none_of_the_words_fails_the_test() -> None:
    with pytest.raises(ScriptError, match="none of the words left, right: 'straight on'"):
        async with FakeModel({"left": [Say("l")], "right": [Say("r")]}) as model, connect(model) as client:
            await client.ask("straight on")


async def test_a_function_chooses_by_what_it_was_asked() -> None:
    async def respond(request: ModelRequest) -> Reply:
        await asyncio.sleep(0)
        if request.results:
            return Say(f"It is {request.results[0].text}.")
        return Call(request.find_tool("__add"), {"a": 1}) if "main" in request.system else Say("I am a sub-agent.")

    tools = [{"name": "mcp__calc__add", "description": "Add.", "input_schema": {"type": "object"}}]
    async with FakeModel(respond) as model, connect(model) as client:
        _, called = await client.ask("go", system="You are the main agent.", tools=tools)
        [use] = called["content"]
        assert (use["name"], called["stop_reason"]) == ("mcp__calc__add", "tool_use")
        assert await client.say("go", system="You help.") == "I am a sub-agent."
        # Claude Code puts a message of the system behind the result.
        result = {"type": "tool_result", "tool_use_id": use["id"], "content": "42", "is_error": True}
        messages = [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": called["content"]},
            {"role": "user", "content": [result]},
            {"role": "system", "content": "Stay kind."},
        ]
        assert await client.say(messages=messages) == "It is 42."
    assert model.requests[-1].results[0].is_error
    assert model.requests[-1].results[0].call_id == use["id"]
    assert model.requests[0].tools[0].schema == {"type": "object"}


async def test_a_held_reply_goes_on_when_it_is_released() -> None:
    script: list[Reply] = [[Say("a"), Hold("door"), Say("b")]]
    async with FakeModel(script) as model, connect(model) as client, client.stream("go") as events:
        before = [await anext(events) for _ in range(4)]
        assert before[-1] == "content_block_delta"
        waiting = asyncio.ensure_future(anext(events))
        await asyncio.wait([waiting], timeout=0.05)
        assert not waiting.done()
        model.release("door")
        assert await waiting == "content_block_stop"
        assert [event async for event in events][-1] == "message_stop"


async def test_a_client_that_leaves_is_noticed() -> None:
    async with FakeModel([[Say("a"), Stall(3600)]]) as model, connect(model) as client:
        async with client.stream("go") as events:
            assert await anext(events) == "message_start"
        while not model.abandoned:  # noqa: ASYNC110 - the time limit of the test ends this
            await asyncio.sleep(0.01)
        assert model.abandoned == model.requests


@pytest.mark.parametrize("part", [Say("a"), Think("a"), Call("add", {"a": 1}), Malformed("add", '{"a"')])
async def test_a_cut_comes_inside_of_the_part_before_it(part: Say | Think | Call | Malformed) -> None:
    async with FakeModel([[part, Drop()], [part, Drop()]]) as model, connect(model) as client:
        seen: list[str] = []
        with pytest.raises(ClientPayloadError):
            await client.collect("go", seen)
        assert seen[-1] == "content_block_delta"
        with pytest.raises(ServerDisconnectedError):
            await client.ask("go")
        assert model.abandoned == []


async def test_a_failure_is_a_status_at_first_and_an_event_later() -> None:
    async with FakeModel([Fail(529), [Say("a"), Fail(529)]]) as model, connect(model) as client:
        status, reply = await client.ask("go")
        assert (status, reply["error"]["type"]) == (529, "overloaded_error")
        async with client.stream("go") as events:
            assert [event async for event in events][-1] == "error"


async def test_a_request_beyond_the_window_overflows_and_takes_no_reply() -> None:
    async with FakeModel([Say("fine")], window=100) as model, connect(model) as client:
        status, reply = await client.ask("long " * 100)
        assert (status, "prompt is too long" in reply["error"]["message"]) == (400, True)
        assert await client.say("short") == "fine"


async def test_only_the_one_key_is_accepted() -> None:
    async with FakeModel([Say("hello")], key="right") as model, connect(model) as client:
        status, reply = await client.ask("go", key="wrong")
        assert (status, reply["error"]["type"]) == (401, "authentication_error")
        assert await client.say("go", key="right") == "hello"
        assert [request.key for request in model.requests] == ["right"]
        assert model.requests[0].headers["x-api-key"] == "right"


async def test_what_agents_ask_beside_the_conversation_is_kept_apart_if_wanted() -> None:
    wanted = "Generate a short title for this conversation."
    async with FakeModel([Say("hello")], skip_asides=True) as model, connect(model) as client:
        await client.say("go", system=wanted)
        assert await client.say("go") == "hello"
        assert [request.system for request in model.asides] == [wanted]
        assert len(model.requests) == 1


async def test_an_unknown_address_is_not_there_and_is_noted() -> None:
    async with FakeModel([]) as model, connect(model) as client:
        async with client.session.get(f"{model.url}/v1/organizations") as response:
            assert response.status == 404
        assert model.strays == ["GET /v1/organizations"]


def ask_and_block(model: FakeModel) -> Any:
    request = Request(f"{model.url}/v1/messages", json.dumps(make_body("go")).encode())
    try:
        with urlopen(request) as response:
            return json.load(response)
    except HTTPError as error:
        error.close()
        raise


def test_a_test_that_blocks_uses_the_model_in_a_thread() -> None:
    before = threading.active_count()
    with FakeModel([Say("hello")]) as model:
        assert ask_and_block(model)["content"] == [{"type": "text", "text": "hello"}]
    assert threading.active_count() == before


def test_a_thread_tells_of_a_script_that_ended() -> None:
    with pytest.raises(ScriptError, match="all 0 replies"), FakeModel([]) as model:
        ask_and_block(model)


PROGRAM = """
from tests.models import Call, Say

def reply(request):
    return Say(request.last_user_text.upper())
"""


@pytest.mark.parametrize("name", ["script.json", "script.py"])
async def test_a_program_of_its_own_follows_a_script_and_records(name: str, tmp_path: Path) -> None:
    script, record = tmp_path / name, tmp_path / "record.jsonl"
    script.write_text(PROGRAM if name.endswith("py") else json.dumps({"go": [[{"type": "say", "text": "GO"}]]}))
    words = ["-m", "tests.models", "--script", str(script), "--record", str(record), "--key", "right"]
    program = await asyncio.create_subprocess_exec(
        sys.executable, *words, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert program.stdout is not None
    addresses = json.loads(await program.stdout.readline())
    assert addresses.keys() == {"anthropic", "openai", "gemini"}
    async with ClientSession() as session:
        assert await Client(session, addresses["anthropic"]).say("go", key="right") == "GO"
    program.send_signal(signal.SIGTERM)
    _, errors = await program.communicate()
    assert (program.returncode, errors) == (0, b"")
    [request] = [msgspec.json.decode(line, type=ModelRequest) for line in record.read_text().splitlines()]
    assert (request.api, request.model, request.last_user_text) == ("anthropic", "m", "go")
