"""Every provider's replies as the agent's events, and the agent's history as every provider's messages."""

import asyncio
import zlib
from typing import Any

import msgspec
import pytest
from aiohttp import web
from msgspec.structs import replace
from tests.models import Call, FakeModel, Hold, Malformed, Picture, Say, Stop, Think, Usage

import mooring
from backends.asking import (
    ADD,
    KEY,
    MODELS,
    PIXEL,
    SUBTRACT,
    ask,
    hear,
    hear_end,
    opened,
    opened_beside,
    serving,
    until,
    variables,
)
from mooring.agents.history import (
    CallBlock,
    CallResult,
    ModelMessage,
    PersonMessage,
    ResultsMessage,
    SummaryMessage,
    TextBlock,
    ThinkingBlock,
)
from mooring.agents.model import BlockFinished, ReplyFinished, ReplyText, ReplyThinking
from mooring.core.conversation.event import TokenUsage
from mooring.core.protocol.content import Audio, Image, Text
from support import DEMO, Home

every_provider = pytest.mark.parametrize("word", MODELS)


@every_provider
async def test_text_arrives_piece_by_piece_and_then_as_a_whole(word: str, home: Home) -> None:
    async with FakeModel([Say("Hello, you.")]) as fake, opened_beside(home, word, fake) as model:
        events = await hear(model, ask("Hi"))
    pieces = [event.text for event in events if isinstance(event, ReplyText)]
    assert len(pieces) > 1
    assert "".join(pieces) == "Hello, you."
    last = events[-1]
    assert isinstance(last, ReplyFinished)
    assert (last.message.text, last.message.model, last.stop) == ("Hello, you.", MODELS[word], "finished")
    asked = fake.requests[0]
    assert asked.stream
    assert (asked.model, asked.system) == (MODELS[word].partition(":")[2], "Be brief.")
    assert asked.last_user_text == "Hi"


@every_provider
async def test_parallel_calls_come_with_their_ids_and_their_results_go_back_to_them(word: str, home: Home) -> None:
    script = [[Say("Both."), Call("add", {"a": 1}), Call("subtract")], Say("Done.")]
    async with FakeModel(script) as fake, opened_beside(home, word, fake) as model:
        first = await hear_end(model, ask("Go", tools=(ADD, SUBTRACT)))
        one, two = first.message.calls
        results = ResultsMessage((
            CallResult(one.id, one.name, (Text(text="three"),)),
            CallResult(two.id, two.name, (Text(text="no such number"),), is_error=True),
        ))  # fmt: skip
        await hear_end(model, ask("Go", first.message, results, tools=(ADD, SUBTRACT)))
    assert first.stop == "calls"
    assert [(call.name, call.arguments) for call in (one, two)] == [("add", '{"a":1}'), ("subtract", "{}")]
    asked = fake.requests[1]
    assert [(call.id, call.name, call.arguments) for call in asked.messages[1].calls] == [
        (one.id, "add", {"a": 1}), (two.id, "subtract", {}),
    ]  # fmt: skip
    assert [result.call_id for result in asked.results] == [one.id, two.id]
    assert asked.results[0].text == "three"
    assert "no such number" in asked.results[1].text
    assert asked.results[1].is_error or "error" in asked.results[1].text


@every_provider
async def test_the_blocks_that_are_complete_are_told_before_the_reply_ends(word: str, home: Home) -> None:
    script = [[Say("First."), Call("add", {"a": 1}), Hold("end"), Call("subtract")]]
    async with FakeModel(script) as fake, opened_beside(home, word, fake) as model:
        events = model.reply(ask("Go", tools=(ADD, SUBTRACT)))
        while not isinstance(event := await anext(events), BlockFinished):
            pass
        told = [event.block]
        fake.release("end")
        told += [event.block async for event in events if isinstance(event, BlockFinished)]
    assert isinstance(told[0], TextBlock)
    assert told[0].text == "First."
    assert [block.name for block in told if isinstance(block, CallBlock)] == ["add", "subtract"]


