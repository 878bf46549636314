"""A server that sends something deeply nested, wherever it is: one clear sentence, and everything else goes on."""

import sys
from contextlib import suppress
from pathlib import Path

import pytest

import mooring
from mooring.core.protocol.raw import DEEPEST
from support import DEMO, Cli, Home, run_beside

SERVER = str(Path(__file__).with_name("deep.py"))
LEFT_OUT = ("schema", "output schema", "tool")
HARMLESS = ("block", "log", "unknown notice", "question", "id of a question", "resource")
UNREADABLE = ("structured", "lists", "unusual")
FAILING = ("data of an error", "failed result")
PLACES = [*LEFT_OUT, *HARMLESS, *UNREADABLE, *FAILING, "hello"]
LEVELS = [2 * DEEPEST, 20_000]
"""Python 3.11 decodes the first, Python 3.14 both."""
COMMANDS = [
    ["call", "deep.deep"],
    ["call", "deep.deep", "--json"],
    ["tools", "deep"],
    ["tools", "--cost"],
    ["resources", "deep"],
    ["mcp", "list", "--check"],
    ["logs", "deep"],
]


def nest(levels: int) -> object:
    made: object = 1
    for _ in range(levels):
        made = {"a": made}
    return made


def make_server(place: str, levels: int) -> dict[str, object]:
    return {"command": sys.executable, "args": [SERVER, place, str(levels)]}


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("place", PLACES)
def test_every_command_says_in_words_what_it_met(cli: Cli, place: str, levels: int) -> None:
    cli.home.configure(deep=make_server(place, levels))
    for words in COMMANDS:
        done = cli(*words)
        assert done.code in (0, 1, 2, 4)
        assert "recursion" not in (done.out + done.err).lower()
        assert "fault of mooring" not in done.err


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("place", PLACES)
async def test_everything_else_goes_on(home: Home, place: str, levels: int) -> None:
    async with open_beside_another(home, place, levels) as host:
        # Whatever becomes of this one.
        with suppress(mooring.MooringError):
            await host.call("deep.deep")
        # A list that cannot even be decoded has no tools, and Python 3.11 cannot decode so many levels.
        if place == "hello" or (place in LEFT_OUT and levels == 20_000):
            with suppress(mooring.MooringError):
                await host.call("deep.plain")
        else:
            assert (await host.call("deep.plain")).text == "plain"
            assert ("deep.deep" in known_tools(host)) == (place not in LEFT_OUT)
        assert (await host.call("beside.echo", {"text": "here"})).text == "here"


async def test_a_server_that_cannot_be_greeted_says_why(home: Home) -> None:
    async with open_beside_another(home, "hello", 2 * DEEPEST) as host:
        with pytest.raises(mooring.MooringError, match="nested too deeply"):
            await host.call("deep.plain")


@pytest.mark.parametrize("place", HARMLESS)
async def test_what_nobody_reads_does_no_harm(home: Home, place: str) -> None:
    async with open_beside_another(home, place, 2 * DEEPEST) as host:
        assert (await host.call("deep.deep")).text == "printed"


@pytest.mark.parametrize("place", UNREADABLE)
async def test_the_rest_of_a_result_is_used(home: Home, place: str) -> None:
    async with open_beside_another(home, place, 2 * DEEPEST) as host:
        result = await host.call("deep.deep")
        assert result.text == "printed"
        with pytest.raises(mooring.ProtocolError, match="nested too deeply"):
            _ = result.structured


async def test_a_resource_is_read_whatever_comes_with_it(home: Home) -> None:
    async with open_beside_another(home, "contents", 2 * DEEPEST) as host:
        reading = await host.read("deep", "deep://a")
        assert [contents.text for contents in reading.contents] == ["pages"]


@pytest.mark.parametrize("place", LEFT_OUT)
def test_a_tool_that_is_left_out_is_named(cli: Cli, place: str) -> None:
    cli.home.configure(deep=make_server(place, 2 * DEEPEST))
    done = cli("tools", "deep")
    assert "plain" in done.out
    assert "deep.deep cannot be used: it is nested too deeply" in done.err


async def test_an_error_is_read_without_what_came_with_it(home: Home) -> None:
    async with open_beside_another(home, "data of an error", 2 * DEEPEST) as host:
        with pytest.raises(mooring.RpcError, match="out of paper"):
            await host.call("deep.deep")


def open_beside_another(home: Home, place: str, levels: int) -> mooring.Host:
    servers = {"deep": make_server(place, levels), "beside": DEMO}
    return mooring.open(request=home.request(), servers=servers, policy="allow")


def known_tools(host: mooring.Host) -> set[str]:
    return {f"{entry.server}.{entry.tool}" for entry in host.tools}


@pytest.mark.parametrize("place", ["structured", "schema", "hello", "failed result"])
def test_what_is_nested_within_the_limit_is_used(cli: Cli, place: str) -> None:
    cli.home.configure(deep=make_server(place, DEEPEST - 10))
    done = cli("call", "deep.deep", "--json")
    assert done.code == (1 if place == "failed result" else 0)
    assert done.data["content"][0]["text"] == ("jammed" if place == "failed result" else "printed")


@pytest.mark.parametrize("levels", LEVELS)
def test_arguments_nested_too_deeply_are_refused(home: Home, levels: int) -> None:
    home.configure(demo=DEMO)
    text = '{"a":' * levels + "1" + "}" * levels
    done = run_beside(home, "call", "demo.echo", "--args", text)
    assert (done.code, done.err) == (2, "mooring: The arguments are not valid JSON.\n")
    done = run_beside(home, "mcp", "add-json", "x", text)
    assert (done.code, done.err) == (2, "mooring: Invalid server config: it is not valid JSON.\n")


@pytest.mark.parametrize("value", [nest(2 * DEEPEST), nest(20_000), [[]] * 300_000], ids=["deep", "deeper", "long"])
async def test_own_tools_get_no_arguments_that_nobody_checked(home: Home, value: object) -> None:
    async with mooring.open(request=home.request(), servers={"demo": DEMO}, policy="allow") as host:
        await host.ready()
        async with host.conversation(policy="allow") as registry:
            own = [each.name for each in registry.definitions if not each.name.startswith("mcp__")]
            assert {"ReadMcpResource", "SubscribePolling", "ToolResult"} <= set(own)
            for name in own:
                outcome = await registry.call(name, {"a": value})
                assert outcome.is_error
                assert "was not called, because its arguments could not be checked" in outcome.text
