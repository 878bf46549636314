"""Twenty stored secrets, and a run of everything: none of them is left anywhere that the person did not put it."""

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from auth.machine import Machine
from chat.terminal import Person
from support import Home

LEAKER = str(Path(__file__).parents[1] / "flow" / "leaker.py")
# Others may run the same at the same time.
RUN = uuid4().hex[:12]
CANARIES = [f"canary-{number:02d}-{RUN}" for number in range(20)]
NAMES = [f"stored.{number}" for number in range(20)]
DIES = "import os, sys; sys.stderr.write(repr(dict(os.environ))); sys.exit(3)"
RAISES = "import os; raise SystemExit('cannot log in with ' + os.environ['TOKEN'])"


class _Refusing(BaseHTTPRequestHandler):
    """Refuses everybody, and repeats all that it was sent."""

    def do_POST(self) -> None:
        said = f"not with {self.path} and {dict(self.headers)}".encode()
        self.send_response(self.server.status)  # type: ignore[attr-defined]
        self.send_header("WWW-Authenticate", f'Bearer error="{self.headers.get("Authorization")}"')
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_GET = do_DELETE = do_POST  # noqa: N815 - the names of its base class

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def refusing(status: int) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        server.status = status  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@contextmanager
def watching_arguments() -> Iterator[set[bytes]]:
    """The command lines of all processes while this lasts, as far as they hold a canary; looked at every 10 ms."""
    found: set[bytes] = set()
    looks = 0
    is_over = threading.Event()

    def look() -> None:
        nonlocal looks
        while not is_over.wait(0.01):
            looks += 1
            found.update(filter(lambda line: RUN.encode() in line, _list_arguments()))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield found
    finally:
        is_over.set()
        thread.join()
    assert looks > 100


def _list_arguments() -> Iterator[bytes]:
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                yield Path(f"/proc/{name}/cmdline").read_bytes()
            except OSError:
                continue  # it has ended


def _configure(home: Home, refusing: str, failing: str) -> None:
    give = iter(NAMES)

    def next_secret() -> str:
        return f"${{keyring:{next(give)}}}"

    def program(*args: str, **env: str) -> dict[str, Any]:
        return {"command": sys.executable, "args": [*args], "env": env}

    own = {
        "leaky": program(
            "-S", LEAKER, A_TOKEN=next_secret(), B=next_secret(), C=f"x-{next_secret()}-y", D=next_secret()
        ),
        "toolless": program("-S", LEAKER, "--no-tools", A_TOKEN=next_secret(), PASSWORD=next_secret()),
        "dies": program("-c", DIES, TOKEN=next_secret(), OTHER=next_secret()),
        "raises": program("-c", RAISES, TOKEN=next_secret()),
        "absent": {"command": "/there/is/no/such/program", "env": {"TOKEN": next_secret()}},
        "refused": {"url": f"{refusing}/{next_secret()}/mcp?key={next_secret()}", "headers": _headers(next_secret)},
        "failing": {"url": f"{failing}/mcp", "headers": _headers(next_secret)},
        "unreachable": {"url": f"http://127.0.0.1:9/{next_secret()}", "headers": {"X-Api-Key": next_secret()}},
    }
    home.write("home/.config/mooring/mcp.json", {"mcpServers": own})
    project = {"theirs": program("-S", LEAKER, A_TOKEN=next_secret(), B=next_secret())}
    home.write("project/.mooring/mcp.json", {"mcpServers": project})
    assert list(give) == [], "a secret that nobody uses shows nothing"


