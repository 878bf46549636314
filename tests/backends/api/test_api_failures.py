"""What becomes of a request that fails: worth another try, too long, or to be fixed by the person. No key is repeated."""

import asyncio
import logging
import socket
import struct
import traceback
import zlib
from collections.abc import Callable, Mapping

import pytest
from aiohttp import web
from tests.models import Drop, Fail, FakeModel, Overflow, Say

from backends.asking import KEY, MODELS, ask, hear, opened, opened_beside, serving, variables
from mooring.agents.model import Model, ReplyFinished
from mooring.backends.api.providers import list_providers
from mooring.errors import ContextOverflow, ModelError, ModelOverloaded
from support import Home

every_provider = pytest.mark.parametrize("word", MODELS)


async def fail(model: Model) -> ModelError:
    with pytest.raises(ModelError) as caught:
        await hear(model, ask("Hi"))
    return caught.value


@every_provider
async def test_a_provider_that_is_asked_too_often_says_when_to_try_again_and_nothing_is_retried(
    word: str, home: Home
) -> None:
    async with FakeModel([Fail(429, retry_after=7)]) as fake, opened_beside(home, word, fake) as model:
        error = await fail(model)
    assert isinstance(error, ModelOverloaded)
    assert error.retry_after == 7
    assert str(error).startswith(f"{MODELS[word]}: ")
    assert len(fake.requests) == 1


@every_provider
@pytest.mark.parametrize("status", [500, 503])
async def test_a_provider_that_cannot_answer_now_is_worth_another_try(word: str, status: int, home: Home) -> None:
    async with FakeModel([Fail(status)]) as fake, opened_beside(home, word, fake) as model:
        assert isinstance(await fail(model), ModelOverloaded)
    assert len(fake.requests) == 1


async def test_an_overload_of_anthropic_is_worth_another_try_also_within_a_reply(home: Home) -> None:
    script = [Fail(529), [Say("So"), Fail(529)]]
    async with FakeModel(script) as fake, opened_beside(home, "anthropic", fake) as model:
        assert isinstance(await fail(model), ModelOverloaded)
        assert isinstance(await fail(model), ModelOverloaded)


@every_provider
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!DOCTYPE html><html><body>Log in first</body></html>", "text/html"),
        (b"\x00\x01garbage", "application/json"),
        (b"data: garbage\n\n", "text/event-stream"),
        (b"", "application/json"),
    ],
)
async def test_an_address_that_answers_with_no_reply_of_a_model_is_one_sentence_of_ours(
    word: str, body: bytes, kind: str, home: Home
) -> None:
    async def respond(_: web.Request) -> web.Response:
        return web.Response(body=body, content_type=kind)

    async with serving(respond) as url:
        addresses = {name: url for provider in list_providers({}).values() for name in provider.url_names}
        keys = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"), KEY)
        company = {"kind": "openai-chat", "baseUrl": url}
        async with opened(home, MODELS[word], {**keys, **addresses}, models={"company": company}) as model:
            error = await fail(model)
    name = "the setting `models`" if word == "company" else list_providers({})[word].url_names[0]
    assert str(error) == (
        f"{MODELS[word]}: what {url} answers is not the reply of a model; it may be a page to log in to. "
        f"Check the address in {name}."
    )


@every_provider
async def test_a_request_that_is_too_long_is_told_apart(word: str, home: Home) -> None:
    async with FakeModel([Overflow()]) as fake, opened_beside(home, word, fake) as model:
        assert isinstance(await fail(model), ContextOverflow)


@pytest.mark.parametrize(
    "message",
    [
        "the request exceeds the available context size, try increasing it",
        "The number of tokens to keep from the initial prompt is greater than the context length.",
        "input length and `max_tokens` exceed context limit: 199000 + 20000 > 200000",
    ],
)
async def test_a_program_on_this_machine_says_in_its_own_words_that_a_request_is_too_long(
    message: str, home: Home
) -> None:
    async with FakeModel([Fail(400, message=message)]) as fake, opened_beside(home, "lmstudio", fake) as model:
        assert isinstance(await fail(model), ContextOverflow)


@pytest.mark.parametrize("word", ["anthropic", "openai-chat"])
async def test_a_body_that_is_too_large_is_too_long(word: str, home: Home) -> None:
    async with FakeModel([Fail(413)]) as fake, opened_beside(home, word, fake) as model:
        assert isinstance(await fail(model), ContextOverflow)


@every_provider
async def test_a_reply_that_is_cut_is_worth_another_try(word: str, home: Home) -> None:
    async with FakeModel([[Say("So far"), Drop()]]) as fake, opened_beside(home, word, fake) as model:
        assert isinstance(await fail(model), ModelOverloaded)