@pytest.mark.parametrize("word", ["anthropic", "openai", "google"])
async def test_what_a_model_thought_goes_back_to_it_with_its_signature(word: str, home: Home) -> None:
    script = [[Think("Let me see."), Say("Yes."), Call("add", {"a": 1})], Say("Done.")]
    async with FakeModel(script) as fake, opened_beside(home, word, fake) as model:
        events = await hear(model, ask("Go", tools=(ADD,)))
        first = events[-1]
        assert isinstance(first, ReplyFinished)
        # As it would come out of a file that it was kept in.
        message = msgspec.json.decode(msgspec.json.encode(first.message), type=ModelMessage)
        call = message.calls[0]
        results = ResultsMessage((CallResult(call.id, call.name, (Text(text="1"),)),))
        await hear_end(model, ask("Go", message, results, tools=(ADD,)))
    assert "".join(event.text for event in events if isinstance(event, ReplyThinking)) == "Let me see."
    assert "c2lnbmVk" in fake.requests[1].messages[1].signatures
    assert fake.requests[1].messages[1].text == "Yes."


@every_provider
async def test_another_provider_gets_what_was_said_without_what_only_the_first_understands(
    word: str, home: Home
) -> None:
    foreign = ModelMessage(
        (
            ThinkingBlock("Secret thoughts.", {"signature": "c2lnbmVk", "id": "rs_1"}),
            TextBlock("Yes.", {"id": "msg_1", "details": {"thought_signature": "c2lnbmVk"}}),
            CallBlock("call_1", "add", '{"a": 1}', {"id": "fc_1"}),
        ),
        "elsewhere:model",
    )
    results = ResultsMessage((CallResult("call_1", "add", (Text(text="1"),)),))
    async with FakeModel([Say("Done.")]) as fake, opened_beside(home, word, fake) as model:
        await hear_end(model, ask("Go", foreign, results, tools=(ADD,)))
    sent = msgspec.json.encode(fake.requests[0].body).decode()
    for mark in ("c2lnbmVk", "rs_1", "msg_1", "fc_1", "Secret thoughts."):
        assert mark not in sent
    reply = fake.requests[0].messages[1]
    assert (reply.text, [call.arguments for call in reply.calls]) == ("Yes.", [{"a": 1}])
    assert fake.requests[0].results[0].text == "1"


@pytest.mark.parametrize("word", [word for word in MODELS if word != "google"])
async def test_malformed_arguments_are_handed_on_as_the_model_wrote_them_and_can_go_back(word: str, home: Home) -> None:
    script = [Malformed("add", '{"a": 1'), Say("Sorry.")]
    async with FakeModel(script) as fake, opened_beside(home, word, fake) as model:
        first = await hear_end(model, ask("Go", tools=(ADD,)))
        call = first.message.calls[0]
        results = ResultsMessage((CallResult(call.id, "add", (Text(text="That is not JSON."),), is_error=True),))
        await hear_end(model, ask("Go", first.message, results, tools=(ADD,)))
    assert (call.name, call.arguments) == ("add", '{"a": 1')
    assert '{"a": 1' in str(fake.requests[1].messages[1].calls[0].arguments)


@every_provider
async def test_images_are_sent_in_messages_and_in_results(word: str, home: Home) -> None:
    picture = Image(data=PIXEL, mime_type="image/png")
    reply = ModelMessage((CallBlock("call_1", "add", "{}"),), MODELS[word])
    results = ResultsMessage((CallResult("call_1", "add", (Text(text="Here:"), picture)),))
    async with FakeModel([Say("Nice.")]) as fake, opened_beside(home, word, fake) as model:
        assert "image" in model.takes
        await hear_end(model, ask(PersonMessage((Text(text="Look"), picture)), reply, results, tools=(ADD,)))
    asked = fake.requests[0]
    assert [image.media_type for image in asked.messages[0].images] == ["image/png"]
    # Where a result can hold text alone, its images come in the message after it.
    shown = [*asked.results[0].images, *asked.messages[-1].images]
    assert [_plain(image) for image in shown] == [PIXEL]
    assert "Here:" in asked.results[0].text


def _plain(picture: Picture) -> str:
    """Google writes Base64 in the letters for addresses."""
    return picture.data.replace("-", "+").replace("_", "/")


