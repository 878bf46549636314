"""A host used the wrong way: one clear error each, and nothing is left behind."""

import asyncio
import inspect
import os
from collections.abc import Callable
from typing import Any

import pytest

import mooring
import mooring.testing
from support import DEMO, Home, running

SERVERS = {"demo": DEMO}
OLD_NAMES = {"registry", "viewpoint"}
"""They warn before they do anything."""
PROPERTIES = [
    name for name, member in inspect.getmembers(mooring.Host) if isinstance(member, property) and name not in OLD_NAMES
]
METHODS = [
    name
    for name, member in inspect.getmembers(mooring.Host, inspect.isfunction)
    if not name.startswith("_") and name not in {"close", *OLD_NAMES}
]
FILLERS = {"name": "demo.echo", "arguments": {}, "error": None, "held": None, "off": True, "words": "x", "ref": {}}


@pytest.fixture
def nonce(monkeypatch: pytest.MonkeyPatch) -> str:
    """Marks every process of the test, so that those that are left can be counted."""
    nonce = os.urandom(8).hex()
    monkeypatch.setenv("MOORING_TEST", nonce)
    return nonce


def make_host(home: Home, **options: Any) -> mooring.Host:
    return mooring.open(request=home.request(), **{"servers": SERVERS, **options})


async def use_method(host: mooring.Host, name: str) -> Any:
    method = getattr(host, name)
    required = [
        parameter.name
        for parameter in inspect.signature(method).parameters.values()
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD
    ]
    # `held` and `off` take their own kinds, and are never looked at before the host is.
    answer = method(**{name: FILLERS.get(name, "demo") for name in required})
    return await answer if inspect.isawaitable(answer) else answer


@pytest.mark.parametrize("name", METHODS)
async def test_a_method_of_a_host_that_is_not_open_says_how_to_open_it(home: Home, name: str) -> None:
    with pytest.raises(mooring.ConfigError, match="not open yet"):
        await use_method(make_host(home), name)


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_of_a_host_that_is_not_open_says_how_to_open_it(home: Home, name: str) -> None:
    with pytest.raises(mooring.ConfigError, match="not open yet"):
        getattr(make_host(home), name)


async def test_a_host_that_was_closed_says_so_whatever_it_is_asked(home: Home) -> None:
    async with make_host(home) as host:
        pass
    for name in METHODS:
        with pytest.raises(mooring.ConfigError, match="This host is closed"):
            await use_method(host, name)
    for name in set(PROPERTIES) - {"troubles"}:
        with pytest.raises(mooring.ConfigError, match="This host is closed"):
            getattr(host, name)
    assert host.troubles == ()


async def test_a_host_is_entered_once_and_the_second_time_leaves_no_process(home: Home, nonce: str) -> None:
    host = make_host(home, policy="allow")
    async with host:
        await host.call("demo.echo", {"text": "x"})
        before = sorted(running(nonce))
        with pytest.raises(mooring.ConfigError, match="open already"):
            await host.__aenter__()
        assert sorted(running(nonce)) == before
        assert (await host.call("demo.echo", {"text": "still here"})).text == "still here"
    with pytest.raises(mooring.ConfigError, match="This host is closed"):
        await host.__aenter__()
    assert await wait_for(lambda: not running(nonce))


async def test_two_tasks_cannot_open_one_host(home: Home) -> None:
    host = make_host(home)
    opened = await asyncio.gather(host.__aenter__(), host.__aenter__(), return_exceptions=True)
    assert opened[0] is host
    assert isinstance(opened[1], mooring.ConfigError)
    await host.close()
    await host.close()  # a second time does nothing


async def test_closing_a_host_that_was_never_opened_does_nothing(home: Home) -> None:
    host = make_host(home)
    await host.close()
    async with host:
        assert list(host.servers) == ["demo"]


async def test_a_registry_of_a_closed_host_is_closed_too(home: Home) -> None:
    async with make_host(home, policy="allow") as host:
        registry = host.conversation()
    with pytest.raises(mooring.ConfigError, match="the conversation is closed"):
        await registry.call("mcp__demo__echo", {"text": "x"})


@pytest.mark.parametrize("ask", [3, "yes", mooring.Yes()])
async def test_an_ask_that_is_no_function_is_refused_at_once(home: Home, ask: Any) -> None:
    with pytest.raises(TypeError, match="ask takes an async function that returns Yes, Allow or No"):
        make_host(home, ask=ask)
    async with make_host(home) as host:
        with pytest.raises(TypeError, match="ask takes an async function"):
            host.conversation(ask=ask)


async def answer_true(question: mooring.Question) -> Any:
    return True


def answer_at_once(question: mooring.Question) -> Any:
    return mooring.Yes()


WRONG = [
    (answer_true, r"for a Permission, it returned True"),
    (answer_at_once, r"ask has to be an async function; it returned Yes\("),
]


