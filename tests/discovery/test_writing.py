"""A definition as an entry of a tool's file: what is written is read again as it was meant, or is reported as lost."""

import math
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from mooring.core.definitions.config import Http, OAuth, Origin, ServerConfig, Stdio
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import Template, literal
from mooring.discovery.dialect import CLAUDE
from mooring.discovery.edit import put_entries, remove_entry, round_times, write_entry
from mooring.discovery.format import Format, Place, locate
from mooring.discovery.formats import FORMATS, find_format
from mooring.discovery.scan import make_context, scan
from mooring.discovery.targets import WriteTarget, find_target, list_writers
from mooring.discovery.template import parse_template
from mooring.errors import ConfigError, ParseError
from support import Home

ORIGIN = Origin("test", "user", None)
WRITERS = [format for format in FORMATS if format.writes]


def template(text: str) -> Template:
    return parse_template(text, CLAUDE, "args")


def find_places() -> Iterator[tuple[Format, Place]]:
    """The files of every format that are written on a machine where nothing was moved."""
    where = Paths("/home", {}, "linux", "/")
    for format in WRITERS:
        assert format.writes
        yield from [(format, place) for place in format.list_written_places("user") if locate(place, where)][:1]
        yield from [(format, place) for place in format.list_written_places("project")][:1]


TARGETS = list(find_places())
TARGET_NAMES = [f"{format.title} {place.path}" for format, place in TARGETS]

TEXTS = st.sampled_from(
    ["npx", "-y", "@scope/server@1.2", "a b", "ü", "DEBUG", 'say "hi"', "C:\\x", "1", "true", "", "#", "a: b"]
)
VALUES = st.one_of(TEXTS, st.sampled_from(["${TOKEN}", "Bearer ${TOKEN}", "${HOST:-localhost}", "x${A}y${B}"])).map(
    template
)
NAMES = st.sampled_from(["TOKEN", "A", "X_Y"])
HEADERS = st.sampled_from(["Authorization", "X-Key"])
TIMES = st.none() | st.sampled_from([0.5, 1.0, 30.0, 61.25, 3600.0, 90000.0, math.inf])
TOOLS = st.lists(st.sampled_from(["read", "write", "a_b"]), max_size=2, unique=True).map(tuple)
PROGRAMS = st.builds(
    Stdio,
    command=st.sampled_from(["npx", "/usr/bin/tool", "${HOME}/bin/x"]).map(template),
    args=st.lists(VALUES, max_size=3).map(tuple),
    env=st.dictionaries(NAMES, VALUES, max_size=2),
    cwd=st.none() | st.sampled_from(["/srv", "${HOME}/x"]).map(template),
    env_file=st.none() | st.just(literal("/srv/.env")),
)
ADDRESSES = st.builds(
    Http,
    url=st.sampled_from(["https://a.example/mcp", "https://${HOST}/mcp", "http://localhost:1/sse?x=1"]).map(template),
    headers=st.dictionaries(HEADERS, VALUES, max_size=2),
    headers_helper=st.none() | st.just(literal("get-headers")),
    transport=st.sampled_from(["http", "sse", "auto"]),
)
LOGINS = st.none() | st.builds(
    OAuth,
    client_id=st.none() | st.just("id"),
    client_secret=st.none() | st.sampled_from(["${SECRET}", "plain"]).map(template),
    callback_port=st.none() | st.just(8080),
    redirect_uri=st.none() | st.just("http://localhost/callback"),
    scopes=st.sampled_from([(), ("read", "write")]),
    resource=st.none() | st.just("https://a.example"),
)
DEFINITIONS = st.builds(
    ServerConfig,
    name=st.just("new-server"),
    origin=st.just(ORIGIN),
    connection=PROGRAMS | ADDRESSES,
    disabled_by=st.none() | st.just("there"),
    required=st.booleans(),
    start_timeout=TIMES,
    call_timeout=TIMES,
    idle_timeout=TIMES,
    max_in_flight=st.none() | st.just(3),
    era=st.sampled_from([None, "handshake", "stateless"]),
    tools_allow=st.none() | TOOLS,
    tools_deny=TOOLS,
    oauth=LOGINS,
    always_load=st.booleans(),
    lifecycle=st.sampled_from(["lazy", "eager", "keep-alive"]),
)


def shown(value: Template | None) -> str | None:
    """A template in one spelling; a word that may be a variable's name stands for itself."""
    return (
        None
        if value is None
        else "".join(part.written for part in value.parts)
        .replace("${DEBUG}", "DEBUG")
        .replace("${npx}", "npx")
        .replace("${true}", "true")
        .replace("${read}", "read")
    )