async def test_what_a_model_cannot_take_is_named_in_its_place(home: Home) -> None:
    parts = (
        Text(text="Listen"),
        Audio(data="AAAA", mime_type="audio/wav"),
        Image(data="PHN2Zz4=", mime_type="image/svg+xml"),
        Image(data="not Base64!", mime_type="image/png"),
    )
    async with FakeModel([Say("?")]) as fake, opened_beside(home, "anthropic", fake) as model:
        assert model.takes == {"image"}
        await hear_end(model, ask(PersonMessage(parts)))
    lines = fake.requests[0].last_user_text.splitlines()
    assert lines[0] == "Listen"
    assert [line.split(":")[0].split(",")[0] for line in lines[1:]] == ["[audio/wav", "[image/svg+xml", "[image/png"]
    assert fake.requests[0].messages[0].images == []


async def test_audio_is_sent_where_it_is_heard(home: Home) -> None:
    async with FakeModel([Say("A song.")]) as fake, opened_beside(home, "google", fake) as model:
        assert model.takes == {"image", "audio"}
        await hear_end(model, ask(PersonMessage((Audio(data="AAAA", mime_type="audio/wav"),))))
    assert "audio/wav" in str(fake.requests[0].body)


@every_provider
async def test_a_summary_and_news_reach_the_model_in_one_turn_of_the_person(word: str, home: Home) -> None:
    history = (SummaryMessage("They built a boat."), "And now?")
    async with FakeModel([Say("Paint it.")]) as fake, opened_beside(home, word, fake) as model:
        await hear_end(model, ask(*history))
    assert [message.role for message in fake.requests[0].messages if message.role != "system"] == ["user"]
    text = fake.requests[0].messages[-1].text
    assert "They built a boat." in text
    assert text.endswith("And now?")


@every_provider
async def test_half_a_character_that_was_typed_is_sent_as_the_mark_for_one(word: str, home: Home) -> None:
    typed = b"caf\xe9".decode(errors="surrogateescape")
    reply = ModelMessage((TextBlock("Half: \ud83d"), CallBlock("call_1", "add", '{"a": "\ud83d"}')), MODELS[word])
    results = ResultsMessage((CallResult("call_1", "add", (Text(text="one \ude00"),)),))
    async with FakeModel([Say("Fine.")]) as fake, opened_beside(home, word, fake) as model:
        last = await hear_end(model, ask(typed, reply, results, tools=(ADD,)))
    assert last.message.text == "Fine."
    assert fake.requests[0].first_user_text in ("caf?", "caf\ufffd")
    assert fake.requests[0].results[0].text.startswith("one ")


@every_provider
async def test_the_schemas_of_tools_are_sent_as_they_are_given(word: str, home: Home) -> None:
    schema = {
        "type": "object",
        "properties": {"when": {"type": "string", "format": "date-time", "title": "When", "default": "now"}},
        "additionalProperties": True,
        "title": "Arguments",
    }
    tool = msgspec.structs.replace(ADD, schema=schema)
    async with FakeModel([Say("Fine.")]) as fake, opened_beside(home, word, fake) as model:
        await hear_end(model, ask("Go", tools=(tool,)))
    assert [offered.schema for offered in fake.requests[0].tools] == [schema]
    assert "'strict': True" not in str(fake.requests[0].body)


async def test_what_may_be_null_is_said_to_google_in_the_words_of_the_field_it_is_sent_in(home: Home) -> None:
    inner = {"type": "string", "nullable": True}
    schema = {
        "type": "object",
        "properties": {"nullable": inner, "many": {"type": "array", "items": inner}, "any": {"anyOf": [inner, inner]}},
    }
    tool = msgspec.structs.replace(ADD, schema=schema)
    async with FakeModel([Say("Fine.")]) as fake, opened_beside(home, "google", fake) as model:
        assert model.schemas == "gemini"
        await hear_end(model, ask("Go", tools=(tool,)))
    written = {"type": ["string", "null"]}
    assert fake.requests[0].tools[0].schema == {
        "type": "object",
        "properties": {
            "nullable": written, "many": {"type": "array", "items": written}, "any": {"anyOf": [written, written]},
        },
    }  # fmt: skip