@pytest.mark.parametrize(("ask", "words"), WRONG, ids=["returns True", "is not async"])
async def test_a_wrong_answer_is_an_error_of_the_call_and_the_next_one_works(
    home: Home, nonce: str, ask: Callable[[Any], Any], words: str
) -> None:
    async with make_host(home, ask=ask) as host:
        with pytest.raises(TypeError, match=words):
            await host.call("demo.echo", {"text": "x"})
        async with host.conversation() as tools:
            with pytest.raises(TypeError, match=words):
                await tools.call("mcp__demo__echo", {"text": "x"})
        async with host.conversation(policy="allow") as tools:
            assert (await tools.call("mcp__demo__echo", {"text": "fine"})).text == "fine"
    assert await wait_for(lambda: not running(nonce))


async def test_an_ask_may_be_an_object_or_return_a_task(home: Home) -> None:
    class Person:
        async def __call__(self, question: mooring.Question) -> mooring.Answer:
            return mooring.Allow()

    for ask in (Person(), lambda question: asyncio.ensure_future(Person()(question))):
        async with make_host(home, ask=ask) as host:
            assert (await host.call("demo.echo", {"text": "x"})).text == "x"


async def test_a_policy_or_a_rule_that_does_not_exist_is_refused_at_once(home: Home) -> None:
    with pytest.raises(
        mooring.ConfigError, match="policy is one of allow, plan, ask, edits, accept-reads, bypass, not 'alow'"
    ):
        make_host(home, policy="alow")
    for rules in (["demo.echo"], "demo.echo", [{"tool": "demo.echo", "action": "allow"}]):
        with pytest.raises(mooring.ConfigError, match="rules takes"):
            make_host(home, rules=rules)
    async with make_host(home) as host:
        with pytest.raises(mooring.ConfigError, match="policy is one of"):
            host.conversation(policy="alow")  # type: ignore[arg-type]
        with pytest.raises(mooring.ConfigError, match="rules takes"):
            host.conversation(rules=["demo.echo"])  # type: ignore[list-item]


def make_silent_server() -> mooring.testing.Server:
    """A server that lists a tool and then answers nothing but pings."""
    server = mooring.testing.Server("silent")

    async def hang(*_: Any) -> Any:
        await asyncio.sleep(3600)

    server.answer("tools/list", lambda params, call: {"tools": [{"name": "wait", "inputSchema": {"type": "object"}}]})
    server.answer("resources/list", lambda params, call: {"resources": [{"uri": "x://y", "name": "y"}]})
    for method in ("tools/call", "resources/read", "prompts/get", "prompts/list", "completion/complete"):
        server.answer(method, hang)
    return server


@pytest.mark.parametrize("limit", [0.2, mooring.Timeout(0.2, 5), mooring.Timeout(None, 0.2)], ids=str)
async def test_a_timeout_is_seconds_or_a_timeout_wherever_one_is_taken(
    home: Home, limit: float | mooring.Timeout
) -> None:
    server = make_silent_server()
    prompt = {"type": "ref/prompt", "name": "x"}
    async with make_host(home, servers=server, policy="allow", timeout=limit) as host:
        assert await host.ready(mooring.Timeout(None, 20)) == {}
        for work in (
            host.call("silent.wait"),
            host.call("silent.wait", timeout=limit),
            host.read("silent", "x://y", timeout=limit),
            host.prompts("silent", timeout=limit),
            host.prompt("silent", "x", timeout=limit),
            host.complete("silent", prompt, "a", "b", timeout=limit),
        ):
            with pytest.raises(mooring.TimedOut, match=r"within 0\.2 s"):
                await work
    async with mooring.connect(server, timeout=limit) as session:
        for asked in (
            session.call_tool("wait"),
            session.call_tool("wait", timeout=limit),
            session.read_resource("x://y", timeout=limit),
            session.get_prompt("x", timeout=limit),
            session.complete(prompt, "a", "b", timeout=limit),
        ):
            with pytest.raises(mooring.TimedOut, match=r"within 0\.2 s"):
                await asked
        await session.ping(limit)


@pytest.mark.parametrize("limit", ["5", True])
async def test_a_timeout_that_is_neither_is_refused_with_what_it_takes(home: Home, limit: Any) -> None:
    with pytest.raises(TypeError, match="timeout takes a number of seconds"):
        make_host(home, timeout=limit)
    async with make_host(home, policy="allow") as host:
        with pytest.raises(TypeError, match="timeout takes a number of seconds"):
            await host.call("demo.echo", {"text": "x"}, timeout=limit)
        with pytest.raises(TypeError, match="timeout takes a number of seconds"):
            await host.ready(limit)


async def wait_for(holds: Callable[[], bool]) -> bool:
    for _ in range(200):
        if holds():
            return True
        await asyncio.sleep(0.02)
    return False
