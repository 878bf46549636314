"""`mooring call` and `mooring tools` on a server that a command starts, as real processes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from conftest import Home
from mooring.actions.arguments import arguments
from mooring.errors import ConfigError, FileError

MOORING = str(Path(sys.executable).parent / "mooring")
DEMO = f"{sys.executable} -I -m mooring.demo"


def faulty(fault: str) -> str:
    return f"{sys.executable} -m mooring.testing {fault}"


def run(home: Home, *args: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [MOORING, *args], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=30, input=stdin
    )


def test_tools_lists_what_a_server_offers(home: Home) -> None:
    done = run(home, "tools", "--server", DEMO)
    assert done.returncode == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "echo", "add", "slow", "fail", "picture", "ask", "note",
    ]  # fmt: skip


def test_tools_as_data_has_the_promised_keys(home: Home) -> None:
    data = json.loads(run(home, "tools", "--server", DEMO, "--json").stdout)
    assert list(data) == ["tools", "servers"]
    assert list(data["tools"][0]) == ["name", "server", "tool", "description", "inputSchema", "annotations"]
    assert data["tools"][1]["inputSchema"]["required"] == ["a", "b"]
    assert data["servers"][0]["serverInfo"] == {"name": "mooring-demo", "version": "1"}


def test_one_bad_tool_is_named_and_costs_the_others_nothing(home: Home) -> None:
    done = run(home, "tools", "--server", faulty("one_bad_tool"))
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 99
    assert "bad cannot be used" in done.stderr


def test_a_call_prints_its_text_and_nothing_else_on_stdout(home: Home) -> None:
    done = run(home, "call", "--server", DEMO, "echo", "text=hello world")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello world\n", "")


def test_a_call_as_data_is_as_the_protocol_has_it(home: Home) -> None:
    data = json.loads(run(home, "call", "--server", DEMO, "add", "a=1", "b=2.5", "--json").stdout)
    assert list(data) == ["content", "structuredContent", "isError"]
    assert (data["structuredContent"], data["isError"]) == ({"sum": 3.5}, False)


def test_arguments_come_from_words_files_json_and_stdin(home: Home) -> None:
    (home.cwd / "note.txt").write_text("from a file")
    assert run(home, "call", "--server", DEMO, "echo", "text=@note.txt").stdout == "from a file\n"
    assert run(home, "call", "--server", DEMO, "echo", "--args", '{"text": "json"}').stdout == "json\n"
    assert run(home, "call", "--server", DEMO, "echo", "-", stdin='{"text": "stdin"}').stdout == "stdin\n"
    assert run(home, "call", "--server", DEMO, "echo", "--args", "-", stdin='{"text": "dash"}').stdout == "dash\n"


def test_progress_goes_to_stderr(home: Home) -> None:
    done = run(home, "call", "--server", DEMO, "slow", "seconds=0.2", "steps=2")
    assert done.stdout == "Took 0.2 seconds in 2 steps.\n"
    assert "1/2" in done.stderr
    assert run(home, "call", "-q", "--server", DEMO, "slow", "seconds=0.1").stderr == ""


def test_a_picture_is_kept_in_a_file(home: Home) -> None:
    assert "[image image/png" in run(home, "call", "--server", DEMO, "picture").stdout
    done = run(home, "call", "--server", DEMO, "picture", "-o", "p.png")
    assert done.returncode == 0
    assert (home.cwd / "p.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--server", DEMO, "fail"], 1, "meant to fail"),
        (["--server", DEMO, "ehco"], 2, "Did you mean echo?"),
        (["--server", DEMO, "echo", "text"], 2, "write it as name=value"),
        (["--server", DEMO, "add", "a=one", "b=2"], 2, "a should be number"),
        (["--server", DEMO, "echo", "text=@missing"], 2, "missing: does not exist"),
        (["--server", DEMO, "echo", "--args", "{"], 2, "not valid JSON"),
        (["--server", DEMO, "echo", "--args", "[]"], 2, "should be a JSON object"),
        (["echo"], 2, "--server"),
        (["--server", "no-such-program", "echo"], 1, "is in no folder of PATH"),
        (["--server", "", "echo"], 2, "--server"),
        (["--server", faulty("exit_at_once"), "echo"], 1, "no such table: widgets"),
        (["--server", faulty("hang_init"), "echo", "--timeout", "0.5"], 5, "within 0.5 s"),
        (["--server", faulty("hang_call"), "fault", "--timeout", "1"], 5, "within 1 s"),
        (["--server", DEMO, "echo", "-e", "NOT_SET_ANYWHERE"], 2, "is not set"),
        (["--server", DEMO, "echo", "--timeout", "0"], 2, "0"),
    ],
)
def test_each_way_to_fail_has_its_sentence_and_exit_code(args: list[str], code: int, words: str, home: Home) -> None:
    done = run(home, "call", *args)
    assert done.returncode == code
    assert words in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def test_a_variable_is_passed_on_when_it_is_named(home: Home) -> None:
    show = (
        f"{sys.executable} -c \"import os, sys; sys.stderr.write(repr(os.environ.get('GITHUB_TOKEN'))); sys.exit(1)\""
    )
    assert "None" in run(home, "tools", "--server", show).stderr
    assert "canary-environment" in run(home, "tools", "--server", show, "-e", "GITHUB_TOKEN").stderr
    assert "given" in run(home, "tools", "--server", show, "-e", "GITHUB_TOKEN=given").stderr


WITNESS = """
import json, sys
log = open(sys.argv[1], "a", buffering=1)
for line in sys.stdin:
    message = json.loads(line)
    log.write(line)
    answers = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": "w", "version": "1"}},
        "tools/list": {"tools": [{"name": "hang", "inputSchema": {"type": "object"}}]},
    }
    if message.get("method") in answers:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]}), flush=True)