async def test_a_strict_schema_is_marked_as_one_for_openai(home: Home) -> None:
    tool = msgspec.structs.replace(ADD, strict=True)
    async with FakeModel([Say("Fine.")]) as fake, opened_beside(home, "openai", fake) as model:
        await hear_end(model, ask("Go", tools=(tool,)))
    assert fake.requests[0].body["tools"][0]["strict"] is True


@pytest.mark.parametrize("word", ["anthropic", "openai", "google"])
async def test_tokens_are_counted_with_those_of_the_cache_among_them_and_cost_something(word: str, home: Home) -> None:
    script = [[Say("Hm."), Usage(input=1000, output=50, cache_read=600)]]
    async with FakeModel(script) as fake, opened_beside(home, word, fake) as model:
        last = await hear_end(model, ask("Hi"))
        assert model.window is not None
        assert model.window >= 100_000
    assert last.usage == TokenUsage(1000, 50, 600, 0)
    assert last.cost is not None
    assert 0 < last.cost < 1


@pytest.mark.parametrize("word", ["ollama", "lmstudio", "vllm", "company"])
async def test_of_a_model_that_no_price_list_has_neither_cost_nor_window_is_claimed(word: str, home: Home) -> None:
    async with FakeModel([Say("Free.")]) as fake, opened_beside(home, word, fake) as model:
        last = await hear_end(model, ask("Hi"))
        assert (last.cost, model.window) == (None, None)


async def test_prompts_are_cached_at_anthropic_up_to_the_last_message(home: Home) -> None:
    async with FakeModel([Say("Cached.")]) as fake, opened_beside(home, "anthropic", fake) as model:
        await hear_end(model, ask("One", tools=(ADD, SUBTRACT)))
    body = fake.requests[0].body
    mark = {"type": "ephemeral", "ttl": "5m"}
    assert body["system"][-1]["cache_control"] == mark
    assert body["tools"][-1]["cache_control"] == mark
    assert body["messages"][-1]["content"][-1]["cache_control"] == mark


async def test_openai_is_asked_to_keep_nothing(home: Home) -> None:
    async with FakeModel([Say("Gone.")]) as fake, opened_beside(home, "openai", fake) as model:
        await hear_end(model, ask("Hi"))
    assert fake.requests[0].body["store"] is False


@every_provider
@pytest.mark.parametrize(("reason", "stop"), [("length", "length"), ("refusal", "refused")])
async def test_why_a_reply_ended_early_is_told(word: str, reason: str, stop: str, home: Home) -> None:
    script = [[Say("So"), Stop(reason)]]  # type: ignore[arg-type]
    async with FakeModel(script) as fake, opened_beside(home, word, fake) as model:
        last = await hear_end(model, ask("Hi"))
    assert last.stop == stop


@every_provider
async def test_a_reply_that_is_canceled_closes_the_connection_at_once(word: str, home: Home) -> None:
    async with FakeModel([[Say("Wait"), Hold("forever")]]) as fake, opened_beside(home, word, fake) as model:
        began = asyncio.Event()

        async def listen() -> None:
            async for _ in model.reply(ask("Hi")):
                began.set()

        task = asyncio.create_task(listen())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: fake.abandoned)


@every_provider
async def test_a_reply_that_is_closed_closes_the_connection_at_once(word: str, home: Home) -> None:
    async with FakeModel([[Say("Wait"), Hold("forever")]]) as fake, opened_beside(home, word, fake) as model:
        events = model.reply(ask("Hi"))
        await anext(events)
        await events.aclose()
        await until(lambda: fake.abandoned)


async def test_two_conversations_with_one_model_at_once_are_not_mixed(home: Home) -> None:
    script = {"apples": [[Say("red"), Hold("both"), Say("dish")]], "pears": [[Say("green"), Hold("both"), Say("ish")]]}
    async with FakeModel(script) as fake, opened_beside(home, "anthropic", fake) as model:
        first = asyncio.create_task(hear_end(model, ask("apples")))
        second = asyncio.create_task(hear_end(model, ask("pears")))
        await until(lambda: len(fake.requests) == 2)
        fake.release("both")
        assert ((await first).message.text, (await second).message.text) == ("reddish", "greenish")


