"""`mooring call` and `mooring tools` on a server that a command starts: as real processes, and in tables through the runner."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bombs import double
from mooring.errors import ConfigError, FileError
from mooring.verbs.use.arguments import parse_arguments
from support import MOORING, Actor, Cli, Home, run_at_terminal
from warm import run_mooring

HOSTILE = str(Path(__file__).parents[1] / "hostile.py")
DEMO = f"{sys.executable} -I -m mooring.demo"


def faulty(fault: str) -> str:
    return f"{sys.executable} -m mooring.testing {fault}"


def run(home: Home, *args: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    given = None if stdin is None else stdin.encode()
    return run_mooring(*args, cwd=home.cwd, env=home.env, input=given)


def test_tools_lists_what_a_server_offers(home: Home) -> None:
    done = run(home, "tools", "--server", DEMO)
    assert done.returncode == 0
    assert [line for line in done.stdout.splitlines() if not line.startswith(" ")] == [
        "echo(text)", "add(a: number, b: number)", "slow(seconds: number, steps?: integer)", "fail()", "picture()",
        "ask(question)", "note(text)",
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
    assert len([line for line in done.stdout.splitlines() if not line.startswith(" ")]) == 99
    assert "bad cannot be used" in done.stderr


def test_a_call_prints_its_text_and_nothing_else_on_stdout(home: Home) -> None:
    done = run(home, "call", "--server", DEMO, "echo", "text=hello world")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello world\n", "")


def test_a_call_whose_arguments_cannot_be_checked_in_time_is_made_and_says_so(home: Home, tmp_path: Path) -> None:
    schema = double(28, lambda parts: {"allOf": parts})
    (tmp_path / "tools.json").write_text(json.dumps([{"name": "bomb", "inputSchema": schema}]))
    done = run(home, "call", "--server", f"{sys.executable} -S {HOSTILE} {tmp_path}/tools.json", "bomb", "k=1")
    assert (done.returncode, done.stdout) == (0, "called bomb\n")
    assert done.stderr.startswith("Warning: The arguments of ")
    assert "were not checked: its schema is too large" in done.stderr


def test_a_tool_whose_schema_is_enormous_is_left_out_and_named(home: Home, tmp_path: Path) -> None:
    large = {"name": "large", "inputSchema": {"type": "object", "description": "x" * 1024 * 1024}}
    small = {"name": "small", "inputSchema": {"type": "object"}}
    (tmp_path / "tools.json").write_text(json.dumps([large, small]))
    done = run(home, "tools", "--server", f"{sys.executable} -S {HOSTILE} {tmp_path}/tools.json")
    assert done.returncode == 0
    assert done.stdout.splitlines() == ["small()"]
    assert "large cannot be used: its inputSchema is larger than 1 MiB" in done.stderr


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


def test_arguments_that_do_not_fit_are_not_sent(home: Home) -> None:
    done = run(home, "call", "--server", DEMO, "echo", "txt=hello")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mooring: There is no parameter txt. Did you mean text?\n"


def test_progress_goes_to_stderr(home: Home) -> None:
    done = run(home, "call", "--server", DEMO, "slow", "seconds=0.2", "steps=2")
    assert done.stdout == "Took 0.2 seconds in 2 steps.\n"
    assert "1/2" in done.stderr
    assert run(home, "call", "-q", "--server", DEMO, "slow", "seconds=0.1").stderr == ""


def test_a_picture_is_kept_in_a_file(home: Home) -> None:
    assert "[image image/png" in run(home, "call", "--server", DEMO, "picture").stdout
    done = run(home, "call", "--server", DEMO, "picture", "-o", "p.png")
    assert (done.returncode, done.stdout) == (0, "")
    assert (home.cwd / "p.png").read_bytes().startswith(b"\x89PNG")
    assert done.stderr == f"Wrote p.png (image/png, {(home.cwd / 'p.png').stat().st_size:,} bytes)\n"


@pytest.mark.parametrize(
    ("args", "code", "words"),
    [
        (["--server", DEMO, "fail"], 1, "meant to fail"),
        (["--server", DEMO, "ehco"], 2, "Did you mean echo?"),
        (["--server", DEMO, "echo", "text"], 2, "write it as name=value"),
        (["--server", DEMO, "add", "a=one", "b=2"], 2, "a must be a number, not '"),
        (["--server", DEMO, "echo", "text=@missing"], 2, "missing: does not exist"),
        (["--server", DEMO, "echo", "--args", "{"], 2, "not valid JSON"),
        (["--server", DEMO, "echo", "--args", "[]"], 2, "must be a JSON object"),
        (["echo"], 2, "--server"),
        (["--server", "no-such-program", "echo"], 1, "is not on PATH"),
        (["--server", "", "echo"], 2, "--server"),
        (["--server", faulty("exit_at_once"), "echo"], 1, "no such table: widgets"),
        (["--server", faulty("hang_init"), "echo", "--timeout", "0.5"], 5, "within 0.5 s"),
        (["--server", faulty("hang_call"), "fault", "--timeout", "1"], 5, "within 1 s"),
        (["--server", DEMO, "echo", "-e", "NOT_SET_ANYWHERE"], 2, "is not set"),
        (["--server", DEMO, "echo", "--timeout", "0"], 2, "above 0"),
        (["--server", DEMO, "echo", "--timeout", "nan"], 2, "above 0"),
        (["--server", DEMO, "add", "a=1e999", "b=2"], 2, "a must be a number, not '"),
        (["--server", DEMO, "add", "a=NaN", "b=2"], 2, "a must be a number, not '"),
        (["--server", DEMO, "--url", "http://127.0.0.1:9", "echo"], 2, "Name one server"),
        (["--url", "ftp://x", "echo"], 2, "is no address"),
        (["--url", "http://127.0.0.1:9/mcp", "echo"], 1, "cannot be reached"),
        (["--url", "http://127.0.0.1:9/mcp", "-H", "nonsense", "echo"], 2, "NAME: VALUE"),
    ],
)
def test_each_way_to_fail_has_its_sentence_and_exit_code(args: list[str], code: int, words: str, cli: Cli) -> None:
    done = cli("call", *args)
    assert done.code == code
    assert words in done.out + done.err
    assert "Traceback" not in done.err


def test_a_variable_is_passed_on_when_it_is_named(home: Home) -> None:
    show = f"""{sys.executable} -c "import os, sys; sys.exit('has ' + os.environ.get('GITHUB_TOKEN', 'none')[-3:])" """
    assert "has one" in run(home, "tools", "--server", show).stderr
    assert "has ent" in run(home, "tools", "--server", show, "-e", "GITHUB_TOKEN").stderr
    assert "has ven" in run(home, "tools", "--server", show, "-e", "GITHUB_TOKEN=given").stderr


def test_a_secret_that_a_server_repeats_is_not_shown(home: Home) -> None:
    show = f"""{sys.executable} -c "import os, sys; sys.exit('bad key ' + os.environ['MY_TOKEN'])" """
    done = run(home, "tools", "--server", show, "-e", "MY_TOKEN=sekret-value")
    assert "bad key •••" in done.stderr
    assert "sekret" not in done.stderr


def test_a_result_that_came_in_time_counts_though_the_server_does_not_want_to_end(home: Home) -> None:
    done = run(home, "call", "--server", faulty("ignore_eof_term"), "echo", "text=x", "--timeout", "2")
    assert (done.returncode, done.stdout) == (0, "x\n")


NEEDY = "import sys, time; print('set GITHUB_TOKEN or ANTHROPIC_API_KEY', file=sys.stderr, flush=True); {then}"
"""A server that names what it lacks, and then waits or ends."""
KEYS = {"GITHUB_TOKEN": "canary-1", "OTHER_TOKEN": "canary-2", "ANTHROPIC_API_KEY": "canary-3"}


@pytest.mark.parametrize(("then", "code"), [("time.sleep(60)", 5), ("sys.exit(3)", 1)])
def test_a_failed_start_shows_what_the_server_wrote_and_which_variable_that_it_names_it_was_not_given(
    then: str, code: int, home: Home
) -> None:
    server = shlex.join([sys.executable, "-c", NEEDY.format(then=then)])
    command = [MOORING, "tools", "--server", server, "--timeout", "2"]
    env = {**home.env, **KEYS}
    done = subprocess.run(command, cwd=home.cwd, env=env, capture_output=True, text=True, timeout=100)
    assert done.returncode == code
    assert "set GITHUB_TOKEN or ANTHROPIC_API_KEY" in done.stderr
    # Not every variable that it lacks, and never a key for a model.
    assert "  It was not given GITHUB_TOKEN; -e NAME passes a variable on.\n" in done.stderr
    assert "OTHER_TOKEN" not in done.stderr


def test_a_failed_start_that_names_no_variable_suggests_none(home: Home) -> None:
    done = run(home, "tools", "--server", faulty("exit_at_once"))
    assert done.returncode == 1
    assert "no such table" in done.stderr
    assert "not given" not in done.stderr


ODD = """
import json, sys
answers = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "o", "version": "1"}},
    "tools/list": {"tools": [{"name": "t", "inputSchema": {"type": "object"}},
                             {"name": "bad", "inputSchema": {"type": "object", "maximum": 1}}]},
}
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") in answers:
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": answers[message["method"]]})
        print(text.replace('"maximum": 1', '"maximum": 1e999'), flush=True)
    elif message.get("method") == "tools/call":
        print('{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"image","data":"abc","mimeType":"image/png"}],'
              '"structuredContent":{"n":1e999}}}' % message["id"], flush=True)
    elif "id" in message:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"""


def test_data_of_a_server_that_cannot_be_read_is_an_error_and_no_traceback(home: Home) -> None:
    server = f"{sys.executable} {home.write('odd.py', ODD)}"
    listed = run(home, "tools", "--server", server, "--json")
    assert [tool["tool"] for tool in json.loads(listed.stdout)["tools"]] == ["t"]
    assert json.loads(listed.stdout)["servers"][0]["rejected"][0]["tool"] == "bad"
    for args in (["--json"], ["-o", "f"]):
        done = run(home, "call", "--server", server, "t", *args)
        assert done.returncode == 1
        assert done.stderr.startswith('{"error": ' if args == ["--json"] else "mooring: ")
        assert "Traceback" not in done.stderr


@pytest.mark.parametrize("delay", [0, 0.02, 0.05, 0.1, 0.2])
def test_an_interrupt_at_any_moment_is_130_without_a_traceback(delay: float, home: Home) -> None:
    command = [MOORING, "call", "--server", faulty("hang_call"), "fault"]
    process = subprocess.Popen(command, cwd=home.cwd, env=home.env, stderr=subprocess.PIPE, text=True)
    # Before our first line, which begins a guard, the signal ends the interpreter as it ends any program.
    deadline = time.monotonic() + 100
    while not Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text():
        assert time.monotonic() < deadline
        time.sleep(0.001)
    # Not to wait for anything: to be somewhere in what comes then that nobody chose.
    time.sleep(delay)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert (process.returncode, err.strip()) == (130, "")


def test_a_limit_of_the_system_is_a_sentence(home: Home) -> None:
    done = subprocess.run(
        ["bash", "-c", f"ulimit -n 12; exec {MOORING} call --server '{DEMO}' echo text=x"],
        cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    assert done.returncode in (0, 1)


def test_arguments_on_a_closed_or_broken_stdin_are_refused_in_words(home: Home) -> None:
    closed = subprocess.run(
        ["bash", "-c", f"{MOORING} call --server '{DEMO}' echo - <&-"],
        cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert (closed.returncode, "stdin is closed" in closed.stderr) == (2, True)
    broken = subprocess.run(
        [MOORING, "call", "--server", DEMO, "echo", "-"],
        cwd=home.cwd,
        env=home.env,
        capture_output=True,
        input=b"\xff",
        timeout=100,
    )
    assert (broken.returncode, b"not UTF-8" in broken.stderr) == (2, True)


def test_the_folder_is_told_to_the_server_as_a_proper_address(home: Home) -> None:
    folder = home.project / "a b#c%20"
    folder.mkdir()
    code = WITNESS.replace('"tools/list": {', '"tools/list": {').replace(
        "log.write(line)",
        'log.write(line); message.get("method") == "notifications/initialized" and print(json.dumps({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}), flush=True)',
    )
    script, log = home.write("roots.py", code), home.folder / "roots.log"
    run(home, "call", "--cwd", str(folder), "--server", f"{sys.executable} {script} {log}", "hang", "--timeout", "1.5")
    answer = next(json.loads(line) for line in log.read_text().splitlines() if '"roots"' in line and '"uri"' in line)
    assert answer["result"]["roots"][0]["uri"].endswith("/a%20b%23c%2520")


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
    deadline = time.monotonic() + 100
    while not log.exists() or "tools/call" not in log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    assert process.wait(100) == 130
    *_, last, end = log.read_text().splitlines()
    assert json.loads(last)["method"] == "notifications/cancelled"
    assert end == "the end of its input"


def test_a_deadline_tells_the_server_too(home: Home) -> None:
    command, log = witness(home)
    assert run(home, "call", "--server", command, "hang", "--timeout", "1").returncode == 5
    assert "notifications/cancelled" in log.read_text()


def test_the_time_in_which_the_process_was_stopped_does_not_count_against_a_call(home: Home) -> None:
    actor = Actor(home.folder / "actor")
    home.configure(actor=actor.entry)
    command = [MOORING, "call", "actor.nap", "seconds=7", "--timeout", "5"]
    with subprocess.Popen(command, cwd=home.cwd, env=home.env, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 100
        while not actor.done("naps"):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGSTOP)
        time.sleep(6)  # longer than it may take in all
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=100)
    assert (process.returncode, err) == (0, "")


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
    shown, _ = run_at_terminal(home, "call", "--server", DEMO, "echo", "text=a\x1b[2Jb\nc")
    assert "a\\x1b[2Jb\r\nc" in shown
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
    made = parse_arguments([word], {"properties": {"k": schema}})
    assert made == {"k": value}
    assert type(made["k"]) is type(value)


def test_a_word_is_typed_through_references_and_combinations() -> None:
    schema = {
        "properties": {
            "a": {"$ref": "#/$defs/id"},
            "b": {"allOf": [{"$ref": "#/$defs/id"}]},
            "c": {"enum": ["1", "2"]},
        },
        "$defs": {"id": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    }
    assert parse_arguments(["a=1", "b=2", "c=1"], schema) == {"a": "1", "b": "2", "c": "1"}


def test_a_word_counts_before_the_json() -> None:
    assert parse_arguments(["a=1"], {}, '{"a": 2, "b": 3}') == {"a": 1, "b": 3}


@pytest.mark.parametrize("word", ["k", "=v", ""])
def test_a_word_without_a_name_and_a_value_is_refused(word: str) -> None:
    with pytest.raises(ConfigError):
        parse_arguments([word], {})


def test_a_file_of_bytes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"\xff")
    with pytest.raises(FileError, match="UTF-8"):
        parse_arguments([f"k=@{tmp_path / 'b'}"], {})


# --- the gate -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", ["home/.config/mooring/settings.json", "project/.mooring/settings.json"])
def test_a_deny_in_the_settings_holds_for_a_server_that_is_configured_nowhere(home: Home, place: str) -> None:
    home.write(place, {"permissions": [{"tool": "mcp__*", "pattern": "*forbidden*", "action": "deny"}]})
    done = run(home, "call", "--server", DEMO, "echo", "text=forbidden")
    assert (done.returncode, done.stdout) == (4, "")
    assert "mooring.demo.echo was not called" in done.stderr
    assert run(home, "call", "--server", DEMO, "echo", "text=fine").stdout == "fine\n"


def test_the_projects_rules_are_left_out_with_the_project(home: Home) -> None:
    home.write("project/.mooring/settings.json", {"permissions": [{"tool": "*", "action": "deny"}]})
    assert run(home, "call", "--server", DEMO, "echo", "text=x").returncode == 4
    assert run(home, "--no-project", "call", "--server", DEMO, "echo", "text=x").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "line"),
    [
        (["echo", "text=canary"], 0, ("mooring.demo", "echo", "allow", "ok", "you typed it", {"text": "str(6)"})),
        (["fail"], 1, ("mooring.demo", "fail", "allow", "is_error", "you typed it", "object(0)")),
        (
            ["echo", "text=x", "--deny", "*.echo"],
            4,
            ("mooring.demo", "echo", "deny", "denied", None, {"text": "str(1)"}),
        ),
    ],
)
def test_a_call_of_a_server_that_is_configured_nowhere_is_on_record(
    home: Home, words: list[str], code: int, line: tuple[object, ...]
) -> None:
    assert run(home, "call", "--server", DEMO, *words).returncode == code
    [entry] = json.loads(run(home, "log", "--json").stdout)["calls"]
    keys = ("server", "tool", "verdict", "outcome", "why", "arguments")
    assert tuple(entry.get(key) for key in keys) == line
    assert entry["origin"] == "mooring, cli"


@pytest.mark.parametrize("configured", [True, False])
def test_a_log_that_cannot_be_written_is_said_once_with_its_place_and_the_call_goes_on(
    home: Home, configured: bool
) -> None:
    home.configure(demo={"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]})
    place = home.home / ".local/state/mooring/audit.jsonl"
    place.mkdir(parents=True)
    words = ["demo.echo"] if configured else ["--server", DEMO, "echo"]
    done = run(home, "call", *words, "text=x")
    assert (done.returncode, done.stdout) == (0, "x\n")
    assert done.stderr == (
        "Warning: ~/.local/state/mooring/audit.jsonl  The log of calls is a folder, not a file; "
        "calls continue, but are not recorded until this is fixed\n"
    )


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (["--deny", "*.echo"], 4),
        (["--deny", "echo"], 4),
        (["--deny", "*.add"], 0),
        (["--deny", "*.echo(text=x)"], 4),
        (["--deny", "*.echo(text=y)"], 0),
        (["--permission-mode", "plan"], 4),
        (["--permission-mode", "ask"], 4),
        (["--permission-mode", "ask", "--allow", "*.echo"], 0),
        (["--permission-mode", "ask", "--allow", "*"], 0),
        (["--dangerously-skip-permissions"], 0),
        (["--dangerously-skip-permissions", "--deny", "*"], 4),
        (["--allow", "echo"], 2),
    ],
)
def test_rules_for_one_call_are_kept(cli: Cli, options: list[str], code: int) -> None:
    assert cli("call", "--server", DEMO, "echo", "text=x", *options).code == code


@pytest.mark.parametrize(("options", "code"), [(["--deny", "demo.*"], 4), (["--permission-mode", "ask", "--allow", "demo.echo"], 0), (["--permission-mode", "plan"], 4), ([], 0)])  # fmt: skip
def test_rules_for_one_call_of_a_configured_server_are_kept(cli: Cli, options: list[str], code: int) -> None:
    assert cli("--demo", "call", "demo.echo", "text=x", *options).code == code
