"""`mooring chat -p`: what it prints, how it ends, and what it makes of stdin, with a scripted model behind it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.models import Call, Fail, FakeModel, Hold, Say, Script

from agent.doors import PROVIDERS, ask_command, wait_until
from backends.asking import KEY, MODELS, variables
from chat.terminal import Person
from mooring.testing import Issuer, Site
from support import DEMO, MOORING, WATCHED, Cli, Home, Result, run_at_terminal, run_beside, running

SCHEMAS = Path(__file__).parents[2] / "docs" / "reference" / "schema"
OVERLOADED = Fail(503, message="Too many people ask.", retry_after=0)


pytestmark = pytest.mark.usefixtures("empty_stdin")


@pytest.fixture(autouse=True)
def demo(home: Home) -> None:
    """The demo, waited for however long a busy machine takes to start it."""
    home.configure(demo=DEMO)


@pytest.fixture
def empty_stdin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        yield


def validate(name: str, data: Any) -> None:
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text())
    Draft202012Validator(schema).validate(data)


def ask(cli: Cli, monkeypatch: pytest.MonkeyPatch, script: Script, *words: str, word: str = "anthropic") -> Result:
    """The command inside this process."""
    with FakeModel(script) as fake:
        for name, value in variables(fake).items():
            monkeypatch.setenv(name, value)
        done = cli("chat", "-m", MODELS[word], *words)
    assert KEY not in done.out + done.err
    assert "Traceback" not in done.err
    return done


# --- a process of its own ---------------------------------------------------------------------------------------------


@contextmanager
def stdin_of(kind: str, home: Home) -> Iterator[Any]:
    if kind == "a pipe":
        yield b"from stdin\n"
    elif kind == "a file":
        with home.write("notes.txt", "from stdin\n").open("rb") as file:
            yield file
    elif kind == "a silent pipe":
        reading, writing = os.pipe()
        yield reading
        os.close(reading)
        os.close(writing)
    else:
        yield subprocess.DEVNULL


@pytest.mark.processes
@pytest.mark.parametrize(
    ("word", "stdin"),
    [("anthropic", "a pipe"), ("openai-chat", "a file"), ("openai", "nothing"), ("google", "a silent pipe")],
)
def test_a_turn_is_one_event_a_line_and_a_call_that_nobody_allowed_is_denied_with_its_rule(
    word: str, stdin: str, home: Home
) -> None:
    calls = [Call("mcp__demo__add", {"a": 2, "b": 40}), Call("mcp__demo__note", {"text": "x"})]
    with (
        FakeModel([[Say("Adding. "), *calls], Say("It is 42.")], key=KEY) as fake,
        stdin_of(stdin, home) as given,
    ):
        words = ("-p", "What is 2 + 40?", "--output-format", "stream-json", "--allow", "demo.add")
        done = ask_command(home, fake, *words, word=word, stdin=given)
    assert done.code == 0, done.err
    events = [json.loads(line) for line in done.out.splitlines()]
    for event in events:
        validate("turn-event", event)
    assert events[0]["type"] == "Started"
    assert [event["type"] for event in events].count("Done") == 1
    last = events[-1]
    assert (last["type"], last["reason"], last["text"]) == ("Done", "finished", "It is 42.")
    assert [denied["rule"] for denied in last["denied"]] == ['{"tool": "mcp__demo__note", "action": "allow"}']
    added, noted = fake.requests[1].results
    assert "42" in added.text
    assert "nobody to ask" in noted.text
    expected = "What is 2 + 40?\n\nfrom stdin" if stdin in ("a pipe", "a file") else "What is 2 + 40?"
    assert fake.requests[0].last_user_text == expected
    assert ("nothing came on stdin" in done.err) == (stdin == "a silent pipe")
    assert KEY not in done.out + done.err


@pytest.mark.processes
def test_an_interrupt_ends_the_turn_the_stream_and_the_servers(home: Home) -> None:
    with FakeModel([[Say("Once upon a time"), Hold("never")]]) as fake:
        process = subprocess.Popen(
            [MOORING, "chat", "-m", MODELS["anthropic"], "-p", "A story", "--output-format", "stream-json"],
            cwd=home.cwd,
            env={**home.env, **WATCHED, **variables(fake), "NONCE": str(home.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        lines: list[bytes] = []
        while not lines or b'"Text"' not in lines[-1]:
            lines.append(process.stdout.readline())
            assert lines[-1], "it ended before the model had said anything"
        process.send_signal(signal.SIGINT)
        rest, err = process.communicate()
        lines += rest.splitlines()
        assert len(fake.abandoned) == 1
    assert process.returncode == 130, err
    last = json.loads(lines[-1])
    assert (last["type"], last["reason"]) == ("Done", "interrupted")
    assert b"Traceback" not in err
    assert running(f"NONCE={home.folder}") == []


@pytest.mark.processes
@pytest.mark.parametrize("begun", [True, False], ids=["in a reply", "before the turn"])
def test_an_interrupt_still_prints_the_object_that_json_promises(begun: bool, home: Home) -> None:
    if not begun:
        # Nothing is asked of the model until a required server is there, and this one never is.
        wait = "import time; open('began', 'w').close(); time.sleep(600)"
        home.configure(slow={"command": sys.executable, "args": ["-c", wait], "cwd": str(home.cwd), "required": True})
    with FakeModel([[Say("Once upon a time"), Hold("never")]]) as fake:
        process = subprocess.Popen(
            [MOORING, "chat", "-m", MODELS["anthropic"], "-p", "A story", "--output-format", "json"],
            cwd=home.cwd,
            env={**home.env, **variables(fake)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        wait_until(lambda: fake.requests if begun else (home.cwd / "began").exists())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    assert process.returncode == 130, err
    data = json.loads(out)
    validate("headless", data)
    assert (data["reason"], data["isError"], data["error"]) == ("interrupted", True, "The turn was interrupted.")
    assert bool(data["session"]) == begun
    assert b"Traceback" not in err


@pytest.mark.processes
def test_what_is_no_text_or_too_long_on_stdin_is_refused_before_anything_starts(home: Home) -> None:
    with FakeModel([]) as fake:
        broken = ask_command(home, fake, "-p", "Go", stdin=b"\xff\xfe")
        huge = home.write("huge.txt", b"x" * (10 * 1024 * 1024 + 1))
        with huge.open("rb") as file:
            large = ask_command(home, fake, "-p", "Go", stdin=file)
        empty = ask_command(home, fake, "-p", " ", stdin=b"\n")
    assert (broken.code, broken.out) == (2, "")
    assert broken.err == "mooring: What is on stdin is not UTF-8 text.\n"
    assert (large.code, large.out) == (2, "")
    assert "larger than 10 MiB" in large.err
    assert (empty.code, empty.out) == (2, "")
    assert "The prompt is empty" in empty.err


@pytest.mark.processes
def test_a_closed_stdin_is_no_stdin(home: Home) -> None:
    command = f'"{MOORING}" chat -p " " <&-'
    done = subprocess.run(command, shell=True, cwd=home.cwd, env=home.env, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"The prompt is empty" in done.stderr
    assert b"Traceback" not in done.stderr


# --- what is printed --------------------------------------------------------------------------------------------------


def test_the_answer_alone_is_on_stdout_and_what_was_denied_on_stderr(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [Call("mcp__demo__note", {"text": "x"}), Say("I may not.\nSorry.")]
    done = ask(cli, monkeypatch, script, "-p", "Keep a note")
    assert (done.code, done.out) == (0, "I may not.\nSorry.\n")
    assert "demo.note was not called" in done.err
    assert "To allow it: mooring allow demo.note\n" in done.err


def test_the_answer_as_data_is_what_the_published_schema_says(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [Call("mcp__demo__note", {"text": "x"}), Say("I may not.")]
    done = ask(cli, monkeypatch, script, "-p", "Keep a note", "--output-format", "json")
    assert (done.code, done.err) == (0, "")
    validate("headless", done.data)
    assert (done.data["version"], done.data["text"], done.data["isError"]) == (1, "I may not.", False)
    assert done.data["turns"] == 2
    assert done.data["cost"] > 0
    assert done.data["usage"]["inputTokens"] > 100
    assert [denied["tool"] for denied in done.data["denied"]] == ["note"]
    assert ask(cli, monkeypatch, [Say("x")], "-p", "Go", "--json").data["text"] == "x"


@pytest.mark.parametrize("word", PROVIDERS)
def test_a_model_that_stays_overloaded_is_one_sentence_and_exit_1(
    word: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = ask(cli, monkeypatch, [OVERLOADED] * 6, "-p", "Go", "--output-format", "json", word=word)
    assert done.code == 1
    validate("headless", done.data)
    assert done.data["isError"]
    assert done.data["text"] == ""
    assert "Too many people ask." in done.data["error"]
    last = done.err.splitlines()[-1]
    assert last == f"mooring: {done.data['error']}"
    assert done.err.count("Trying again") == 5


def test_the_most_turns_are_exit_1_with_what_was_said_so_far(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    script = [[Say("Adding."), Call("mcp__demo__add", {"a": 1, "b": 1})]]
    done = ask(cli, monkeypatch, script, "-p", "Go", "--max-turns", "1", "--allow", "demo.*")
    assert (done.code, done.out) == (1, "Adding.\n")
    said = "mooring: The model was asked 1 time, the most in one turn (--max-turns), and had not finished.\n"
    assert said in done.err


def test_a_key_that_the_provider_repeats_is_shown_nowhere(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for output in ("text", "json", "stream-json"):
        refused = [Fail(401, message=f"{KEY} is not valid")]
        done = ask(cli, monkeypatch, refused, "-p", "Go", "--output-format", output)
        assert done.code == 1
        assert "ANTHROPIC_API_KEY" in done.out + done.err


def test_what_a_model_says_does_not_steer_the_terminal_and_a_pipe_gets_it_as_it_is(
    home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "\x1b[2Jgone"
    assert ask(cli, monkeypatch, [Say(said)], "-p", "Go").out == f"{said}\n"
    with FakeModel([Say(said)]) as fake:
        monkeypatch.setattr(Home, "env", {**home.env, **variables(fake)})
        shown, code = run_at_terminal(home, "-q", "chat", "-m", MODELS["anthropic"], "-p", "Go")
    assert code == 0
    assert "\x1b[2J" not in shown
    assert "\\x1b[2Jgone" in shown


# --- how it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "No model is chosen."),
        (("-m", "antropic:claude-sonnet-5-5"), "'antropic' (-m) is not a provider of models."),
        (("-m", "anthropic:claude-sonnet-5-5"), "needs a key"),
    ],
)
def test_without_a_model_that_can_be_used_it_is_exit_2(words: tuple[str, ...], reason: str, cli: Cli) -> None:
    done = cli("chat", *words, "-p", "Go", "--output-format", "json")
    assert (done.code, done.out) == (2, "")
    assert reason in done.err


@contextmanager
def show_a_page() -> Iterator[str]:
    """The address of something that answers whatever it is asked with a page to log in to."""

    class Page(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            page = b"<html><body>Log in to the network of this hotel</body></html>"
            self.send_response(200)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_a_page_in_place_of_a_reply_is_one_sentence_without_a_terminal_and_at_one(home: Home) -> None:
    with show_a_page() as url:
        env = {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": url}
        words = f"what {url} answers is not the reply of a model; it may be a page to log in to."
        done = run_beside(home, "chat", "-m", MODELS["anthropic"], "-p", "Go", **env)
        assert (done.code, done.out) == (1, "")
        assert done.err == f"mooring: {MODELS['anthropic']}: {words} Check the address in ANTHROPIC_BASE_URL.\n"
        with Person(home, "chat", "-m", MODELS["anthropic"], **env) as person:
            for said in ("Go", "Once more"):
                person.answers(("\n> ", said))
                person.sees(words)
            person.answers(("\n> ", "/quit"))
            assert person.ended() == 0
            assert "Traceback" not in person.raw


async def test_a_required_server_that_needs_a_login_is_exit_3(
    home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Issuer() as issuer, Site(issuer=issuer) as site:
        home.configure(web={"type": "http", "url": site.url, "required": True})
        done = await asyncio.to_thread(ask, cli, monkeypatch, [], "-p", "Go")
    assert (done.code, done.out) == (3, "")
    assert "mooring mcp login web" in done.err


def test_a_required_server_of_the_project_that_nobody_approved_is_exit_4(
    home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.write("project/.mooring/mcp.json", {"mcpServers": {"proposed": {**DEMO, "required": True}}})
    done = ask(cli, monkeypatch, [], "-p", "Go")
    assert (done.code, done.out) == (4, "")
    assert "proposed" in done.err
    assert "approve" in done.err


def test_a_server_that_fails_is_left_out_and_the_rest_works(
    home: Home, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.configure(demo=DEMO, broken={"command": "no-such-program"})
    script = [Call("mcp__demo__add", {"a": 2, "b": 40}), Say("42.")]
    done = ask(cli, monkeypatch, script, "-p", "Go", "--allow", "demo.*")
    assert (done.code, done.out) == (0, "42.\n")
    assert "Warning: MCP startup error: broken" in done.err
