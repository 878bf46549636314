"""How a tool and its arguments can be typed, and what is said about those that cannot be understood."""

import json
from pathlib import Path
from typing import Any

import pytest

from support import DEMO, Actor, Cli

LISTS = {
    "type": "object",
    "properties": {
        "labels": {"type": "array", "items": {"type": "string"}},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "draft": {"type": "boolean"},
        "title": {"type": "string"},
        "level": {"enum": ["low", "high"]},
        "api_key": {"type": "integer"},
        "entities": {"type": "array", "items": {"type": "object"}},
    },
}


@pytest.fixture
def actor(cli: Cli, tmp_path: Path) -> Actor:
    shape = {"file": {"inputSchema": LISTS}, "echo": {"inputSchema": LISTS}}
    actor = Actor(tmp_path / "actor.json", tools=["file", "echo", "repeat"], shape=shape)
    cli.home.configure(demo=DEMO, actor=actor.entry)
    return actor


def test_a_server_and_its_tool_can_be_two_words(cli: Cli, actor: Actor) -> None:
    assert cli("call", "demo", "add", "a=1", "b=2").out == cli("call", "demo.add", "a=1", "b=2").out
    assert cli("call", "DEMO", "echo", "text=hi").out == "hi\n"
    assert "demo has no tool 'ehco'. Did you mean echo?" in cli("call", "demo", "ehco", "text=hi").err


def test_a_tool_that_one_known_server_has_can_be_named_alone(cli: Cli, actor: Actor) -> None:
    cli("tools")
    done = cli("call", "add", "a=1", "b=2")
    assert (done.code, done.err) == (0, "Using demo.add\n")
    assert cli("call", "-q", "add", "a=1", "b=2").err == ""
    twice = cli("call", "echo", "text=x")
    assert (twice.code, twice.err) == (
        2,
        "mooring: Several servers have a tool 'echo'. Write actor.echo or demo.echo.\n",
    )


def test_a_tool_that_is_held_back_is_not_taken_for_another_servers(cli: Cli, tmp_path: Path) -> None:
    actor = Actor(tmp_path / "a.json", tools=["only"])
    other = Actor(tmp_path / "b.json", tools=["only"])
    cli.home.configure(a=actor.entry, b=other.entry)
    assert cli("call", "a.only").code == cli("call", "b.only").code == 0
    actor.tell(tools=["only"], describe={"only": "Something else."})
    cli("tools", "--refresh")
    assert cli("mcp", "pins", "a").out != ""
    done = cli("call", "only")
    assert (done.code, "Write a.only or b.only." in done.err) == (2, True)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["demo"], "Missing TOOL; see: mooring tools demo"),
        (["demo."], "Missing TOOL; see: mooring tools demo"),
        (["dmeo", "echo", "text=x"], "No server or known tool is called 'dmeo'. Did you mean demo?"),
        (["dmeo.echo", "text=x"], "No server is called 'dmeo'. Did you mean demo?"),
        (["repaet"], "Did you mean actor.repeat?"),
        (["demo.echo", "txt=x"], "There is no parameter txt. Did you mean text?"),
        (["demo.add", "a=1", "z=2"], "There is no parameter z. It takes a and b."),
        (["demo.add", "a=x", "b=1"], "a must be a number, not 'x'."),
        (["demo.add", "a=1"], "Missing: b (a number)."),
        (["demo.echo"], "Missing: text."),
        (["demo.add", "a=1", "a=2", "b=3"], "a is given 2 times, but takes one value."),
        (["demo.slow", "seconds=700"], "seconds must be at most 600, not 700."),
        (["demo.echo", "text"], "'text' has no name; write it as name=value"),
        (["actor.file", "titel=x"], "There is no parameter titel. Did you mean title?"),
        (["actor.file", "draft=maybe"], "draft must be yes or no, not 'maybe'."),
        (["actor.file", "level=hihg"], "level must be one of 'low' or 'high' (did you mean 'high'?), not 'hihg'."),
        (["actor.file", "ids=1", "ids=two"], "ids must be a whole number, not 'two'."),
        (["actor.file", "entities=foo"], "entities must be a list of objects, not 'foo'."),
        (["actor.file", "api_key=hunter2"], "api_key must be a whole number, not what was given."),
        (["actor.file", "ids=ghp_abcdefghijklmnop1234"], "ids must be a whole number, not what was given."),
        (["actor.file", "ids=@secret.txt"], "ids must be a whole number, not what secret.txt holds."),
    ],
)
def test_what_cannot_be_understood_is_one_sentence(words: list[str], sentence: str, cli: Cli, actor: Actor) -> None:
    (cli.home.cwd / "secret.txt").write_text("hunter2")
    cli("tools")
    done = cli("call", *words)
    assert (done.code, done.out, sentence in done.err) == (2, "", True), done.err
    assert done.err.count("\n") == 1
    assert "hunter2" not in done.err


