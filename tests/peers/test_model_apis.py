"""The fake model of our tests beside the providers' own libraries: what they make of its replies is what was scripted."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from install import python
from tests.models import (
    AskedResult,
    Call,
    Drop,
    Fail,
    FakeModel,
    Malformed,
    ModelRequest,
    Overflow,
    Picture,
    Reply,
    Say,
    Stall,
    Stop,
    Think,
    Usage,
)

TALKING = Path(__file__).parent / "talking.py"
APIS = ("anthropic", "openai-chat", "openai-responses", "gemini")
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
TWO_CALLS = [Call("add", {"a": 1, "b": 2}), Call("add", {"a": 3, "b": {"c": ["d"]}})]

SPEECH: Mapping[str, Sequence[Say | Think | Call | Stall]] = {
    "text": [Say("Hello, ünïcode 🚢 traveler.")],
    "thinking": [Think("Hm, let me see."), Say("So it is.")],
    "one call": [Call("add", {"a": 1, "b": 2})],
    "parallel calls": [Say("I add."), *TWO_CALLS],
    "thinking and calls": [Think("Two of them."), *TWO_CALLS],
    "a stall": [Say("a"), Stall(0.05), Say("b")],
    "nothing": [],
}
STOPS = {
    "text": ["end_turn", "stop", "completed", "STOP"],
    "one call": ["tool_use", "tool_calls", "completed", "STOP"],
    "length": ["max_tokens", "length", "max_output_tokens", "MAX_TOKENS"],
    "refusal": ["refusal", "content_filter", "content_filter", "SAFETY"],
}
USAGES = {
    # Anthropic counts the cache apart from the input, Gemini the reasoning apart from the output.
    "anthropic": [600, 50, 300, 100],
    "openai-chat": [1000, 50, 300, 20],
    "openai-responses": [1000, 50, 300, 20],
    "gemini": [1000, 30, 300, 20],
}
ERRORS = {
    "rate limit": ["RateLimitError", "RateLimitError", "RateLimitError", "ClientError"],
    "unavailable": ["ServiceUnavailableError", "InternalServerError", "InternalServerError", "ServerError"],
    "overloaded": ["OverloadedError", "InternalServerError", "InternalServerError", "ServerError"],
    "overflow": ["BadRequestError", "BadRequestError", "BadRequestError", "ClientError"],
}
STATUSES = {"rate limit": 429, "unavailable": 503, "overloaded": 529, "overflow": 400}
TOO_LONG = ["prompt is too long", "maximum context length", "context window", "exceeds the maximum number of tokens"]
REPLIES: Mapping[str, Reply] = {
    **SPEECH,
    "length": [Say("cut o"), Stop("length")],
    "refusal": [Say("No."), Stop("refusal")],
    "usage": [Say("x"), Usage(1000, 50, 300, 100, 20)],
    "malformed": Malformed("add", '{"a": 2, b'),
    "a cut": [Say("a"), Drop()],
    "a cut call": [Malformed("add", '{"a": 2'), Drop()],
    "a late failure": [Say("a"), Fail(503, message="Too much to do.")],
    "rate limit": Fail(429, retry_after=7),
    "unavailable": Fail(503),
    "overloaded": Fail(529),
    "overflow": Overflow(),
}
OTHERS = ("use the results", "list the models", "count the tokens")


class Heard(NamedTuple):
    """What one library understood, by what it was asked and whether as a stream; and what the model was asked."""

    api: str
    place: int
    replies: dict[tuple[str, bool], dict[str, Any]]
    requests: list[ModelRequest]


def respond(request: ModelRequest) -> Reply:
    if request.first_user_text != "use the results":
        return REPLIES[request.first_user_text]
    return Say("Thank you.") if request.results else [Think("Two of them."), *TWO_CALLS]


@pytest.fixture(scope="module", params=APIS)
def heard(request: pytest.FixtureRequest) -> Heard:
    """One process for each library: most of its time is the import."""
    api = request.param
    turns = [{"word": word, "stream": stream} for word in [*REPLIES, *OTHERS] for stream in (False, True)]
    with FakeModel(respond, models=["first", "second"], key="sk-fake") as model:
        url = model.openai_url if api.startswith("openai") else model.url
        given = json.dumps({"api": api, "url": url, "turns": turns})
        done = subprocess.run([python("providers"), str(TALKING)], input=given, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-2000:]
        assert model.strays == []
    asked = [(turn["word"], turn["stream"]) for turn in turns]
    replies = dict(zip(asked, json.loads(done.stdout), strict=True))
    return Heard(api, APIS.index(api), replies, model.requests)


streamed_or_not = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@streamed_or_not
@pytest.mark.parametrize("word", SPEECH)
def test_text_thinking_and_calls_arrive_as_scripted(heard: Heard, word: str, stream: bool) -> None:
    reply, script = heard.replies[word, stream], SPEECH[word]
    thoughts = [part for part in script if isinstance(part, Think)]
    calls = [part for part in script if isinstance(part, Call)]
    assert reply["text"] == "".join(part.text for part in script if isinstance(part, Say))
    assert reply["thinking"] == "".join(thought.text for thought in thoughts)
    assert [(call["name"], call["arguments"]) for call in reply["calls"]] == [(c.tool, c.arguments) for c in calls]
    assert len({call["id"] for call in reply["calls"]}) == len(calls)
    # Chat Completions knows no signatures.
    expected = [] if heard.api == "openai-chat" else [thought.signature for thought in thoughts]
    assert reply["signatures"] == expected


@streamed_or_not
@pytest.mark.parametrize("word", STOPS)
def test_a_reply_ends_in_the_words_of_each_api(heard: Heard, word: str, stream: bool) -> None:
    assert heard.replies[word, stream]["stop"] == STOPS[word][heard.place]


@streamed_or_not
def test_tokens_are_counted_as_each_api_counts_them(heard: Heard, stream: bool) -> None:
    assert heard.replies["usage", stream]["usage"] == USAGES[heard.api]


@streamed_or_not
@pytest.mark.parametrize("word", ERRORS)
def test_a_failure_is_the_error_that_the_library_has_for_it(heard: Heard, word: str, stream: bool) -> None:
    reply = heard.replies[word, stream]
    assert (reply["error"], reply["status"]) == (ERRORS[word][heard.place], STATUSES[word])


@streamed_or_not
def test_a_rate_limit_says_when_to_come_back(heard: Heard, stream: bool) -> None:
    reply = heard.replies["rate limit", stream]
    if heard.api == "gemini":
        assert "'retryDelay': '7s'" in reply["said"]
    else:
        assert reply["retry_after"] == "7"


@streamed_or_not
def test_too_long_a_prompt_is_refused_in_the_words_that_clients_look_for(heard: Heard, stream: bool) -> None:
    assert TOO_LONG[heard.place] in heard.replies["overflow", stream]["said"]


@streamed_or_not
def test_a_failure_after_the_first_words_is_an_error_too(heard: Heard, stream: bool) -> None:
    reply = heard.replies["a late failure", stream]
    assert reply["error"] != "ValidationError"
    assert "Too much to do." in reply["said"]


@streamed_or_not
@pytest.mark.parametrize("word", ["a cut", "a cut call"])
def test_a_cut_connection_is_no_reply(heard: Heard, word: str, stream: bool) -> None:
    assert heard.replies[word, stream]["error"] in ("APIConnectionError", "RemoteProtocolError")


@streamed_or_not
def test_malformed_arguments_reach_the_client(heard: Heard, stream: bool) -> None:
    reply = heard.replies["malformed", stream]
    match heard.api:
        case "anthropic":
            # Its library parses arguments itself; in a whole reply they cannot be but an object.
            assert reply["error"] == ("ValueError" if stream else "ValidationError")
        case "gemini":
            assert (reply["stop"], reply["calls"]) == ("MALFORMED_FUNCTION_CALL", [])
        case _:
            assert [(call["name"], call["arguments"]) for call in reply["calls"]] == [("add", '{"a": 2, b')]


def test_what_the_library_sends_back_is_recorded_alike_for_all(heard: Heard) -> None:
    # The last request of the conversation that was not streamed.
    request = next(request for request in heard.requests if request.results)
    person, model, results = request.messages
    assert (request.api, request.system, request.key) == (heard.api, "Be kind.", "sk-fake")
    assert [(tool.name, tool.description) for tool in request.tools] == [("add", "Add.")]
    assert request.tools[0].schema is not None
    assert set(request.tools[0].schema["properties"]) == {"a", "b"}
    assert (person.role, person.text) == ("user", "use the results")
    assert (model.role, model.thinking) == ("assistant", "Two of them.")
    assert [(call.name, call.arguments) for call in model.calls] == [(c.tool, c.arguments) for c in TWO_CALLS]
    pictures = [Picture("image/png", PIXEL)]
    in_results = [] if heard.api == "openai-chat" else pictures
    assert results.results == [AskedResult(call.id, "42", in_results) for call in model.calls]
    # Tools return no pictures in Chat Completions: clients put them into a message of their own.
    assert results.images == (pictures if heard.api == "openai-chat" else [])


@streamed_or_not
def test_the_conversation_goes_on_after_the_results(heard: Heard, stream: bool) -> None:
    assert heard.replies["use the results", stream]["text"] == "Thank you."


def test_the_models_are_listed(heard: Heard) -> None:
    models = heard.replies["list the models", False]["models"]
    assert [name.removeprefix("models/") for name in models] == ["first", "second"]


def test_tokens_are_counted_before_a_request(heard: Heard) -> None:
    reply = heard.replies["count the tokens", False]
    if heard.api == "openai-chat":
        assert reply["error"] == "NotImplementedError"  # there is no such call
    else:
        assert 0 < reply["tokens"] < 100