log.write("the end of its input\\n")
"""


def witness(home: Home) -> tuple[str, Path]:
    script = home.write("witness.py", WITNESS)
    log = home.folder / "log"
    return f"{sys.executable} {script} {log}", log


def test_ctrl_c_cancels_the_call_tells_the_server_and_exits_130(home: Home) -> None:
    command, log = witness(home)
    process = subprocess.Popen([MOORING, "call", "--server", command, "hang"], cwd=home.cwd, env=home.env)
    deadline = time.monotonic() + 20
    while not log.exists() or "tools/call" not in log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130
    *_, last, end = log.read_text().splitlines()
    assert json.loads(last)["method"] == "notifications/cancelled"
    assert end == "the end of its input"


def test_a_deadline_tells_the_server_too(home: Home) -> None:
    command, log = witness(home)
    assert run(home, "call", "--server", command, "hang", "--timeout", "1").returncode == 5
    assert "notifications/cancelled" in log.read_text()


def test_nothing_is_left_of_a_call(home: Home) -> None:
    nonce = os.urandom(8).hex()
    run(home, "call", "--server", faulty("setsid_grandchild"), "echo", "text=x", "-e", f"NONCE={nonce}")
    left = [name for name in os.listdir("/proc") if name.isdigit() and nonce.encode() in _environ(name)]
    assert left == []


def _environ(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return b""


def test_text_of_a_server_cannot_steer_a_terminal(home: Home) -> None:
    code = f"""
import os, pty
pid, fd = pty.fork()
if pid == 0:
    os.execv({MOORING!r}, ["mooring", "call", "--server", {DEMO!r}, "echo", "text=a\\x1b[2Jb\\nc"])
out = b""
try:
    while data := os.read(fd, 65536):
        out += data
except OSError:
    pass
os.waitpid(pid, 0)
print(ascii(out))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=30
    )
    assert "a\\\\x1b[2Jb\\r\\nc" in done.stdout
    assert run(home, "call", "--server", DEMO, "echo", "text=a\x1b[2Jb").stdout == "a\x1b[2Jb\n"


# --- words into arguments -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("word", "schema", "value"),
    [
        ("k=1", {"type": "integer"}, 1),
        ("k=1", {"type": "string"}, "1"),
        ("k=1", {}, 1),
        ("k=007", {}, "007"),
        ("k=1e3", {}, "1e3"),
        ("k=true", {"type": "boolean"}, True),
        ("k=true", {"type": "string"}, "true"),
        ("k=[1,2]", {"type": "array"}, [1, 2]),
        ("k={}", {"type": "object"}, {}),
        ("k=null", {"type": ["string", "null"]}, "null"),
        ("k=null", {"type": ["integer", "null"]}, None),
        ("k=2", {"type": "number"}, 2),
        ("k=2.0", {"type": "integer"}, 2.0),
        ("k=x", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "x"),
        ("k=5", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, 5),
        ("k=a=b", {"type": "string"}, "a=b"),
        ("k=", {"type": "string"}, ""),
        ("k=plain words", {}, "plain words"),
    ],
)
def test_a_word_becomes_what_the_schema_wants(word: str, schema: dict[str, object], value: object) -> None:
    made = arguments([word], {"properties": {"k": schema}})
    assert made == {"k": value}
    assert type(made["k"]) is type(value)


def test_a_word_counts_before_the_json() -> None:
    assert arguments(["a=1"], {}, '{"a": 2, "b": 3}') == {"a": 1, "b": 3}


@pytest.mark.parametrize("word", ["k", "=v", ""])
def test_a_word_without_a_name_and_a_value_is_refused(word: str) -> None:
    with pytest.raises(ConfigError):
        arguments([word], {})


def test_a_file_of_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\xff")
    with pytest.raises(FileError, match="UTF-8"):
        arguments([f"k=@{tmp_path / 'b'}"], {})