def _headers(next_secret: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {next_secret()}", "X-Api-Key": next_secret()}


COMMANDS = (
    ("mcp", "approve", "theirs"), ("mcp", "approve", "theirs", "--yes"), ("mcp", "list"), ("mcp", "list", "--json"),
    ("mcp", "list", "--check"), ("mcp", "get", "leaky"), ("mcp", "get", "refused", "--json"), ("mcp", "why", "leaky"),
    ("mcp", "test", "leaky"), ("mcp", "test", "leaky", "--json"), ("mcp", "test", "toolless"), ("mcp", "test", "dies"),
    ("mcp", "test", "raises", "-v"), ("mcp", "test", "absent"), ("mcp", "test", "refused"), ("mcp", "test", "failing", "--json"),
    ("mcp", "test", "unreachable"), ("mcp", "test", "theirs"), ("mcp", "reload", "leaky"), ("mcp", "pins"), ("tools", "-v"),
    ("tools", "--json"), ("call", "leaky.fail", "form=all"), ("call", "leaky.refuse", "form=all", "--json"),
    ("call", "theirs.fail", "form=all"), ("call", "dies.x"), ("call", "refused.x"), ("call", "failing.x", "--json"),
    ("resources",), ("prompts",), ("logs", "leaky"), ("logs", "dies", "--json"), ("logs", "raises"), ("history",),
    ("history", "--json"), ("mcp", "doctor"), ("mcp", "doctor", "--json"), ("settings", "--json"), ("secret", "list"),
    ("secret", "list", "--json"),
)  # fmt: skip


@pytest.mark.timeout(600)
def test_none_of_twenty_stored_secrets_is_left_behind_by_a_run_of_everything(home: Home, tmp_path: Path) -> None:
    machine = Machine(home)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    more = {"TMPDIR": str(temporary), "MOORING_TRACE": "1"}
    said: dict[tuple[str, ...], str] = {}
    with refusing(401) as refused, refusing(500) as failing, watching_arguments() as arguments:
        _configure(home, refused, failing)
        for name, canary in zip(NAMES, CANARIES, strict=True):
            stored = machine.run("secret", "set", name, given=canary)
            said["secret", "set", name] = stored.out + stored.err
        for words in COMMANDS:
            done = machine.run(*words, more=more)
            said[words] = done.out + done.err
        with Person(home, "chat", "--allow", "*", **machine.env, **more) as person:
            person.answers(("> ", "/mcp"), ("> ", "/mcp leaky"), ("> ", "/tools"))
            person.answers(("> ", "/call leaky.fail form=all"), ("> ", "/call theirs.refuse form=plain"))
            person.answers(("> ", "/call toolless.x"), ("> ", "/mcp reload dies"), ("> ", "/quit"))
            person.ended()
            said["chat",] = person.raw
    # The servers had their secrets, and repeated them: else nothing was shown that could not be seen.
    assert "•••" in said["call", "leaky.fail", "form=all"]
    assert "•••" in said["logs", "leaky"]
    assert "•••" in said["chat",]
    lines = [(words, line) for words, text in said.items() for line in text.splitlines() if "canary" in line]
    assert lines == []
    assert [words for words, text in said.items() if "a fault of mooring" in text] == []
    assert arguments == set()
    assert _files_with_canaries(tmp_path) == {"values.json"}
    # Each one came from the store.
    values = json.loads((machine.secrets / "values.json").read_text())["values"]["secret"]
    assert values == dict(zip(NAMES, CANARIES, strict=True))


def _files_with_canaries(folder: Path) -> set[str]:
    """Whatever the name of a file, and also what is in it in Base64."""
    marks = (b"canary", b"Y2FuYXJ5", b"NhbmFye", b"jYW5hcn")
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.name for path in found if any(mark in path.read_bytes() for mark in marks)}


def test_a_server_gets_the_secrets_that_it_names_and_nothing_else_of_the_store(home: Home) -> None:
    machine = Machine(home)
    for name, canary in zip(NAMES[:3], CANARIES, strict=False):
        machine.run("secret", "set", name, given=canary)
    target = home.folder / "seen.json"
    code = f"import os, json; json.dump(dict(os.environ), open({str(target)!r}, 'w'))"
    entry = {"command": sys.executable, "args": ["-c", code], "env": {"TOKEN": f"${{keyring:{NAMES[1]}}}"}}
    home.write("home/.config/mooring/mcp.json", {"mcpServers": {"x": entry}})
    machine.run("tools", "x")
    until = time.monotonic() + 100
    while not target.exists() and time.monotonic() < until:
        time.sleep(0.05)
    seen = json.loads(target.read_text())
    assert {name for name, value in seen.items() if "canary" in value} == {"TOKEN"}
    assert seen["TOKEN"] == CANARIES[1]