def says(config: ServerConfig) -> dict[str, Any]:
    """What a definition says, by the names under which it is reported as lost."""
    connection, oauth = config.written or config.connection, config.oauth or OAuth()
    told: dict[str, Any] = {}
    if isinstance(connection, Stdio):
        told |= {
            "command": shown(connection.command),
            "args": [shown(arg) for arg in connection.args],
            "cwd": shown(connection.cwd),
            "envFile": shown(connection.env_file),
        }
        told |= {f"env.{name}": f"${{{name}}}" for name in connection.pass_env}
        told |= {
            f"env.{name}": shown(value).replace("${{ secrets.", "${").replace(" }}", "}")
            for name, value in connection.env.items()
        }  # type: ignore[union-attr]
    else:
        told |= {"url": shown(connection.url), "headersHelper": shown(connection.headers_helper)}
        told |= {f"headers.{name}": shown(value) for name, value in connection.headers.items()}
        told |= {
            "oauth.clientId": oauth.client_id, "oauth.clientSecret": shown(oauth.client_secret), "oauth.callbackPort": oauth.callback_port,
            "oauth.redirectUri": oauth.redirect_uri, "oauth.scopes": oauth.scopes or None, "oauth.resource": oauth.resource,
        }  # fmt: skip
    told |= {
        "transport": connection.transport, "disabled": not config.enabled, "required": config.required, "startTimeout": config.start_timeout,
        "callTimeout": config.call_timeout, "idleTimeout": config.idle_timeout, "maxInFlight": config.max_in_flight, "era": config.era,
        "allowedTools": config.tools_allow, "blockedTools": config.tools_deny, "alwaysLoad": config.always_load, "lifecycle": config.lifecycle,
    }  # fmt: skip
    return told


def rounded(told: dict[str, Any]) -> dict[str, Any]:
    return {key: round(value, 6) if isinstance(value, float) else value for key, value in told.items()}


def find(home: Home, format: Format) -> dict[str, Any]:
    found = scan(make_context(home.where, str(home.project)), (format,))
    return {definition.name: definition.config for definition in found.definitions}


def path_of(home: Home, place: Place) -> Path:
    path = str(home.project / place.path) if place.scope == "project" else locate(place, home.where)
    assert path is not None
    return Path(path)


def put(home: Home, format: Format, place: Place, config: ServerConfig) -> tuple[Path, tuple[str, ...]]:
    entry = write_entry(config, format)
    path = path_of(home, place)
    before = path.read_bytes() if path.exists() else b""
    context = make_context(home.where, str(home.project))
    path.parent.mkdir(parents=True, exist_ok=True)
    target = WriteTarget(format, (place,))
    path.write_bytes(put_entries(before, str(path), target, place, {config.name: entry.raw}, context))
    return path, entry.lost


@pytest.mark.parametrize(("format", "place"), TARGETS, ids=TARGET_NAMES)
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(config=DEFINITIONS)
def test_what_is_written_is_read_as_it_was_meant_except_what_is_reported(
    format: Format, place: Place, config: ServerConfig
) -> None:
    with TemporaryDirectory() as folder:
        home = Home(Path(folder))
        try:
            path, lost = put(home, format, place, config)
        except ConfigError as error:
            # Without these there would be no server: nothing is written then.
            assert "cannot express" in str(error)  # noqa: PT017
            return
        read = find(home, format)[config.name]
        assert isinstance(read, ServerConfig), path.read_text()
        # Some tools take whole seconds only.
        wanted, got = rounded(says(round_times(config, format))), rounded(says(read))
        differing = {key for key in wanted | got if wanted.get(key) != got.get(key)}
        assert differing <= set(lost), path.read_text()


@pytest.mark.parametrize(("format", "place"), TARGETS, ids=TARGET_NAMES)
def test_an_entry_that_was_added_is_listed_and_its_removal_gives_back_the_file(
    format: Format, place: Place, home: Home
) -> None:
    def named(name: str) -> ServerConfig:
        return ServerConfig(name=name, origin=ORIGIN, connection=Stdio(literal("npx"), (literal("-y"), literal("pkg"))))

    path, _ = put(home, format, place, named("first"))
    before = path.read_bytes()
    put(home, format, place, named("second"))
    found = find(home, format)
    assert set(found) == {"first", "second"}
    path.write_bytes(remove_entry(path.read_bytes(), str(path), found["second"].origin.key))
    assert path.read_bytes() == before


