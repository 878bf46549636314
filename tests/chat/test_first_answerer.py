"""A chat for which nobody was chosen to answer: whoever could is offered, one key each."""

import asyncio
import json
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest
from msgspec.structs import replace
from tests.models import FakeModel, Say

from backends.asking import KEY, MODELS, variables
from chat.terminal import Person
from mooring.settings import load
from mooring.verbs.agent.offers import find_model_offers
from support import Home, run_beside

pytestmark = [
    pytest.mark.processes,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at a pseudo-terminal"),
]

WHO, READY = "goes on without: ", "\n> "


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with FakeModel(lambda request: Say("Ahoy.")) as fake:
        yield fake


def one_key(fake: FakeModel) -> dict[str, str]:
    env = variables(fake)
    return {name: env[name] for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")}


def leave(person: Person) -> None:
    person.types("/quit")
    assert person.ended() == 0, person.shown
    assert "Traceback" not in person.raw
    assert KEY not in person.raw


def read_settings(home: Home) -> object:
    path = home.home / ".config/mooring/settings.json"
    return json.loads(path.read_text()) if path.exists() else None


def test_a_key_is_offered_answers_after_one_key_and_is_kept_if_that_is_wanted(home: Home, fake: FakeModel) -> None:
    with Person(home, "chat", **one_key(fake)) as person:
        offer = person.sees(WHO)
        assert f"1  {MODELS['anthropic']}" in offer
        assert "you have a key, ANTHROPIC_API_KEY" in offer
        assert fake.requests == []  # nothing is sent before the choice
        person.presses("1")
        person.answers(("Keep it? [y/N]: ", "y"))
        person.sees(f"{MODELS['anthropic']} answers.")
        person.answers((READY, "Hello"))
        person.sees("Ahoy.")
        person.sees(READY)
        leave(person)
    assert read_settings(home) == {"model": MODELS["anthropic"]}
    with Person(home, "chat", **one_key(fake)) as beside:
        assert "Who answers?" not in beside.sees(READY)
        leave(beside)


@pytest.mark.parametrize("keys", ["x\r", "x\x1b", "\x03"], ids=["enter", "escape", "ctrl-c"])
def test_whoever_wants_none_of_them_goes_on_without(keys: str, home: Home, fake: FakeModel) -> None:
    with Person(home, "chat", **one_key(fake)) as person:
        person.sees(WHO)
        person.presses(keys)
        person.sees("To start like that: mooring settings backend manual")
        person.sees(READY)
        leave(person)
    assert read_settings(home) is None
    assert fake.requests == []


def test_whoever_set_the_backend_to_manual_is_not_asked(home: Home, fake: FakeModel) -> None:
    assert run_beside(home, "settings", "backend", "manual").code == 0
    with Person(home, "chat", **one_key(fake)) as person:
        assert "No one is chosen" not in person.sees(READY)
        leave(person)


class Listing(BaseHTTPRequestHandler):
    """A model server that lists what it has, and notes what it was sent."""

    asked: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.asked.append(f"{self.path} {self.headers}")
        body = json.dumps({"data": [{"id": "qwen3:4b"}, {"id": "gemma"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def local_url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Listing)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    server.server_close()


def test_models_of_a_server_on_this_machine_are_offered_and_asked_without_a_key(home: Home, local_url: str) -> None:
    Listing.asked.clear()
    with _meet_with_offers(home, OLLAMA_BASE_URL=local_url, OLLAMA_API_KEY=KEY) as person:
        offer = person.shown
        assert "1  ollama:qwen3:4b  ollama runs on this machine" in offer
        assert "2  ollama:gemma" in offer
        assert all(asked.startswith("/v1/models ") and KEY not in asked for asked in Listing.asked)
        person.presses("2")
        person.answers(("Keep it? [y/N]: ", ""))
        person.sees("ollama:gemma answers.")
        person.sees(READY)
        leave(person)
    assert read_settings(home) is None


@contextmanager
def _meet_with_offers(home: Home, **env: str) -> Iterator[Person]:
    """A chat that offers something. A server that doesn't answer within 200 ms, as on a busy machine, isn't offered."""
    for _ in range(10):
        with Person(home, "chat", real=True, **env) as person:
            person.sees("No ")
            person.sees("e")
            if "No one" in person.shown:
                person.sees(WHO)
                yield person
                return
    raise AssertionError("nothing was offered")


@contextmanager
def listen_silently() -> Iterator[tuple[dict[str, str], list[socket.socket]]]:
    """Model servers that take connections and never answer: the variables that name them, and what they listen on."""
    with ExitStack() as stack:
        words = ("OLLAMA", "LMSTUDIO", "VLLM")
        servers = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in words]
        urls = [f"http://127.0.0.1:{server.getsockname()[1]}/v1" for server in servers]
        yield {f"{word}_BASE_URL": url for word, url in zip(words, urls, strict=True)}, servers


def test_the_first_prompt_does_not_wait_for_model_servers_that_never_answer(home: Home) -> None:
    with listen_silently() as (env, servers), Person(home, "chat", **env) as person:
        assert "No one is chosen" not in person.sees(READY)
        for server in servers:
            with server.accept()[0] as connection:
                asked = connection.makefile("rb").read()  # to the end: the chat has given it up
                assert asked.startswith(b"GET /v1/models ")
        leave(person)


@pytest.mark.swift
async def test_all_model_servers_together_have_a_fifth_of_a_second(home: Home) -> None:
    with listen_silently() as (env, _):
        where = replace(home.where, env={**home.where.env, **env})
        clock = asyncio.get_running_loop().time
        began = clock()
        assert await find_model_offers(where, load(where, str(home.cwd))) == []
        assert clock() - began == pytest.approx(0.2)


def test_an_installed_program_is_offered_and_chosen_by_the_setting_backend(home: Home) -> None:
    program = home.write("home/bin/opencode", "#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    with Person(home, "chat", PATH=f"{program.parent}:{home.env['PATH']}") as person:
        assert "1  opencode  OpenCode is installed" in person.sees(WHO)
        person.presses("\r")
        person.sees(READY)
        leave(person)


def test_the_program_of_claude_code_that_its_library_brings_is_offered(home: Home) -> None:
    library = home.write("libraries/claude_agent_sdk/__init__.py", "").parent
    program = home.write("libraries/claude_agent_sdk/_bundled/claude", "#!/bin/sh\nsleep 60\n")
    program.chmod(0o755)
    with Person(home, "chat", real=True, PYTHONPATH=str(library.parent)) as person:
        assert "1  claude  Claude Code is installed" in person.sees(WHO)
        person.presses("\r")
        person.sees(READY)
        leave(person)


@pytest.mark.parametrize("chosen", [{"backend": "manual"}, {"model": MODELS["anthropic"]}])
def test_nothing_is_offered_where_somebody_is_chosen(chosen: dict[str, str], home: Home, fake: FakeModel) -> None:
    home.write("home/.config/mooring/settings.json", chosen)
    with Person(home, "chat", **one_key(fake)) as person:
        assert "Who answers?" not in person.sees(READY)
        leave(person)


def test_with_neither_a_server_nor_a_model_the_chat_says_how_to_have_both(home: Home) -> None:
    with Person(home, "chat", cells=120) as person:
        greeting = person.sees(READY)
        assert "/mcp add" in greeting
        assert "/model says how to have one answer" in greeting
        person.types("Hello")
        person.sees("No tools are known yet. /mcp shows the servers, and /model says how to have a model answer.")
        person.sees(READY)
        leave(person)
