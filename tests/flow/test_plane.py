"""The tools of a conversation, through the host, with real child processes."""

import asyncio
import json
import re
import sys
from base64 import b64encode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from test_host import until

import mooring
from mooring.core.conversation.event import ConversationEvent, ToolFinished, ToolProgress, ToolStarted, WatchChanged
from mooring.core.conversation.question import Allow, Answer, No, Question
from mooring.core.protocol.content import Image, Text
from mooring.host.host import Host
from support import Home

DEMO = {"demo": {"command": sys.executable, "args": ["-I", "-m", "mooring.demo"]}}
TELLER = str(Path(__file__).parent / "teller.py")


CALL_EVENTS = (ToolStarted, ToolProgress, ToolFinished)


def name_state(event: ToolStarted | ToolProgress | ToolFinished) -> str:
    """What became of a call, in a word."""
    if isinstance(event, ToolStarted):
        return "pending"
    if isinstance(event, ToolProgress) or event.outcome.continues is not None:
        return "processing"
    return "done" if event.success else "error"


class Conversation:
    """A registry, the host behind it, and everything that happened."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.happened: list[ConversationEvent] = []
        self.tools: mooring.Conversation

    def states(self, id: str | None = None) -> list[str]:
        moved = [each for each in self.happened if isinstance(each, CALL_EVENTS) and id in (None, each.id)]
        return [name_state(each) for each in moved]

    def heard(self) -> list[Any]:
        return [each for each in self.happened if isinstance(each, WatchChanged)]

    async def call(self, name: str, **arguments: Any) -> Any:
        """What a tool that answers in JSON answered."""
        outcome = await self.tools.call(name, arguments)
        assert not outcome.is_error, outcome.text
        return json.loads(outcome.text)


@asynccontextmanager
async def conversation(
    home: Home, servers: Any = DEMO, *, policy: Any = "allow", ask: Any = None, limits: Any = None, **options: Any
) -> AsyncIterator[Conversation]:
    async with mooring.open(request=home.request(), servers=servers, policy=policy, ask=ask, limits=limits) as host:
        assert await host.ready() == {}
        talk = Conversation(host)
        async with host.conversation(on_event=talk.happened.append, **options) as talk.tools:
            yield talk


def settings(home: Home, **values: Any) -> None:
    home.write("home/.config/mooring/settings.json", values)


@pytest.fixture
def teller(tmp_path: Path) -> dict[str, Any]:
    (tmp_path / "teller.json").write_text("{}")
    return {"teller": {"command": sys.executable, "args": ["-S", TELLER, str(tmp_path / "teller.json")]}}


def with_tools(tmp_path: Path, count: int) -> None:
    """Tools of every day, in number."""
    things = ["invoice", "ticket", "branch", "calendar", "contact", "picture", "deployment", "secret", "table", "page"]
    verbs = ["create", "delete", "list", "update", "export"]
    text = {"type": "string", "description": "Which one is meant, by its id, its name or its address."}
    tools = [
        {
            "name": f"{verb}_{thing}_{number}",
            "description": f"{verb.capitalize()} a {thing} in system {number}, with all that belongs to it and a long "
            "explanation of what that means, which a model has to read each time that it is shown the tool.",
            "inputSchema": {"type": "object", "properties": {"id": text, "reason": text}, "required": ["id"]},
        }
        for number in range(count // 50)
        for verb in verbs
        for thing in things
    ]
    (tmp_path / "teller.json").write_text(json.dumps({"tools": tools}))


# --- a call -------------------------------------------------------------------------------------------------------


async def test_a_call_is_pending_then_processing_then_done(home: Home) -> None:
    async with conversation(home) as talk:
        outcome = await talk.tools.call("mcp__demo__add", {"a": 2, "b": 40}, id="toolu_1")
    assert (outcome.text, outcome.is_error) == ('{"sum": 42}', False)
    assert (outcome.server, outcome.tool, outcome.origin) == ("demo", "add", "mooring, cli")
    assert talk.states("toolu_1") == ["pending", "processing", "done"]
    assert talk.happened[-1].outcome == outcome


async def test_progress_is_told_on_the_way(home: Home) -> None:
    async with conversation(home) as talk:
        await talk.tools.call("mcp__demo__slow", {"seconds": 0.5, "steps": 2})
    steps = [each.progress for each in talk.happened if isinstance(each, ToolProgress)]
    assert [step and step.progress for step in steps] == [None, 0, 1, 2]


async def test_a_tools_own_failure_is_an_error_result(home: Home) -> None:
    async with conversation(home) as talk:
        outcome = await talk.tools.call("mcp__demo__fail")
    assert outcome.text == "Error: This tool is meant to fail, and it did."
    assert outcome.is_error
    assert talk.states() == ["pending", "processing", "error"]


async def test_a_failure_of_the_server_is_an_mcp_error(home: Home, tmp_path: Path) -> None:
    from test_host import Actor

    async with conversation(home, {"actor": Actor(tmp_path / "actor.json").entry}) as talk:
        outcome = await talk.tools.call("mcp__actor__die")
    assert outcome.text.startswith("MCP error: actor ended with exit code 3")
    assert (outcome.is_error, outcome.server, outcome.tool) == (True, "actor", "die")


async def test_arguments_that_do_not_fit_are_an_error_that_names_the_parameter_and_nobody_is_asked(home: Home) -> None:
    async def ask(question: Question) -> Answer:
        raise AssertionError("nobody is to be asked")

    async with conversation(home, policy=None, ask=ask) as talk:
        for given, parameter in (({"a": 1}, "b"), ({"a": 1, "b": [2]}, "b"), ({"a": 1, "b": 2, "c": 3}, "c")):
            outcome = await talk.tools.call("mcp__demo__add", given)
            assert outcome.is_error
            assert outcome.text.startswith("Error: demo.add was not called")
            assert re.search(rf"\b{parameter}\b", outcome.text.partition("called: ")[2].partition(";")[0])
        assert "JSON object" in (await talk.tools.call("mcp__demo__add", "[1, 2]")).text
    assert set(talk.states()) == {"pending", "error"}


async def test_arguments_are_taken_as_the_json_a_model_wrote_and_as_it_certainly_meant_them(home: Home) -> None:
    async with conversation(home) as talk:
        outcome = await talk.tools.call("mcp__demo__add", '{"a": "2", "b": 40}')
    assert outcome.text == '{"sum": 42}'
    assert outcome.notes == ("a: a text was read as a number",)


async def test_an_abort_stays_an_abort_and_reaches_the_server(home: Home) -> None:
    async with conversation(home) as talk:
        call = asyncio.create_task(talk.tools.call("mcp__demo__slow", {"seconds": 60}, id="long"))
        await until(lambda: "processing" in talk.states())
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        last = talk.happened[-1]
        assert isinstance(last, ToolFinished)
        assert last.canceled
        assert talk.host.servers["demo"].in_flight == 0


async def test_a_misspelt_name_is_understood_where_only_one_fits_and_an_unknown_one_is_an_error(home: Home) -> None:
    async with conversation(home) as talk:
        for name in ("mcp_demo_echo", "demo.echo", "MCP__Demo__Echo", "demo/echo"):
            assert (await talk.tools.call(name, {"text": "ahoy"})).text == "ahoy"
        outcome = await talk.tools.call("mcp__demo__ecko", {"text": "ahoy"})
        assert outcome.text.startswith("Error: ")
        assert "mcp__demo__echo" in outcome.text
        assert "none of that name" in (await talk.tools.call("Kraken")).text


async def test_a_tool_of_a_server_that_was_replaced_is_refused_by_its_old_name(
    home: Home, teller: dict[str, Any]
) -> None:
    async with conversation(home, {"x": DEMO["demo"]}, follow=True) as talk:
        await talk.host.apply({"x": teller["teller"]})
        outcome = await talk.tools.call("mcp__x__echo", {"text": "ahoy"})
        assert outcome.is_error
        assert "replaced" in outcome.text
        await talk.host.ready()
        assert (await talk.tools.call("mcp__x__count")).text == "1"


async def test_what_is_denied_is_an_error_and_a_person_is_waited_for_without_impatience(home: Home) -> None:
    settings(home, permissions=[{"tool": "mcp__demo__fail", "action": "deny"}], backgroundAfter=0.05)

    async def ask(question: Question) -> Answer:
        await asyncio.sleep(0.3)
        return Allow("once")

    async with conversation(home, policy=None, ask=ask) as talk:
        denied = await talk.tools.call("mcp__demo__fail")
        assert (denied.is_error, "mcp__demo__fail" in denied.text) == (True, True)
        assert talk.states() == ["pending", "error"]
        assert (await talk.tools.call("mcp__demo__echo", {"text": "ahoy"})).text == "ahoy"


async def test_every_kind_of_content_reaches_the_model(home: Home, teller: dict[str, Any]) -> None:
    data = b64encode(b"sound").decode()
    content = [
        {"type": "text", "text": "one"},
        {"type": "image", "data": data, "mimeType": "image/png"},
        {"type": "audio", "data": data, "mimeType": "audio/wav"},
        {"type": "resource_link", "uri": "x://link", "name": "link"},
        {"type": "resource", "resource": {"uri": "x://carried", "text": "carried text"}},
        {"type": "hologram", "depth": 3},
    ]
    async with conversation(home, teller, takes=("image", "audio")) as talk:
        result = {"content": content, "structuredContent": {"n": 7}}
        outcome = await talk.tools.call("mcp__teller__tell", result)
    kinds = [type(part).__name__ for part in outcome.parts]
    assert kinds == ["Text", "Image", "Audio", "Text"]
    for words in ("one", "x://link", "x://carried", "carried text", "hologram", '"n"'):
        assert outcome.text.count(words) == 1
    async with conversation(home, teller, takes=()) as talk:
        outcome = await talk.tools.call("mcp__teller__tell", {"content": content})
    assert {type(part) for part in outcome.parts} == {Text}
    assert outcome.text.count("kept in") == 2


# --- what is long -------------------------------------------------------------------------------------------------


async def test_a_long_result_is_given_by_its_ends_and_read_on_by_the_model(home: Home, teller: dict[str, Any]) -> None:
    settings(home, resultTokens={"teller.tell": 1000})
    words = " ".join(map(str, range(20_000)))
    async with conversation(home, teller) as talk:
        outcome = await talk.tools.call("mcp__teller__tell", {"content": [{"type": "text", "text": words}]})
        assert len(outcome.text) < 5000
        assert outcome.file is not None
        assert str(home.home / ".cache/mooring/results") in outcome.file
        id, read, offset = Path(outcome.file).stem, "", 0
        while True:
            portion = (await talk.tools.call("ToolResult", {"id": id, "offset": offset})).text
            text, _, rest = portion.partition("\n\n[It goes on at offset ")
            read += text
            if not rest:
                break
            offset = int(rest.split()[0])
    assert read == words


async def test_a_call_that_takes_long_goes_on_in_the_background_and_says_when_it_ends(home: Home) -> None:
    settings(home, backgroundAfter=0.2)
    async with conversation(home) as talk:
        outcome = await talk.tools.call("mcp__demo__slow", {"seconds": 0.6, "steps": 1}, id="slow-1")
        assert (outcome.continues, outcome.is_error) == ("slow-1", False)
        assert "ToolResult" in outcome.text
        assert talk.tools.outcome("slow-1") is None
        assert "not ended" in (await talk.tools.call("ToolResult", {"id": "slow-1"})).text
        await until(lambda: talk.states("slow-1")[-1] == "done")
        ended = talk.tools.outcome("slow-1")
        assert ended is not None
        assert ended.text.startswith("Took 0.6 seconds")
        assert (await talk.tools.call("ToolResult", {"id": "slow-1"})).text == ended.text


async def test_a_call_can_be_sent_to_the_background_and_ended_there(home: Home) -> None:
    async with conversation(home) as talk:
        call = asyncio.create_task(talk.tools.call("mcp__demo__slow", {"seconds": 60}, id="x"))
        await until(lambda: "processing" in talk.states())
        assert talk.tools.leave("x")
        assert (await call).continues == "x"
        assert talk.host.servers["demo"].in_flight == 1
        assert await talk.tools.cancel("x")
        assert not await talk.tools.cancel("x")
        assert talk.host.servers["demo"].in_flight == 0
        assert talk.states()[-1] == "error"


async def test_what_goes_on_in_the_background_ends_with_the_conversation(home: Home) -> None:
    settings(home, backgroundAfter=0.1)
    async with mooring.open(request=home.request(), servers=DEMO, policy="allow") as host:
        await host.ready()
        async with host.conversation() as tools:
            assert (await tools.call("mcp__demo__slow", {"seconds": 60})).continues
        assert host.servers["demo"].in_flight == 0
        happened: list[Any] = []
        forgotten = host.conversation(on_event=happened.append)
        assert (await forgotten.call("mcp__demo__slow", {"seconds": 60})).continues
    assert happened[-1].canceled, "and with the host, at the latest"


# --- Mooring's own tools ------------------------------------------------------------------------------------------


TAKES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "ListMcpResources": ({"server": "string"}, set()),
    "ReadMcpResource": ({"server": "string", "uri": "string"}, {"server", "uri"}),
    "SubscribeMcpResource": ({"server": "string", "uri": "string", "reason": "string"}, {"server", "uri"}),
    "UnsubscribeMcpResource": ({"server": "string", "uri": "string", "subscriptionId": "string"}, set()),
    "SubscribePolling": (
        {
            "type": "string",
            "server": "string",
            "toolName": "string",
            "arguments": "object",
            "uri": "string",
            "intervalMs": "number",
            "reason": "string",
        },
        {"type", "server"},
    ),
    "UnsubscribePolling": ({"subscriptionId": "string", "server": "string", "target": "string"}, set()),
}


async def test_our_own_tools_take_what_models_know_from_elsewhere_and_nothing_else(home: Home) -> None:
    async with conversation(home) as talk:
        shown = {tool.name: tool.schema for tool in talk.tools.definitions if tool.name in TAKES}
    found = {
        name: ({key: each["type"] for key, each in schema["properties"].items()}, set(schema["required"]))
        for name, schema in shown.items()
    }
    assert found == TAKES
    polling = shown["SubscribePolling"]["properties"]
    assert polling["type"]["enum"] == ["tool", "resource"]
    assert (polling["intervalMs"]["minimum"], polling["intervalMs"]["default"]) == (1000, 5000)
    assert all(schema["additionalProperties"] is False for schema in shown.values())


async def test_a_watch_begins_and_ends_with_the_answers_that_models_know(home: Home) -> None:
    async with conversation(home) as talk:
        for begin, end, asked, target in (
            ("SubscribeMcpResource", "UnsubscribeMcpResource", {"uri": "demo://clock"}, "uri"),
            ("SubscribePolling", "UnsubscribePolling", {"type": "resource", "uri": "demo://clock"}, "target"),
            (
                "SubscribePolling",
                "UnsubscribePolling",
                {"type": "tool", "toolName": "echo", "arguments": {"text": "x"}},
                "",
            ),
        ):
            began = await talk.call(begin, server="demo", reason="to see", **asked)
            assert began == {"subscribed": True, "subscriptionId": began["subscriptionId"]}
            assert isinstance(began["subscriptionId"], str)
            by = {"server": "demo", target: "demo://clock"} if target else {"subscriptionId": began["subscriptionId"]}
            assert await talk.call(end, **by) == {"unsubscribed": True}
            assert await talk.call(end, **by) == {"unsubscribed": False}


async def test_resources_are_listed_and_read_under_both_names(home: Home) -> None:
    async with conversation(home) as talk:
        for name in ("ListMcpResources", "ListMcpResourcesTool"):
            listed = await talk.call(name, server="demo")
            assert {"uri": "demo://clock", "name": "clock", "mimeType": "text/plain", "server": "demo"} in listed
            assert all(each.keys() <= {"uri", "name", "mimeType", "description", "server"} for each in listed)
        for name in ("ReadMcpResource", "ReadMcpResourceTool"):
            [part] = (await talk.call(name, server="demo", uri="demo://readme"))["contents"]
            assert part.keys() == {"uri", "mimeType", "text"}
            assert part["text"].startswith("# Mooring demo")
        assert (await talk.tools.call("ListMcpResources", {"server": "nobody"})).text.startswith("Error: No server")


async def test_a_binary_resource_is_saved_and_shown_to_a_model_that_can_look(home: Home) -> None:
    async with conversation(home, takes=("image",)) as talk:
        outcome = await talk.tools.call("ReadMcpResource", {"server": "demo", "uri": "demo://picture"})
        [part] = json.loads(outcome.text)["contents"]
        assert part.keys() == {"uri", "mimeType", "blobSavedTo"}
        assert starts(part["blobSavedTo"], b"\x89PNG")
        assert isinstance(outcome.parts[1], Image)
    async with conversation(home, takes=()) as talk:
        outcome = await talk.tools.call("ReadMcpResource", {"server": "demo", "uri": "demo://picture"})
        assert [type(part) for part in outcome.parts] == [Text]


def starts(path: str, data: bytes) -> bool:
    return Path(path).read_bytes().startswith(data)


async def test_updates_of_a_resource_reach_the_conversation_merged(home: Home) -> None:
    async with mooring.open(request=home.request(), servers=DEMO, policy="allow") as host:
        await host.ready()
        talk = Conversation(host)
        async with host.conversation(on_event=talk.happened.append) as talk.tools:
            answer = await talk.call("SubscribeMcpResource", server="demo", uri="demo://clock", reason="the time")
            assert answer.keys() == {"subscribed", "subscriptionId"}
            other = await host.subscribe("demo", "demo://notes")
            await talk.tools.call("mcp__demo__note", {"text": "ahoy"})
            await until(lambda: bool(talk.heard()))
            [update] = talk.heard()
            assert (update.watch, update.server, update.target) == (answer["subscriptionId"], "demo", "demo://clock")
            assert "demo://clock" in update.outcome.text
            assert (await talk.call("UnsubscribeMcpResource", uri="demo://clock")) == {"unsubscribed": True}
            assert (await talk.call("UnsubscribeMcpResource", uri="demo://clock")) == {"unsubscribed": False}
            assert not (await talk.call("UnsubscribeMcpResource", server="demo", uri="demo://notes"))["unsubscribed"]
            assert [watch.id for watch in host.watches] == [other.id]
            await talk.call("SubscribeMcpResource", server="demo", uri="demo://clock")
        assert [watch.id for watch in host.watches] == [other.id], "what a conversation watches ends with it"


async def test_polling_a_tool_tells_when_its_answer_changes(home: Home, teller: dict[str, Any]) -> None:
    async with conversation(home, teller) as talk:
        name = "mcp__teller__count"  # as a model knows it
        answer = await talk.call("SubscribePolling", type="tool", server="teller", toolName=name, intervalMs=1000)
        assert answer["subscribed"]
        [watch] = talk.host.watches
        assert (watch.id, watch.interval, watch.target) == (answer["subscriptionId"], 1.0, "count")
        await until(lambda: bool(talk.heard()))
        assert talk.heard()[0].outcome.text == "2"
        assert await talk.call("UnsubscribePolling", server="teller", target="count") == {"unsubscribed": True}
        assert talk.host.watches == ()


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"type": "tool", "server": "demo", "toolName": "add", "intervalMs": 999}, "intervalMs"),
        ({"type": "tool", "server": "demo"}, "toolName"),
        ({"type": "resource", "server": "demo"}, "uri"),
        ({"type": "prompt", "server": "demo"}, "type"),
        ({"type": "tool", "toolName": "add"}, "server"),
    ],
)
async def test_polling_wants_to_know_what(given: dict[str, Any], parameter: str, home: Home) -> None:
    async with conversation(home) as talk:
        outcome = await talk.tools.call("SubscribePolling", given)
        assert outcome.is_error
        assert parameter in outcome.text
        assert talk.host.watches == ()


async def test_the_interval_is_five_seconds_where_none_is_named(home: Home) -> None:
    async with conversation(home) as talk:
        await talk.call("SubscribePolling", type="resource", server="demo", uri="demo://clock")
        assert [watch.interval for watch in talk.host.watches] == [5.0]


async def test_a_tool_that_is_denied_cannot_be_polled(home: Home, teller: dict[str, Any]) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": teller})
    settings(home, permissions=[{"tool": "mcp__teller__count", "action": "deny"}])
    async with conversation(home, None) as talk:
        outcome = await talk.tools.call("SubscribePolling", {"type": "tool", "server": "teller", "toolName": "count"})
        assert outcome.is_error
        assert talk.host.watches == ()
        settings(home)
        await talk.host.reload()
        assert (await talk.tools.call("mcp__teller__count")).text == "1", "it had never been called"


@pytest.mark.parametrize(("answer", "polled"), [(No("not that"), False), (Allow("once"), True)])
async def test_a_person_is_asked_once_about_a_tool_that_is_polled(
    answer: Answer, polled: bool, home: Home, teller: dict[str, Any]
) -> None:
    asked: list[Any] = []

    async def ask(question: Any) -> Answer:
        asked.append(question.tool)
        return answer

    given = {"type": "tool", "server": "teller", "toolName": "count", "intervalMs": 1000}
    async with conversation(home, teller, policy=None, ask=ask) as talk:
        outcome = await talk.tools.call("SubscribePolling", given)
        assert outcome.is_error is not polled
        if polled:
            await until(lambda: bool(talk.heard()))
        assert len(talk.host.watches) == polled
    assert asked == ["count"]


async def test_a_deny_that_comes_later_ends_the_watch_with_a_word(home: Home, teller: dict[str, Any]) -> None:
    home.write("home/.config/mooring/mcp.json", {"mcpServers": teller})
    settings(home, permissions=[{"tool": "teller.*", "action": "allow"}])
    async with conversation(home, None, policy=None) as talk:
        await talk.call("SubscribePolling", type="tool", server="teller", toolName="count", intervalMs=1000)
        settings(home, permissions=[{"tool": "teller.*", "action": "deny"}])
        await talk.host.reload()
        await until(lambda: bool(talk.heard()))
        last = talk.heard()[-1]
        assert (last.ended, last.outcome.is_error) == (True, True)
        assert "was not called" in last.outcome.text
        assert talk.host.watches == ()


@pytest.mark.parametrize("denied", ["ListMcpResources", "ListMcpResourcesTool"])
@pytest.mark.parametrize("called", ["ListMcpResources", "ListMcpResourcesTool"])
async def test_a_rule_can_deny_one_of_our_own_tools_by_any_of_its_names(denied: str, called: str, home: Home) -> None:
    settings(home, permissions=[{"tool": denied, "action": "deny"}])
    async with conversation(home) as talk:
        assert (await talk.tools.call(called)).text.startswith(f"Error: {denied} was not called")


async def test_a_servers_tool_never_takes_the_place_of_one_of_ours(home: Home, tmp_path: Path) -> None:
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("McpResources", "ToolSearch", "Resources")]
    (tmp_path / "teller.json").write_text(json.dumps({"tools": tools}))
    entry = {"command": sys.executable, "args": ["-S", TELLER, str(tmp_path / "teller.json")]}
    async with conversation(home, {"List": entry, "ListMcp": entry}) as talk:
        ours = {"ListMcpResources", "ReadMcpResource", "ToolSearch", "ToolResult", "SubscribePolling"}
        assert ours.isdisjoint(talk.tools.pairs)
        for name in ("ListMcpResources", "listmcpresources", "List_Mcp_Resources"):
            assert (await talk.tools.call(name)).server is None
        names = [each.name for each in talk.tools.definitions]
        assert len(names) == len(set(names))


async def test_an_agents_own_tool_is_called_as_any_other_and_cannot_take_a_name(home: Home) -> None:
    async with conversation(home) as talk:

        def shout(text: str) -> str:
            return text.upper()

        async with talk.host.conversation(more=[mooring.tool(name="Shout")(shout)]) as tools:
            assert (await tools.call("Shout", {"text": "ahoy"})).text == "AHOY"
            assert "text" in (await tools.call("Shout", {})).text
            assert "Shout" in [each.name for each in tools.definitions]
        with pytest.raises(mooring.ConfigError):
            talk.host.conversation(more=[mooring.tool(name="ToolSearch")(shout)])


async def test_a_tool_that_raises_what_none_should_ends_for_whoever_looks_on(home: Home) -> None:
    async with conversation(home) as talk:

        @mooring.tool
        async def odd() -> None:
            raise asyncio.CancelledError("as if the program itself ended")

        async with talk.host.conversation(more=[odd], on_event=talk.happened.append) as tools:
            with pytest.raises(asyncio.CancelledError):
                await tools.call("odd")
    assert talk.states() == ["pending", "processing", "error"]


# --- searching and deferring --------------------------------------------------------------------------------------


async def test_tools_within_the_budget_are_all_shown(home: Home) -> None:
    async with conversation(home) as talk:
        shown = [each.name for each in talk.tools.definitions]
        assert "mcp__demo__add" in shown
        assert "ToolSearch" not in shown
        assert shown == [each.name for each in talk.host.conversation().definitions]


async def test_tools_beyond_the_budget_are_searched_for_and_callable_after_that(
    home: Home, tmp_path: Path, teller: dict[str, Any]
) -> None:
    with_tools(tmp_path, 500)
    async with conversation(home, teller) as talk:
        before = [each.name for each in talk.tools.definitions]
        assert not [name for name in before if name.startswith("mcp__")]
        early = await talk.tools.call("mcp__teller__delete_ticket_3", {"id": "7"})
        assert early.is_error
        assert "ToolSearch" in early.text
        found = await talk.call("ToolSearch", query="export a calendar of system 7", limit=3)
        assert len(found) == 3
        assert found[0].keys() == {"name", "description", "inputSchema"}
        assert found[0]["name"] == "mcp__teller__export_calendar_7"
        assert (await talk.tools.call(found[0]["name"], {"id": "7"})).text == '{"id": "7"}'
        after = [each.name for each in talk.tools.definitions]
        assert after[: len(before)] == before, "what a model has read stays as it was"
        assert set(after[len(before) :]) == {"mcp__teller__delete_ticket_3", *(each["name"] for each in found)}
        async with talk.host.conversation(loaded=talk.tools.loaded) as resumed:
            assert [each.name for each in resumed.definitions] == after


async def test_a_model_that_searches_reads_a_thirtieth_of_what_it_would(
    home: Home, tmp_path: Path, teller: dict[str, Any]
) -> None:
    with_tools(tmp_path, 500)
    async with conversation(home, teller) as talk, talk.host.conversation(budget=None) as whole:
        all_of_them, shown = tokens(whole), tokens(talk.tools)
        print(f"{all_of_them} tokens, and {shown} where they are searched for")  # noqa: T201
        assert len(whole.definitions) > 500
        assert shown <= 0.03 * all_of_them


def tokens(tools: mooring.Conversation) -> int:
    from mooring.tools.catalog.catalog import estimate_tokens

    return sum(estimate_tokens(json.dumps([each.name, each.description, each.schema])) for each in tools.definitions)


async def test_some_are_always_shown_and_the_budget_is_a_setting(home: Home, teller: dict[str, Any]) -> None:
    home.write(
        "home/.config/mooring/mcp.json",
        {"mcpServers": {"loaded": {**DEMO["demo"], "alwaysLoad": True}, **teller}},
    )
    settings(home, toolBudget=0, alwaysLoad=["teller.c*"])
    async with conversation(home, None) as talk:
        shown = [each.name for each in talk.tools.definitions if each.name.startswith("mcp__")]
        assert "mcp__loaded__add" in shown
        assert [name for name in shown if "teller" in name] == ["mcp__teller__count"]
        assert "teller (3)" in next(each.description for each in talk.tools.definitions if each.name == "ToolSearch")


async def test_an_agent_has_only_the_tools_that_its_globs_name(home: Home, teller: dict[str, Any]) -> None:
    async with conversation(home, {**DEMO, **teller}, allow=["demo.*"], deny=["mcp__demo__f*", "demo.slow"]) as talk:
        assert [tool for _, tool in talk.tools.pairs.values()] == ["add", "ask", "echo", "note", "picture"]
        assert (await talk.tools.call("mcp__teller__count")).text.startswith("Error: ")
        assert (await talk.tools.call("mcp__demo__fail")).text.startswith("Error: Mooring has no tool")
        for tool, given in (
            ("SubscribePolling", {"type": "tool", "server": "teller", "toolName": "count"}),
            ("SubscribePolling", {"type": "tool", "server": "demo", "toolName": "slow"}),
            ("SubscribePolling", {"type": "resource", "server": "teller", "uri": "x://y"}),
            ("ReadMcpResource", {"server": "teller", "uri": "x://y"}),
            ("ListMcpResources", {"server": "teller"}),
            ("ListMcpResources", {"server": "TELLER"}),
        ):
            assert (await talk.tools.call(tool, given)).text.startswith("Error: ")
        assert talk.host.watches == ()
        assert await talk.call("ListMcpResources")
        assert await talk.call("ListMcpResources", server="DEMO")
        async with talk.host.conversation(deny=["*Polling"]) as others:
            assert [each.name for each in others.definitions if "Polling" in each.name] == []
            assert (await others.call("SubscribePolling", {})).text.startswith("Error: Mooring")
        async with talk.host.conversation(deny=["teller.*"]) as others:
            assert (await others.call("ListMcpResources", {"server": "Teller"})).is_error


async def test_a_host_is_searched_by_words(home: Home) -> None:
    async with conversation(home) as talk:
        assert talk.host.search("add two numbers")[0].tool == "add"
        assert talk.host.search("picture", limit=1) == [talk.host.tools[5]]


def test_only_a_conversation_makes_names() -> None:
    source = Path(mooring.__file__).parent
    made = {path.relative_to(source).as_posix() for path in source.rglob("*.py") if "ToolName(" in path.read_text()}
    makers = {f"conversation/{name}.py" for name in ("conversation", "tool", "function", "local_tool")}
    # Another agent's program has its own names for tools, and this passes them on.
    # So does what says events in the words of the last release.
    assert made <= makers | {"tools/provider.py", "backends/bridge/reporter.py", "conversation/old_events.py"}
