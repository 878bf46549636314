"""How the arguments of a call can be typed: JSON, inside an object, as options; and a name that says its server."""

import json
from pathlib import Path
from typing import Any

import pytest

from mooring.errors import ConfigError
from mooring.verbs.use.arguments import parse_arguments
from support import DEMO, Actor, Cli

TEXT = {"type": "string"}
NUMBER = {"type": "integer"}
WHERE = {"type": "object", "properties": {"city": TEXT, "at": {"type": "object", "properties": {"lat": NUMBER}}},
         "additionalProperties": False}  # fmt: skip
SCHEMA = {
    "type": "object",
    "properties": {"where": WHERE, "title": TEXT, "count": NUMBER, "tags": {"type": "array", "items": TEXT},
                   "a.b": TEXT, "a": {"type": "object"}, "dry_run": {"type": "boolean"}, "any": {}},
    "additionalProperties": False,
}  # fmt: skip


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["where.city=Bern", "where.at.lat=7"], {"where": {"city": "Bern", "at": {"lat": 7}}}),
        (['where={"city": "Rome"}', "where.at.lat=7"], {"where": {"city": "Rome", "at": {"lat": 7}}}),
        # A parameter of that very name wins.
        (["a.b=x"], {"a.b": "x"}),
        (["a.c=x"], {"a": {"c": "x"}}),
        (["count:=5", "title:=null", "any:=[1]"], {"count": 5, "title": None, "any": [1]}),
        # Without := a text stays a text, and with it a text is JSON.
        (["title=5"], {"title": "5"}),
        (['title:="5"', 'where.city:="x"'], {"title": "5", "where": {"city": "x"}}),
        (["tags:=1", "tags:=2"], {"tags": [1, 2]}),
        (["dry-run=true"], {"dry_run": True}),
        (["dry-run:=false"], {"dry_run": False}),
    ],
)
def test_words_mean_json_and_what_is_inside_objects(words: list[str], meant: dict[str, Any]) -> None:
    assert parse_arguments(words, SCHEMA) == meant


def test_words_go_into_what_a_json_text_says() -> None:
    assert parse_arguments(["where.city=Bern"], SCHEMA, '{"where": {"at": {"lat": 1}}}') == {
        "where": {"at": {"lat": 1}, "city": "Bern"}
    }


def test_without_a_schema_a_dot_is_part_of_the_name() -> None:
    assert parse_arguments(["a.b=1", "c:=1.50"], {}) == {"a.b": 1, "c": 1.5}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["count:=five"], "count:= takes JSON, such as count:=1.5 or count:=null; for a text write count=…"),
        (["where.town=x"], "town"),
        (["wher.city=x"], "wher"),
        (["where=5", "where.city=x"], "where"),
        (["title=x", "title.y=1"], "title"),
        (["count=1", "count:=2"], "count is given twice."),
        (["dry-run=true", "dry_run=true"], "dry_run is given twice."),
        (["where.city=x", 'where={"city": "y"}'], "where is given twice."),
        ([":=5"], "':=5' has no name"),
        (["where.at.lat=high"], "where.at.lat must be"),
    ],
)
def test_what_means_nothing_is_refused_in_a_sentence(words: list[str], says: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_arguments(words, SCHEMA)
    assert says in str(raised.value)
    assert "\n" not in str(raised.value)


# --- through the command ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("demo.add", "--a", "2", "--b", "40"),
        ("demo.add", "--a=2", "--b=40"),
        ("--a", "2", "demo.add", "b=40"),
        ("demo.add", "a:=2", "b:=40"),
        ("demo", "add", "--a", "2", "--timeout", "30", "--b", "40"),
    ],
    ids=" ".join,
)
def test_options_that_are_not_ours_are_arguments_of_the_tool(cli: Cli, words: tuple[str, ...]) -> None:
    cli.home.configure(demo=DEMO)
    done = cli("call", *words)
    assert (done.code, done.out.strip()) == (0, '{"sum": 42}'), done.err


def test_an_argument_that_is_called_like_an_option_of_ours_is_given_with_an_equals_sign(
    cli: Cli, tmp_path: Path
) -> None:
    schema = {"type": "object", "properties": {"url": TEXT}, "required": ["url"]}
    actor = Actor(tmp_path / "actor.json", tools=["fetch"], shape={"fetch": {"inputSchema": schema}})
    cli.home.configure(actor=actor.entry)
    assert cli("call", "actor.fetch", "url=https://example.com").code == 0
    assert cli("call", "actor.fetch", "url:=3").code == 2
    # Where nothing listens: the address of a server was meant, and nothing was sent to the tool.
    assert "http://127.0.0.1:9/mcp" in cli("call", "--url", "http://127.0.0.1:9/mcp", "fetch").err