def sent(cli: Cli, actor: Actor, *words: str) -> Any:
    """What arrives at the tool."""
    done = cli("call", "actor.file", *words)
    assert done.code == 0, done.err
    return json.loads(Path(f"{actor.path}.arguments").read_text().splitlines()[-1])


def test_words_become_lists_and_switches_where_the_schema_has_them(cli: Cli, actor: Actor) -> None:
    assert sent(cli, actor, "labels=a", "labels=b") == {"labels": ["a", "b"]}
    assert sent(cli, actor, "labels=a") == {"labels": ["a"]}
    assert sent(cli, actor, "ids=1", "ids=2") == {"ids": [1, 2]}
    assert sent(cli, actor, 'labels=["a", "b"]') == {"labels": ["a", "b"]}
    for word, value in {"yes": True, "no": False, "true": True, "False": False}.items():
        assert sent(cli, actor, f"draft={word}") == {"draft": value}


def test_what_is_given_as_json_may_hold_what_the_schema_does_not_name(cli: Cli, actor: Actor) -> None:
    assert sent(cli, actor, "--args", '{"extra": 1}') == {"extra": 1}


# --- what comes back ------------------------------------------------------------------------------------------------


def test_a_missing_folder_is_refused_before_the_tool_is_called(cli: Cli, actor: Actor) -> None:
    done = cli("call", "actor.repeat", "-o", "nodir/f.txt")
    assert (done.code, "there is no folder" in done.err) == (2, True)
    assert actor.done("starts") == []
    assert not (cli.home.cwd / "nodir").exists()
    assert cli("read", "demo", "demo://readme", "-o", "nodir/f").code == 2
    assert cli("call", "actor.repeat", "-o", str(cli.home.cwd)).code == 2


def test_a_file_that_was_written_is_confirmed_with_its_kind_and_size(cli: Cli, actor: Actor) -> None:
    assert cli("call", "actor.repeat", "-o", "f.txt").err == "Wrote f.txt (text, 6 bytes)\n"
    assert cli("call", "-q", "actor.repeat", "-o", "f.txt").err == ""
    assert cli("read", "demo", "demo://readme", "-o", "r.md").err.startswith("Wrote r.md (text/markdown, ")


def test_what_is_empty_says_so(cli: Cli, actor: Actor) -> None:
    actor.tell(tools=["void"], resources=[], prompts=[])
    done = cli("call", "actor.void")
    assert (done.code, done.out, done.err) == (0, "", "actor.void returned nothing.\n")
    assert cli("call", "-q", "actor.void").err == ""
    empty = cli("read", "demo", "demo://notes")
    assert (empty.out, empty.err) == ("", "demo://notes is empty.\n")
    for command in ("resources", "prompts"):
        listed = cli(command, "actor")
        assert (listed.code, listed.out, listed.err) == (0, "", f"actor offers no {command}.\n")


def test_the_log_says_that_a_typed_call_was_allowed_because_it_was_typed(cli: Cli, actor: Actor) -> None:
    cli("call", "demo.echo", "text=x")
    assert cli("log").out.rstrip().endswith("allowed (you typed it)")


# --- errors as data -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code", "message", "hint"),
    [
        (["call", "demo.add", "a=x", "b=1"], 2, "a must be a number, not 'x'.", None),
        (["call", "nope.x"], 2, "No server is called 'nope'.", "`mooring mcp list` shows the known ones."),
        (["call", "demo.ehco"], 2, "demo has no tool 'ehco'.", "Did you mean echo?"),
        (["call"], 2, "Missing SERVER.TOOL.", "See: mooring call --help"),
        (["call", "--jsn", "x"], 2, "There is no option --jsn.", "Did you mean --json? For an argument: jsn=…"),
        (["lits"], 2, "There is no command 'lits'.", "Did you mean mooring mcp list?"),
        (["mcp", "get", "nope"], 2, "No server is called 'nope'.", "`mooring mcp list` shows the known ones."),
        (["mcp"], 2, "Missing command.", "See: mooring mcp --help"),
        (["read", "demo"], 2, "Missing URI", "see: mooring resources demo"),
        (["call", "demo.echo", "text=x", "--deny", "demo.*"], 4, None, None),
        (["call", "demo.slow", "seconds=9", "--timeout", "0.2"], 5, None, None),
        (["completion"], 2, "Missing SHELL: bash, zsh or fish.", "See: mooring completion --help"),
    ],
)
def test_with_json_an_error_is_a_line_of_json_on_stderr(
    words: list[str], code: int, message: str | None, hint: str | None, cli: Cli
) -> None:
    cli.home.configure(demo=DEMO)
    done = cli(*words, "--json")
    assert (done.code, done.out) == (code, "")
    error = json.loads(done.err.splitlines()[-1])["error"]
    assert list(error) == ["code", "message", "hint"]
    assert error["code"] == code
    if message is not None:
        assert (error["message"], error["hint"]) == (message, hint)