ENDINGS = {
    "anthropic": b'event: message_start\ndata: {"type": "message_start", "message": {"id": "m", "type": "message", '
    b'"role": "assistant", "content": [], "model": "m", "stop_reason": null, "usage": {"input_tokens": 1, '
    b'"output_tokens": 1}}}\n\nevent: content_block_start\ndata: {"type": "content_block_start", "index": 0, '
    b'"content_block": {"type": "text", "text": "So"}}\n\n',
    "openai-chat": b'data: {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": '
    b'[{"index": 0, "delta": {"content": "So"}}]}\n\n',
    "openai": b'event: response.created\ndata: {"type": "response.created", "sequence_number": 0, "response": {"id": "r", '
    b'"object": "response", "created_at": 1, "model": "m", "output": [], "parallel_tool_calls": true, "tool_choice": '
    b'"auto", "tools": [], "status": "in_progress"}}\n\n',
    "google": b'data: {"candidates": [{"content": {"role": "model", "parts": [{"text": "So"}]}}]}\n\n',
}
"""The beginnings of replies."""


@pytest.mark.parametrize("word", ENDINGS)
async def test_a_reply_that_ends_in_order_but_too_early_is_worth_another_try(word: str, home: Home) -> None:
    async def begin(request: web.Request) -> web.Response:
        return web.Response(body=ENDINGS[word], content_type="text/event-stream")

    async with serving(begin) as url, opened(home, MODELS[word], leading_to(url)) as model:
        assert isinstance(await fail(model), ModelOverloaded)


DELTA = b'data: {"type": "response.output_text.delta", "item_id": "i", "output_index": 0, "content_index": 0, "delta": "So"}\n\n'


def zip_half(begun: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=31)
    return squeeze.compress(begun) + squeeze.flush(zlib.Z_SYNC_FLUSH)


GARBLED: Mapping[str, Callable[[bytes], bytes]] = {
    "no JSON": lambda begun: begun + b"data: {\n\n",
    "no object": lambda begun: begun + b"data: []\n\n",
    "a page": lambda begun: begun + b'data: {"\n\n<html>502 Bad Gateway</html>\n\n',
    "half a compressed stream": zip_half,
}
"""What can come after the beginning of a reply where a proxy or a connection breaks it."""


@pytest.mark.parametrize("what", GARBLED)
@pytest.mark.parametrize("word", ENDINGS)
async def test_a_reply_that_is_garbled_after_its_beginning_is_worth_another_try(
    word: str, what: str, home: Home
) -> None:
    begun = ENDINGS[word] + (DELTA if word == "openai" else b"")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n"
    if "compressed" in what:
        head += b"Content-Encoding: gzip\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + b"\r\n" + GARBLED[what](begun))
        writer.close()
        await writer.wait_closed()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with opened(home, MODELS[word], leading_to(url)) as model:
            error = await fail(model)
    assert isinstance(error, ModelOverloaded)
    assert error.reason.startswith("the reply broke off before its end")


@every_provider
async def test_a_refused_key_is_named_with_the_command_that_stores_another(word: str, home: Home) -> None:
    async with FakeModel([], key="another") as fake, opened_beside(home, word, fake) as model:
        error = await fail(model)
    assert not isinstance(error, ModelOverloaded | ContextOverflow)
    assert "mooring secret set " in str(error)
    names = {"google": "GEMINI_API_KEY", "company": "COMPANY_KEY", "openai-chat": "OPENAI_API_KEY"}
    assert names.get(word, f"{word.upper()}_API_KEY") in str(error)


@every_provider
async def test_a_model_that_is_not_there_is_answered_with_those_that_are_near(word: str, home: Home) -> None:
    near = MODELS[word].partition(":")[2] + "-2"
    script = [Fail(404, message="model not found")]
    async with FakeModel(script, models=[near, "something-else"]) as fake, opened_beside(home, word, fake) as model:
        error = await fail(model)
    assert not isinstance(error, ModelOverloaded)
    assert error.hint == f"Did you mean -m {word}:{near}?"


async def test_used_up_credit_is_not_worth_another_try(home: Home) -> None:
    script = [Fail(429, kind="insufficient_quota", message="You exceeded your current quota.")]
    async with FakeModel(script) as fake, opened_beside(home, "openai-chat", fake) as model:
        error = await fail(model)
    assert not isinstance(error, ModelOverloaded)
    assert "credit" in str(error)