async def test_conversations_with_two_providers_and_two_keys_at_once_are_not_mixed(home: Home) -> None:
    async def talk(agent: mooring.Agent, fruit: str) -> list[str]:
        return [(await agent.run(f"{fruit} {number}")).text for number in range(5)]

    def answer(request: Any) -> Any:
        said = f"{request.last_user_text} for {request.key}"
        return [Think("Hm.", request.key), Say(said)] if request.results else Call("mcp__demo__add", {"a": 1, "b": 2})

    async with FakeModel(answer, key="key-1") as first, FakeModel(answer, key="key-2") as second:
        fakes = {"apples": first, "pears": second}
        env = {"ANTHROPIC_BASE_URL": first.url, "ANTHROPIC_API_KEY": "key-1", "OPENAI_API_KEY": "key-2"}
        env["OPENAI_BASE_URL"] = second.openai_url
        request = home.request(where=replace(home.where, env={**home.env, **env}))
        async with (
            mooring.open(request=request, servers={"demo": DEMO}, policy="allow") as host,
            mooring.agent(host, MODELS["anthropic"]) as anthropic,
            mooring.agent(host, MODELS["openai"]) as openai,
        ):
            await host.ready()
            said = await asyncio.gather(talk(anthropic, "apples"), talk(openai, "pears"))
    for (fruit, fake), key, texts in zip(fakes.items(), ("key-1", "key-2"), said, strict=True):
        assert texts == [f"{fruit} {number} for {key}" for number in range(5)]
        other = {"key-1": "key-2", "key-2": "key-1"}[key]
        assert {request.key for request in fake.requests} == {key}
        assert all(other not in f"{request.headers} {request.body}" for request in fake.requests)


async def test_what_the_process_inherits_for_a_library_is_sent_to_no_endpoint(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.setenv(name, "X-Leak: leaked\nAuthorization: Bearer leaked")
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY", "ANTHROPIC_AUTH_TOKEN", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "leaked")
    async with FakeModel(lambda request: Say("Fine.")) as fake:
        for word in MODELS:
            async with opened_beside(home, word, fake) as model:
                await hear_end(model, ask("Hi"))
    assert len(fake.requests) == len(MODELS)
    for request in fake.requests:
        assert "leaked" not in str(request.headers)


async def test_a_model_on_this_machine_needs_no_key_and_is_sent_none(home: Home) -> None:
    async with FakeModel([Say("Fine.")]) as fake:
        env = {key: value for key, value in variables(fake).items() if key.endswith("_URL")}
        async with opened(home, MODELS["ollama"], env) as model:
            await hear_end(model, ask("Hi"))
    assert fake.requests[0].key == ""
    assert KEY not in str(fake.requests[0].headers)


@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_a_stream_that_is_compressed_is_read_piece_by_piece(encoding: str, home: Home) -> None:
    squeeze = zlib.compressobj(wbits=31 if encoding == "gzip" else 15)
    pieces = [b'{"content": "Made "}', b'{"content": "fast."}']
    released = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        head = {"Content-Type": "text/event-stream", "Content-Encoding": encoding}
        response = web.StreamResponse(headers=head)
        await response.prepare(request)
        for piece in pieces:
            event = b'data: {"choices": [{"index": 0, "delta": %b}]}\n\n' % piece
            await response.write(squeeze.compress(event) + squeeze.flush(zlib.Z_SYNC_FLUSH))
            await released.wait()
        end = b'data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}\n\n'
        await response.write(squeeze.compress(end) + squeeze.flush())
        return response

    async with serving(answer) as url, opened(home, MODELS["ollama"], {"OLLAMA_BASE_URL": url}) as model:
        events = model.reply(ask("Hi"))
        assert await anext(events) == ReplyText("Made ")
        released.set()
        *_, last = [event async for event in events]
    assert isinstance(last, ReplyFinished)
    assert (last.message.text, last.usage) == ("Made fast.", None)