def test_an_option_of_ours_behind_a_tool_that_has_such_a_parameter_is_refused_with_both_ways_to_write_it(
    cli: Cli, tmp_path: Path
) -> None:
    schema = {"type": "object", "properties": {"url": TEXT, "timeout": NUMBER, "no_project": {"type": "boolean"}}}
    actor = Actor(tmp_path / "actor.json", tools=["fetch"], shape={"fetch": {"inputSchema": schema}})
    cli.home.configure(actor=actor.entry)
    assert cli("tools", "actor").code == 0
    starts = len(actor.done("starts"))
    for words in (["actor.fetch"], ["actor", "fetch"]):
        refused = cli("call", *words, "--url", "https://example.com/a?b=c&d")
        assert refused.code == 2
        assert f"{words[0]} names a server that is configured, and --url another." in refused.err
        assert "For the tool's own parameter: 'url=https://example.com/a?b=c&d'." in refused.err
        assert f"For the other server, put --url before {words[0]}." in refused.err
    for option, name in (("--timeout=30", "timeout"), ("--no-project", "no_project")):
        refused = cli("call", "actor.fetch", option)
        shown = option.partition("=")[0]
        assert refused.code == 2
        assert f"{shown} is an option of Mooring's, and fetch has a parameter '{name}'." in refused.err
        assert f"For the tool: {name}=VALUE. For Mooring, put {shown} before the tool's name." in refused.err
        assert cli("call", option, "actor.fetch").code == 0
    assert len(actor.done("starts")) == starts + 2
    assert actor.done("answers") == ["fetch", "fetch"]


def test_a_server_that_is_named_behind_the_tool_is_called_where_none_is_configured_under_that_name(cli: Cli) -> None:
    server = " ".join((DEMO["command"], *DEMO["args"]))
    assert cli("call", "echo", "text=hi", "--server", server).out == "hi\n"


def test_our_own_options_win_and_a_misspelled_one_is_named(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    assert cli("call", "demo.echo", "--text", "x", "--json").data["content"][0]["text"] == "x"
    refused = cli("call", "demo.echo", "text=x", "--timeot", "5")
    assert refused.code == 2
    assert "There is no option --timeot. Did you mean --timeout? For an argument: timeot=…" in refused.err
    assert "a tool's own url is url=ADDRESS" in " ".join(cli("call", "--help").out.split())
    # Commands without arguments of a tool keep refusing what they don't know.
    assert "There is no option --timeot. Did you mean --timeout?" in cli("resources", "--timeot", "5").err


def test_a_prompt_and_a_resource_are_named_as_a_tool_is(cli: Cli) -> None:
    cli.home.configure(demo=DEMO)
    apart, joined = (cli("prompt", *words, "topic=roots") for words in (("demo", "explain"), ("demo.explain",)))
    assert joined.code == 0
    assert joined.out == apart.out
    assert cli("prompt", "demo.explain", "--topic", "roots").out == apart.out
    [first, *_] = json.loads(cli("resources", "demo", "--json").out)["resources"]
    by_address = cli("read", "demo", first["uri"])
    assert by_address.code == 0
    assert cli("read", f"demo.{first['uri']}").out == by_address.out
    assert cli("read", f"demo.{first['name']}").out == by_address.out
    assert cli("read", "demo", first["name"]).out == by_address.out


def test_a_server_whose_name_has_a_dot_is_still_meant_and_two_readings_are_refused(
    cli: Cli, tmp_path_factory: pytest.TempPathFactory
) -> None:
    cli.home.configure(**{"demo": DEMO, "demo.x": DEMO})
    assert cli("prompt", "demo.x", "explain", "topic=roots").code == 0
    refused = cli("prompt", "demo.x.explain", "topic=roots")
    assert refused.code == 2
    assert "demo.x.explain can be read in several ways." in refused.err
    assert "Write demo x.explain or demo.x explain." in refused.err
    unknown = cli("prompt", "weather.plan_trip")
    assert unknown.code == 2
    assert "weather.plan_trip" not in unknown.err
    assert "weather" in unknown.err


@pytest.mark.parametrize(
    ("words", "same_as"),
    [
        (("help",), ("--help",)),
        (("help", "mcp", "add"), ("mcp", "add", "--help")),
        (("version",), ("--version",)),
    ],
    ids=" ".join,
)
def test_help_and_version_are_understood_as_words(cli: Cli, words: tuple[str, ...], same_as: tuple[str, ...]) -> None:
    typed, meant = cli(*words), cli(*same_as)
    assert (typed.code, typed.out, typed.err) == (meant.code, meant.out, meant.err)
    assert typed.out


@pytest.mark.parametrize("words", [("version", "--json"), ("--json", "--version")])
def test_the_version_is_data_for_programs(cli: Cli, words: tuple[str, ...]) -> None:
    assert cli(*words).data == {"version": cli("version").out.split()[1]}


def test_the_example_of_a_tool_still_means_what_it_says(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> None:
    schema = {"type": "object", "properties": {"a.b": TEXT, "c:": TEXT}, "required": ["a.b", "c:"]}
    actor = Actor(tmp_path_factory.mktemp("odd") / "odd.json", tools=["odd"], shape={"odd": {"inputSchema": schema}})
    cli.home.configure(odd=actor.entry)
    assert cli("call", "odd.odd", "a.b=x", "c:=y").code == 0