async def test_a_program_on_this_machine_that_does_not_run_is_not_worth_another_try(home: Home) -> None:
    async with opened(home, "ollama:qwen3", {"OLLAMA_BASE_URL": "http://127.0.0.1:9/v1"}) as model:
        error = await fail(model)
    assert not isinstance(error, ModelOverloaded)
    assert str(error) == "ollama:qwen3: nothing answers at http://127.0.0.1:9/v1. Is ollama running?"


async def test_a_name_that_leads_nowhere_may_be_back_later(home: Home) -> None:
    env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": "https://nowhere.invalid"}
    async with opened(home, MODELS["anthropic"], env) as model:
        assert isinstance(await fail(model), ModelOverloaded)


@pytest.mark.parametrize("word", ["anthropic", "openai", "openai-chat", "google"])
async def test_an_error_within_hundreds_of_errors_is_still_an_error_of_the_provider(word: str, home: Home) -> None:
    body = '{"error":' * 900 + '"no"' + "}" * 900

    async def refuse(request: web.Request) -> web.Response:
        return web.Response(status=400, text=body, content_type="application/json")

    async with serving(refuse) as url, opened(home, MODELS[word], leading_to(url)) as model:
        assert "400" in str(await fail(model))


async def test_a_certificate_that_is_not_needed_hides_no_error(home: Home) -> None:
    near = MODELS["openai-chat"].partition(":")[2] + "-2"
    async with FakeModel([Fail(404, message="model not found")], models=[near]) as fake:
        env = {**variables(fake), "NODE_EXTRA_CA_CERTS": "/missing.pem"}
        async with opened(home, MODELS["openai-chat"], env) as model:
            assert (await fail(model)).hint == f"Did you mean -m openai-chat:{near}?"


async def test_no_redirect_takes_the_key_elsewhere(home: Home) -> None:
    async with FakeModel([]) as elsewhere:

        async def redirect(request: web.Request) -> web.Response:
            raise web.HTTPTemporaryRedirect(f"{elsewhere.url}{request.path}")

        async with serving(redirect) as url:
            for word in ("anthropic", "openai", "openai-chat", "google"):
                async with opened(home, MODELS[word], leading_to(url)) as model:
                    await fail(model)
        assert (elsewhere.requests, elsewhere.strays) == ([], [])


@every_provider
async def test_no_error_no_log_and_no_representation_repeats_a_key(
    word: str, home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    script = [Fail(401, message=f"The key {KEY} is not valid."), Fail(400, message=f"Bad: {KEY}"), Say("Fine.")]
    async with FakeModel(script) as fake, opened_beside(home, word, fake) as model:
        shown = [repr(model)]
        for _ in range(2):
            error = await fail(model)
            shown += [str(error), repr(error), error.reason, *traceback.format_exception(error)]
        shown.append(repr(await hear(model, ask("Hi"))))
    assert fake.requests[0].key == KEY
    assert KEY not in "".join([*shown, caplog.text])


async def test_what_a_provider_says_is_cut_to_one_short_line(home: Home) -> None:
    script = [Fail(400, message="No.\n" * 5000)]
    async with FakeModel(script) as fake, opened_beside(home, "anthropic", fake) as model:
        error = await fail(model)
    assert "\n" not in str(error)
    assert len(str(error)) < 600


async def test_a_conversation_goes_on_after_a_failure(home: Home) -> None:
    async with FakeModel([[Say("So"), Drop()], Say("Back.")]) as fake, opened_beside(home, "anthropic", fake) as model:
        await fail(model)
        last = (await hear(model, ask("Hi")))[-1]
    assert isinstance(last, ReplyFinished)
    assert last.message.text == "Back."


def leading_to(url: str) -> dict[str, str]:
    env = variables(FakeModel([]))
    return {name: url if name.endswith("_URL") else value for name, value in env.items()}


async def refuse_with(home: Home, word: str, status: int, body: object, **headers: str) -> ModelError:
    async def refuse(_: web.Request) -> web.Response:
        return web.json_response(body, status=status, headers=headers)

    async with serving(refuse) as url, opened(home, MODELS[word], leading_to(url)) as model:
        return await fail(model)


TOO_OFTEN = {"type": "error", "error": {"type": "rate_limit_error", "message": "Slow down."}}


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After-Ms": "1500"}, 1.5),
        ({"Retry-After": "7", "Retry-After-Ms": "250"}, 0.25),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({}, None),
    ],
)
async def test_the_wait_of_a_provider_is_read_in_every_form(
    headers: dict[str, str], wait: float | None, home: Home
) -> None:
    error = await refuse_with(home, "anthropic", 429, TOO_OFTEN, **headers)
    assert isinstance(error, ModelOverloaded)
    assert error.retry_after == wait


