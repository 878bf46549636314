"""What a client of `mooring serve`, where a model reads, is told of a failed call, and what its person is told instead."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from client import ServeClient

from mooring.auth.store import SecretStore
from support import DEMO, Home

BYPASS = ("--permission-mode", "bypass")
NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"}
FOR_PEOPLE = re.compile(
    r"mooring |`|\\bexport |(^|\\s)-e |--\\w|\\.json\\b|\\byou\\b|install it|correct |chmod |maxMessageBytes"
)
"""Commands, options and files that only a person can use."""

Break = Callable[[Home, Path], object]


def configure(home: Home, **entry: Any) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"box": entry}})


def write_program(home: Home) -> Path:
    """A program of its own that is a demo server, until a test breaks it."""
    path = home.write("server", f"#!/bin/sh\nexec {sys.executable} -I -m mooring.demo\n")
    path.chmod(0o755)
    return path


def die_without_a_key(home: Home, program: Path) -> None:
    program.write_text("#!/bin/sh\necho 'ANTHROPIC_API_KEY is required' >&2\nexit 1\n")


def hang(home: Home, program: Path) -> None:
    program.write_text("#!/bin/sh\nexec sleep 600\n")


def talk_nonsense(home: Home, program: Path) -> None:
    program.write_text('#!/bin/sh\nread line\necho \'{"jsonrpc": "2.0", "id": 1, "result": 7}\'\nsleep 600\n')


def send_too_much(home: Home, program: Path) -> None:
    program.write_text("#!/bin/sh\nread line\nhead -c 3000000 /dev/zero | tr '\\0' x\nsleep 600\n")


def remove(home: Home, program: Path) -> None:
    program.unlink()


@pytest.fixture(autouse=True)
def _no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NO_KEYRING.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize("fault", [die_without_a_key, hang, talk_nonsense, send_too_much, remove])
def test_a_model_is_told_of_a_failed_server_without_advice_for_a_person(fault: Break, home: Home) -> None:
    program = write_program(home)
    home.write("home/.config/mooring/settings.json", {"maxMessageBytes": 1_000_000})
    configure(home, command=str(program), timeout=3000)
    with ServeClient(home, *BYPASS) as client:
        assert client.call("mcp__box__add", a=1, b=2)["structuredContent"] == {"sum": 3}
    fault(home, program)
    with ServeClient(home, *BYPASS) as client:
        read_failure(client, "mcp__box__add", a=1, b=2)


async def test_a_model_is_told_of_a_missing_secret_and_the_person_how_to_store_it(home: Home) -> None:
    configure(home, **DEMO, env={"KEY": "${keyring:box.KEY}"})
    store = SecretStore(home.where)
    await store.set("secret", "box.KEY", "value", "preferred")
    with ServeClient(home, *BYPASS, env=NO_KEYRING) as client:
        assert client.call("mcp__box__add", a=1, b=2)["structuredContent"] == {"sum": 3}
    await store.delete("secret", "box.KEY")
    with ServeClient(home, *BYPASS, env=NO_KEYRING) as client:
        words = read_failure(client, "mcp__box__add", a=1, b=2)
        assert words == "box needs the secret box.KEY for env.KEY, which is not stored."
        assert client.wait_advice() == f"mooring: {words} To store it: mooring secret set box.KEY\n"


def test_a_model_is_told_of_a_refusal_and_the_person_which_command_allows_the_call(home: Home) -> None:
    home.configure(demo=DEMO)
    with ServeClient(home, capabilities={}) as client:
        words = read_failure(client, "mcp__demo__add", a=1, b=2)
        assert words.endswith("there is nobody to ask. Trying again will not help; only the person can allow it.")
        assert client.wait_advice().endswith(" To allow it: mooring allow demo.add\n")


def test_a_person_is_told_once_however_often_a_model_tries(home: Home) -> None:
    home.configure(demo=DEMO)
    with ServeClient(home, capabilities={}) as client:
        for _ in range(3):
            read_failure(client, "mcp__demo__add", a=1, b=2)
        read_failure(client, "mcp__demo__echo", text="hi")
        assert [client.wait_advice().rpartition(" ")[2] for _ in range(2)] == ["demo.add\n", "demo.echo\n"]


def read_failure(client: ServeClient, tool: str, **arguments: Any) -> str:
    """What a model reads of a call that fails."""
    failed = client.call(tool, **arguments)
    words: str = failed["content"][0]["text"]
    assert failed["isError"], failed
    assert not FOR_PEOPLE.search(words), words
    return words
