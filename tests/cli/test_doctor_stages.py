"""`mooring mcp doctor NAME`: each stage of a server, broken by a server that really is broken there."""

import json
import socket
import ssl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest

from certificates import make_certificate
from chat.terminal import Person
from support import DEMO, Actor, Cli, Home, run_beside, running

OWN = "home/.config/mooring/mcp.json"


def faulty(fault: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-m", "mooring.testing", fault]}


def doctor(home: Home, *words: str, **env: str) -> tuple[int, Any]:
    """Run the command as a process of its own; its exit code, and what it printed as data."""
    done = run_beside(home, "mcp", "doctor", *words, "--json", **env)
    assert done.out, done.err
    return done.code, done.data


def stages_of(data: Any, name: str) -> dict[str, Any]:
    [server] = [server for server in data["servers"] if server["name"] == name]
    return {stage["stage"]: stage for stage in server["stages"]}


def check_fails_at(home: Home, name: str, stage: str, *words: str) -> Any:
    """See that a server passes every stage before this one, and fails there; returns that stage."""
    code, data = doctor(home, name, *words)
    stages = stages_of(data, name)
    assert code == 1
    assert data["healthy"] is False
    assert [each for each, result in stages.items() if not result["ok"]] == [stage]
    assert list(stages)[-1] == stage
    assert stages[stage]["fix"]
    return stages[stage]


class _Refusal(BaseHTTPRequestHandler):
    """Answers every request with the status that its path names."""

    def handle_one_request(self) -> None:
        self.raw_requestline = self.rfile.readline(65537)
        if not self.raw_requestline or not self.parse_request():
            self.close_connection = True
            return
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(int(self.path.strip("/")))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


@contextmanager
def serve(context: ssl.SSLContext | None = None) -> Iterator[int]:
    """A web server on loopback; its port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Refusal)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that nothing listens on, and that nobody else gets meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]


# --- before anything is started -------------------------------------------------------------------------------------


def test_a_definition_that_is_no_server_fails_at_its_file(home: Home) -> None:
    home.configure(empty={})
    failed = check_fails_at(home, "empty", "file")
    assert "neither" in failed["what"]


def test_a_projects_server_fails_at_its_approval_and_is_never_started(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    home.write("project/.mcp.json", {"mcpServers": {"theirs": actor.entry}})
    for words in (["theirs"], ["--check"], ["theirs", "--check", "--fix"]):
        code, data = doctor(home, *words)
        stages = stages_of(data, "theirs")
        assert (code, list(stages), stages["approval"]["ok"]) == (0, ["file", "approval"], False)
        assert stages["approval"]["fix"] == "mooring mcp approve theirs"
    assert actor.done("starts") == []


def test_a_value_without_which_nothing_starts_fails_at_the_variables(home: Home) -> None:
    strict = {**DEMO, "env": {"TOKEN": "${NO_SUCH_TOKEN}"}}
    home.write("home/.mcporter/mcporter.json", {"mcpServers": {"strict": strict}})
    failed = check_fails_at(home, "strict", "variables")
    assert failed["fix"] == "export NO_SUCH_TOKEN=…"


def test_a_secret_command_that_prints_nothing_is_named_once_the_server_is_tried(home: Home) -> None:
    home.write(OWN, {"mcpServers": {"secret": {**DEMO, "env": {"TOKEN": "!true"}}}})
    code, data = doctor(home)
    assert (code, stages_of(data, "secret")["variables"]["ok"]) == (0, True)
    code, data = doctor(home, "secret")
    stages = stages_of(data, "secret")
    assert (code, stages["variables"]["ok"], stages["tools"]["ok"]) == (1, False, True)
    assert "env.TOKEN" in stages["variables"]["what"]
    assert "printed nothing" in stages["variables"]["what"]


def test_a_program_that_is_missing_fails_at_its_command(home: Home) -> None:
    home.configure(gone={"command": "no-such-program"}, packed={"command": "uvx some-server"}, tool={"command": "uvx"})
    assert "is not on PATH" in check_fails_at(home, "gone", "command")["what"]
    # Which package managers this machine has is told elsewhere.
    assert "uv" in check_fails_at(home, "tool", "command")["fix"]
    home.write("bin/pip", "#!/bin/sh\nexit 1\n").chmod(0o755)
    _, data = doctor(home, PATH=str(home.folder / "bin"))
    assert stages_of(data, "tool")["command"]["fix"] == "pip install uv"
    assert stages_of(data, "packed")["command"]["fix"] == "mooring mcp edit --in claude-code packed -- uvx some-server"


# --- programs -------------------------------------------------------------------------------------------------------


def test_a_program_that_ends_at_once_fails_with_its_exit_code_and_its_last_lines(home: Home) -> None:
    home.configure(dead=faulty("exit_at_once"))
    failed = check_fails_at(home, "dead", "command")
    assert failed["what"] == "It ended with exit code 3 before it answered anything"
    assert failed["evidence"] == ["exit code 3", "| fatal: no such table: widgets"]
    # It is remembered, so that a quick look knows it too.
    code, data = doctor(home)
    remembered = stages_of(data, "dead")["command"]
    assert (code, remembered["ok"], remembered["evidence"]) == (1, False, ["exit code 3"])


@pytest.mark.parametrize(("fault", "stage"), [("hang_init", "protocol"), ("hang_list", "tools")])
def test_a_server_that_hangs_fails_where_it_hangs(home: Home, fault: str, stage: str) -> None:
    home.configure(slow=faulty(fault))
    assert "within 3 s" in check_fails_at(home, "slow", stage, "--timeout", "3")["what"]


def test_a_server_of_another_age_fails_at_the_protocol(home: Home) -> None:
    home.configure(old=faulty("wrong_version"))
    check_fails_at(home, "old", "protocol")


def test_a_sound_server_passes_every_stage_and_nothing_is_left_running(home: Home) -> None:
    home.configure(demo=DEMO)
    nonce = f"nonce-{uuid4().hex}"
    code, data = doctor(home, "demo", NONCE=nonce)
    stages = stages_of(data, "demo")
    assert code == 0
    assert list(stages) == ["file", "approval", "variables", "command", "protocol", "tools"]
    assert all(stage["ok"] for stage in stages.values())
    assert stages["tools"]["what"] == "7"
    assert running(nonce) == []


# --- addresses ------------------------------------------------------------------------------------------------------


def test_a_closed_port_fails_at_the_network(home: Home, closed_port: int) -> None:
    home.configure(web={"type": "http", "url": f"http://127.0.0.1:{closed_port}/mcp"})
    assert "Connection refused" in check_fails_at(home, "web", "network")["what"]


def test_a_name_that_nobody_knows_fails_at_the_network(home: Home) -> None:
    home.configure(web={"type": "http", "url": "https://no-such-host.invalid/mcp"})
    check_fails_at(home, "web", "network")


@pytest.mark.parametrize(
    ("status", "stage", "fix"),
    [
        (404, "protocol", "many servers are at /mcp"),
        (500, "protocol", "tell whoever runs it"),
        (401, "auth", "mooring mcp login web"),
        (403, "auth", '"headers": {"Authorization": "Bearer ${TOKEN}"} in ~/.mcp.json'),
    ],
)
def test_an_error_status_is_evidence(home: Home, status: int, stage: str, fix: str) -> None:
    with serve() as port:
        home.configure(web={"type": "http", "url": f"http://127.0.0.1:{port}/{status}"})
        failed = check_fails_at(home, "web", stage)
    assert failed["evidence"] == [f"HTTP status {status}"]
    assert fix in failed["fix"]
    _, data = doctor(home)
    remembered = stages_of(data, "web")[stage]
    assert (remembered["ok"], remembered["evidence"]) == (False, [f"HTTP status {status}"])


def test_a_variable_that_a_refused_server_lacks_is_the_thing_to_set(home: Home) -> None:
    with serve() as port:
        headers = {"Authorization": "Bearer ${NO_SUCH_TOKEN}"}
        home.configure(web={"type": "http", "url": f"http://127.0.0.1:{port}/401", "headers": headers})
        code, data = doctor(home, "web")
    stages = stages_of(data, "web")
    assert (code, stages["variables"]["ok"], stages["auth"]["ok"]) == (1, False, False)
    assert stages["variables"]["fix"] == "export NO_SUCH_TOKEN=…"


def test_a_certificate_that_vouches_for_itself_fails_at_tls(home: Home, tmp_path: Path) -> None:
    context = make_certificate(tmp_path, "127.0.0.1")
    with serve(context) as port:
        home.configure(web={"type": "http", "url": f"https://127.0.0.1:{port}/200"})
        assert "certificate verify failed" in check_fails_at(home, "web", "tls")["what"]
        # With its authority the next stage is reached.
        home.write("home/.config/mooring/settings.json", {"network": {"ca": str(tmp_path / "cert.pem")}})
        home.configure(web={"type": "http", "url": f"https://127.0.0.1:{port}/404"})
        check_fails_at(home, "web", "protocol")


def test_an_address_that_speaks_no_tls_fails_at_tls(home: Home) -> None:
    with serve() as port:
        home.configure(web={"type": "http", "url": f"https://127.0.0.1:{port}/200"})
        assert "it speaks no TLS" in check_fails_at(home, "web", "tls")["what"]


# --- which servers are tried ----------------------------------------------------------------------------------------


def test_a_quick_look_starts_nothing_a_name_starts_one_and_a_check_starts_all(home: Home, tmp_path: Path) -> None:
    one, two = Actor(tmp_path / "one.json"), Actor(tmp_path / "two.json")
    off = Actor(tmp_path / "off.json")
    home.configure(one=one.entry, two=two.entry, off={**off.entry, "enabled": False})

    def count_starts() -> list[int]:
        return [len(actor.done("starts")) for actor in (one, two, off)]

    doctor(home)
    assert count_starts() == [0, 0, 0]
    doctor(home, "one")
    assert count_starts() == [1, 0, 0]
    _, data = doctor(home, "--check")
    assert count_starts() == [2, 1, 0]
    assert {server["name"]: server["tried"] for server in data["servers"]} == {"one": True, "two": True, "off": False}


def test_a_report_on_named_servers_is_about_nothing_else(cli: Cli) -> None:
    cli.home.configure(demo=DEMO, gone={"command": "no-such-program"})
    done = cli("mcp", "doctor", "DEMO")
    assert (done.code, "gone" in done.out) == (0, False)
    unknown = cli("mcp", "doctor", "demmo")
    assert (unknown.code, "Did you mean demo?" in unknown.err) == (2, True)


def test_a_server_that_needs_an_input_is_not_started_by_a_check(home: Home, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "actor.json")
    inputs = [{"id": "tok", "type": "promptString", "password": True}]
    server = {**actor.entry, "type": "stdio", "env": {"TOKEN": "${input:tok}"}}
    home.write("home/.config/Code/User/mcp.json", {"servers": {"vault": server}, "inputs": inputs})
    code, data = doctor(home, "--check")
    failed = stages_of(data, "vault")["variables"]
    assert (code, failed["ok"], actor.done("starts")) == (0, False, [])
    assert "-e TOKEN=VALUE" in failed["fix"]


def test_no_secret_that_a_server_repeats_is_shown(home: Home) -> None:
    code = "import os, sys; sys.exit('refused: ' + os.environ['API_TOKEN'])"
    entry = {"command": sys.executable, "args": ["-S", "-c", code], "env": {"API_TOKEN": "canary-doctor-secret"}}
    home.configure(leaky=entry)
    for words in (["leaky"], ["--check"], []):
        _, data = doctor(home, *words)
        assert "canary" not in json.dumps(data)
        assert stages_of(data, "leaky")["command"]["ok"] is False


def test_a_person_reads_stage_by_stage_what_fails_and_how_to_fix_it(home: Home) -> None:
    home.configure(dead=faulty("exit_at_once"))
    for cells in (40, 100):
        with Person(home, "mcp", "doctor", "dead", cells=cells) as person:
            assert person.ended() == 1
            lines = [line.strip() for line in person.shown.splitlines()]
            # The line that showed progress is cleared, and the name stands in its place.
            assert lines[0].endswith("dead")
            assert "✓ variables" in lines
            assert "| fatal: no such table: widgets" in lines
            assert any(line.startswith("fix: mooring mcp edit") for line in lines)
            assert person.left() == []


def test_progress_is_shown_while_servers_are_tried(home: Home) -> None:
    home.configure(slow=faulty("slow_start"), demo=DEMO)
    with Person(home, "mcp", "doctor", "--check", "--timeout", "3", cells=80) as person:
        person.sees("connecting ")
        assert person.ended() == 1
        assert "✗ slow: It did not connect within 3 s" in person.shown