async def test_the_wait_that_google_asks_for_stands_in_the_body(home: Home) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2.5s"}
    body = [{"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Slow down.", "details": [info]}}]
    error = await refuse_with(home, "google", 429, body)
    assert isinstance(error, ModelOverloaded)
    assert error.retry_after == 2.5


async def test_a_provider_that_says_so_is_not_asked_again(home: Home) -> None:
    error = await refuse_with(home, "openai", 503, {"error": {"message": "No."}}, **{"X-Should-Retry": "false"})
    assert not isinstance(error, ModelOverloaded)


async def test_a_low_balance_is_no_overload_whatever_its_status(home: Home) -> None:
    message = "Your credit balance is too low to access the Anthropic API."
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    error = await refuse_with(home, "anthropic", 400, body)
    assert not isinstance(error, ModelOverloaded)
    assert "the credit of the account is used up" in str(error)


@pytest.mark.parametrize("word", ["openai", "openai-chat", "company"])
@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        # Azure's filter, of a prompt.
        (400, "content_filter", "the request was flagged: As they say it."),
        (403, "model_not_found", "does not give you this model: As they say it."),
        (403, "unsupported_country_region_territory", "refuses requests from where you are: As they say it."),
    ],
)
async def test_what_is_wrong_with_the_request_or_the_account_is_no_matter_of_the_key(
    word: str, status: int, code: str, words: str, home: Home
) -> None:
    script = [Fail(status, kind=code, message="As they say it.")]
    async with FakeModel(script) as fake, opened_beside(home, word, fake) as model:
        error = await fail(model)
    assert type(error) is ModelError
    assert words in str(error)
    assert "mooring secret" not in str(error)


async def test_a_redirect_is_refused_with_the_address_that_it_leads_to(home: Home) -> None:
    error = await refuse_with(home, "openai-chat", 307, {}, Location="https://elsewhere.example/v1?state=secret")
    assert "redirects to https://elsewhere.example/v1, which is not followed" in error.reason
    assert "secret" not in str(error)
    assert error.hint == "Check the address in OPENAI_BASE_URL."


@pytest.mark.parametrize(
    ("status", "words"), [(404, "404 Not Found"), (405, "405 Method Not Allowed"), (501, "501 Not")]
)
@pytest.mark.parametrize("word", ["anthropic", "openai", "openai-chat", "google"])
async def test_an_address_where_no_model_is_names_what_to_check_and_is_not_asked_again(
    word: str, status: int, words: str, home: Home
) -> None:
    asked: list[str] = []

    async def refuse(request: web.Request) -> web.Response:
        asked.append(request.method)
        return web.Response(status=status, text="<html>Nothing here</html>", content_type="text/html")

    async with serving(refuse) as url, opened(home, MODELS[word], leading_to(url)) as model:
        error = await fail(model)
    assert not isinstance(error, ModelOverloaded)
    assert words in error.reason
    assert "no such model" not in error.reason
    assert error.hint.startswith("Check the address in ")
    assert asked.count("POST") == 1


@pytest.mark.parametrize("word", ["anthropic", "openai", "openai-chat", "google"])
@pytest.mark.parametrize("is_reset", [False, True])
async def test_a_connection_that_is_cut_within_a_reply_is_said_in_a_few_words(
    word: str, is_reset: bool, home: Home
) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(ENDINGS[word])
        assert request.transport is not None
        if is_reset:
            sock = request.transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        request.transport.close()
        return response

    async with serving(cut) as url, opened(home, MODELS[word], leading_to(url)) as model:
        error = await fail(model)
    assert isinstance(error, ModelOverloaded)
    assert error.reason in (
        "the reply broke off before its end: the connection was closed.",
        "the reply broke off before its end: Connection reset by peer.",
    )


async def test_half_a_key_is_not_repeated_either(home: Home) -> None:
    """What a provider says is cut, and a key could stand where the cut is."""
    body = {"error": {"message": " " * 1990 + KEY, "type": "authentication_error"}}
    error = await refuse_with(home, "anthropic", 401, body)
    assert KEY[:8] not in str(error)


@every_provider
async def test_every_error_is_whole_sentences(word: str, home: Home) -> None:
    script = [Fail(401, message="No"), Fail(404, message="No model"), Fail(400, message="No"), Fail(402, message="No")]
    script += [Fail(429, message="No"), Fail(503, message="No"), Fail(413, message="No")]
    async with FakeModel(script, models=["x"]) as fake, opened_beside(home, word, fake) as model:
        for _ in script:
            error = await fail(model)
            assert error.reason.endswith(("No.", "No model."))
            assert str(error) == f"{MODELS[word]}: {error.reason} {error.hint}".rstrip()