@pytest.mark.parametrize(("format", "place"), TARGETS, ids=TARGET_NAMES)
def test_a_name_that_is_taken_and_a_file_that_cannot_be_read_are_left_alone(
    format: Format, place: Place, home: Home
) -> None:
    config = ServerConfig(name="taken", origin=ORIGIN, connection=Stdio(literal("npx")))
    put(home, format, place, config)
    path = path_of(home, place)
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=f'Server "taken" already exists in {path}'):
        put(home, format, place, config)
    assert path.read_bytes() == before
    path.write_bytes(b"{[\n")
    with pytest.raises(ParseError):
        put(home, format, place, config)


def program(**changes: Any) -> ServerConfig:
    return ServerConfig(name="x", origin=ORIGIN, connection=Stdio(**{"command": literal("npx"), **changes}))


def entry(tool: str, config: ServerConfig) -> tuple[dict[str, Any], tuple[str, ...]]:
    format = find_format(tool)
    assert format is not None
    written = write_entry(config, format)
    return dict(written.raw), written.lost


def test_secrets_stay_references_in_the_words_of_each_tool() -> None:
    secret = {"TOKEN": template("${TOKEN}")}
    config = program(env=secret)
    assert entry("claude-code", config) == ({"type": "stdio", "command": "npx", "env": {"TOKEN": "${TOKEN}"}}, ())
    assert entry("opencode", config) == (
        {"type": "local", "command": ["npx"], "environment": {"TOKEN": "{env:TOKEN}"}},
        (),
    )
    assert entry("vscode", config)[0]["env"] == {"TOKEN": "${env:TOKEN}"}
    assert entry("codex", config) == ({"command": "npx", "env_vars": ["TOKEN"]}, ())
    assert entry("goose", config)[0]["env_keys"] == ["TOKEN"]
    assert entry("zed", config) == ({"command": "npx", "args": []}, ("env.TOKEN",))


@pytest.mark.parametrize(("tool", "written"), [("crush", 6), ("goose", 6), ("zed", 6), ("codex", 5.5)])
def test_a_tool_that_takes_whole_seconds_gets_them_and_never_less_time(tool: str, written: float) -> None:
    raw, lost = entry(tool, replace(program(), call_timeout=5.5))
    assert written in raw.values()
    assert "callTimeout" not in lost


@pytest.mark.parametrize("tool", ["goose", "zed"])
def test_a_tool_that_requires_arguments_gets_them_even_if_there_are_none(tool: str) -> None:
    assert entry(tool, program())[0]["args"] == []
    address = ServerConfig(name="x", origin=ORIGIN, connection=Http(literal("https://a.example"), transport="http"))
    assert "args" not in entry(tool, address)[0]


def test_headers_stay_references_too() -> None:
    headers = {"Authorization": template("Bearer ${TOKEN}"), "X-Key": template("${KEY}")}
    config = ServerConfig(
        name="x", origin=ORIGIN, connection=Http(literal("https://a.example"), headers, transport="http")
    )
    assert entry("codex", config) == (
        {"url": "https://a.example", "bearer_token_env_var": "TOKEN", "env_http_headers": {"X-Key": "KEY"}}, ()
    )  # fmt: skip
    assert entry("junie", config) == (
        {"url": "https://a.example"},
        ("headers.Authorization", "headers.X-Key", "transport"),
    )


@pytest.mark.parametrize(
    ("tool", "config", "reason"),
    [
        ("codex", program(args=(template("${HOME}/x"),)), "the `args`"),
        ("claude-code", program(args=(literal("${HOME}"),)), "the `args`"),
        (
            "claude-desktop",
            ServerConfig(name="x", origin=ORIGIN, connection=Http(literal("https://a.example"))),
            "neither",
        ),
        (
            "codex",
            ServerConfig(name="x", origin=ORIGIN, connection=Http(literal("https://a.example"), transport="sse")),
            "the `transport`",
        ),
        ("mcporter", program(command=literal("./server")), "the `command`"),
        ("magenta", ServerConfig(name="a.b", origin=ORIGIN, connection=Stdio(literal("npx"))), "name"),
    ],
)
def test_what_would_start_something_else_is_not_written(tool: str, config: ServerConfig, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        entry(tool, config)


def test_every_tool_that_is_written_has_a_file_of_the_person_or_the_project() -> None:
    assert set(list_writers()) == {format.tool for format in FORMATS} - {"kimi", "rovo", "grok"}
    assert all(find_target(tool, "user") or find_target(tool, "project") for tool in list_writers())


@pytest.mark.parametrize("format", WRITERS, ids=[format.title for format in WRITERS])
def test_a_file_that_is_written_is_one_that_is_read(format: Format) -> None:
    assert format.writes
    assert {place.path for place in (*format.list_written_places("user"), *format.list_written_places("project"))} <= {
        place.path for place in format.places
    }
    assert all(
        any(field.slot == slot for field in format.fields.values()) for slot in format.writes.slots if slot != "type"
    )
