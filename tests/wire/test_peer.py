"""Requests, their deadlines and their cancellation; what the server asks and says of its own accord."""

import asyncio
import gc

import pytest

from mooring.core.protocol.failure import Ending
from mooring.core.protocol.limits import Limits, Timeout
from mooring.errors import BadArguments, Closed, ProtocolError, RpcError, ServerDied, TimedOut
from mooring.testing import Server
from mooring.wire.session.client import Client, Root

pytestmark = pytest.mark.swift

SHORT = Timeout(0.05, 0.05)
LATE = 0.005  # seconds that a deadline may be late on a clock that waits for nobody


@pytest.fixture
def server():
    server = Server()
    server.gates = {}

    @server.tool
    async def gated(name: str) -> str:
        """Answers when the test opens its gate."""
        gate = server.gates.setdefault(name, asyncio.Event())
        await gate.wait()
        return name

    @server.tool
    def echo(text: str) -> str:
        """Answers at once."""
        return text

    return server


def find_sent(server, method):
    return [message for message in server.received if message.get("method") == method]


async def wait_until(condition):
    while not condition():  # noqa: ASYNC110 - what is waited for lives in the server, which knows nothing of tests
        await asyncio.sleep(0.001)


async def test_answers_out_of_order_find_their_requests(server):
    async with await server.session() as session:
        names = ["a", "b", "c"]
        calls = [asyncio.ensure_future(session.call_tool("gated", {"name": name})) for name in names]
        await wait_until(lambda: len(server.gates) == 3)
        for name in reversed(names):
            server.gates[name].set()
            await asyncio.sleep(0)
        assert [result.text for result in await asyncio.gather(*calls)] == names


async def test_a_cancelled_call_tells_the_server_without_waiting(server):
    async with await server.session() as session:
        call = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
        await wait_until(lambda: server.gates)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await wait_until(lambda: find_sent(server, "notifications/cancelled"))
        asked = find_sent(server, "tools/call")[0]["id"]
        assert find_sent(server, "notifications/cancelled")[0]["params"]["requestId"] == asked
        assert session.in_flight == 0


async def test_an_answer_that_comes_after_all_is_counted_and_ignored(server):
    async with await server.session() as session:
        with pytest.raises(TimedOut):
            await session.call_tool("gated", {"name": "a"}, timeout=SHORT)
        server.write({"id": find_sent(server, "tools/call")[0]["id"], "result": {"content": []}})
        assert (await session.call_tool("echo", {"text": "x"})).text == "x"
        assert session.anomalies.late == 1


async def test_a_deadline_cancels_at_the_server_and_says_that_the_call_may_have_run(server):
    async with await server.session() as session:
        with pytest.raises(
            TimedOut, match=r"memory did not answer tools/call within 0.05 s. It may have run"
        ) as caught:
            await session.call_tool("gated", {"name": "a"}, timeout=Timeout(0.05, 10))
        assert caught.value.may_have_run
        assert caught.value.retry
        await wait_until(lambda: find_sent(server, "notifications/cancelled"))


async def test_many_deadlines_are_each_kept(server):
    async with await server.session() as session:
        loop = asyncio.get_running_loop()
        began = loop.time()

        async def wait(i):
            with pytest.raises(TimedOut):
                await session.call_tool("gated", {"name": str(i)}, timeout=Timeout(0.02 * (i % 5 + 1), 10))
            return loop.time() - began

        waited = await asyncio.gather(*(wait(i) for i in range(100)))
        assert waited == pytest.approx([0.02 * (i % 5 + 1) for i in range(100)], abs=LATE)


async def test_progress_extends_the_idle_deadline_and_never_the_whole_one(server):
    @server.tool
    async def busy(call) -> str:
        while True:
            call.progress(1)
            await asyncio.sleep(0.02)

    steps = []
    async with await server.session() as session:
        loop = asyncio.get_running_loop()
        began = loop.time()
        with pytest.raises(TimedOut):
            await session.call_tool("busy", timeout=Timeout(0.1, 0.4), on_progress=steps.append)
        assert loop.time() - began == pytest.approx(0.4, abs=LATE)
        assert len(steps) >= 5


async def test_progress_reaches_the_caller_before_the_result(server):
    @server.tool
    async def steps(call) -> str:
        for i in range(3):
            call.progress(i, 3, f"step {i}")
        return "done"

    seen = []
    async with await server.session() as session:
        assert (await session.call_tool("steps", on_progress=seen.append)).text == "done"
        assert [(step.progress, step.total, step.message) for step in seen] == [
            (0, 3, "step 0"),
            (1, 3, "step 1"),
            (2, 3, "step 2"),
        ]


async def test_one_at_a_time_means_one_at_a_time(server):
    async with await server.session(limits=Limits(in_flight=1)) as session:
        calls = [asyncio.ensure_future(session.call_tool("gated", {"name": name})) for name in "abc"]
        await wait_until(lambda: server.gates)
        assert list(server.gates) == ["a"]
        calls[1].cancel()
        await asyncio.sleep(0)
        server.gates["a"].set()
        await wait_until(lambda: "c" in server.gates)
        server.gates["c"].set()
        assert (await calls[2]).text == "c"
        assert list(server.gates) == ["a", "c"], "a call cancelled while it waits is never sent"
        assert not find_sent(server, "notifications/cancelled")


async def test_a_request_that_was_not_sent_yet_cannot_be_answered(server):
    async with await server.session(limits=Limits(in_flight=1)) as session:
        calls = [asyncio.ensure_future(session.call_tool("gated", {"name": name})) for name in "ab"]
        await wait_until(lambda: server.gates)
        forged = find_sent(server, "tools/call")[0]["id"] + 1
        server.write({"id": forged, "result": {"content": [{"type": "text", "text": "forged"}]}})
        await wait_until(lambda: session.anomalies.late)
        for name in "ab":
            await wait_until(lambda name=name: name in server.gates)
            server.gates[name].set()
        assert [(await call).text for call in calls] == ["a", "b"]


async def test_waiting_for_its_turn_counts_towards_the_deadline(server):
    async with await server.session(limits=Limits(in_flight=1)) as session:
        first = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
        await wait_until(lambda: server.gates)
        with pytest.raises(TimedOut) as caught:
            await session.call_tool("echo", {"text": "x"}, timeout=SHORT)
        assert not caught.value.may_have_run
        server.gates["a"].set()
        await first


@pytest.mark.parametrize("arguments", [{"x": object()}, {"x": "\ud800"}])
async def test_arguments_that_are_no_json_are_refused_and_nothing_is_sent(server, arguments):
    async with await server.session() as session:
        with pytest.raises(BadArguments, match="cannot be written as JSON"):
            await session.call_tool("echo", arguments)
        assert session.in_flight == 0
        assert not find_sent(server, "tools/call")


async def test_any_number_of_bad_requests_may_wait_their_turn(server):
    async with await server.session(limits=Limits(in_flight=1)) as session:
        first = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
        bad = [asyncio.ensure_future(session.call_tool("echo", {"x": object()})) for _ in range(3000)]
        last = asyncio.ensure_future(session.call_tool("echo", {"text": "last"}))
        await wait_until(lambda: server.gates)
        server.gates["a"].set()
        assert (await first).text == "a"
        assert (await last).text == "last"
        assert {type(outcome) for outcome in await asyncio.gather(*bad, return_exceptions=True)} == {BadArguments}


async def test_a_server_that_dies_fails_every_call_at_once(server):
    async with await server.session() as session:
        calls = [asyncio.ensure_future(session.call_tool("gated", {"name": str(i)})) for i in range(5)]
        await wait_until(lambda: len(server.gates) == 5)
        server.die(Ending(exit_code=7, stderr=("boom",)))
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [(type(error), error.exit_code) for error in outcomes] == [(ServerDied, 7)] * 5
        assert "boom" in str(outcomes[0])
        with pytest.raises(ServerDied):
            await session.call_tool("echo", {"text": "x"})


async def test_a_call_cancelled_while_its_server_dies_leaves_nothing_unheard(server):
    reported = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))
    session = await server.session()
    call = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
    await wait_until(lambda: server.gates)
    server.die()
    asyncio.get_running_loop().call_soon(call.cancel)
    outcome = await asyncio.gather(call, return_exceptions=True)
    assert isinstance(outcome[0], asyncio.CancelledError)
    del call, outcome
    gc.collect()
    assert reported == []


async def test_closing_fails_what_is_under_way_and_what_follows(server):
    session = await server.session()
    call = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
    await wait_until(lambda: server.gates)
    await session.close()
    with pytest.raises(Closed) as caught:
        await call
    assert caught.value.may_have_run
    with pytest.raises(Closed):
        await session.call_tool("echo", {"text": "x"})
    await session.close()


async def test_an_error_of_the_server_keeps_its_code_and_data(server):
    from mooring.testing import Refused

    def refuse(params, call):
        raise Refused(-32042, "go there", {"url": "https://example.com"})

    server.answer("tools/call", refuse)
    async with await server.session() as session:
        with pytest.raises(RpcError) as caught:
            await session.call_tool("echo", {"text": "x"})
        assert (caught.value.code, caught.value.message) == (-32042, "go there")
        assert caught.value.data == {"url": "https://example.com"}


@pytest.mark.parametrize("error", ["null", '"text"', "5", "{}", '{"code":"x","message":5}'])
async def test_an_error_in_no_proper_shape_still_fails_the_call(server, error):
    async with await server.session() as session:
        call = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
        await wait_until(lambda: server.gates)
        server.say(b'{"jsonrpc":"2.0","id":%d,"error":%b}' % (find_sent(server, "tools/call")[0]["id"], error.encode()))
        with pytest.raises(RpcError):
            await call


async def test_a_null_error_beside_a_result_is_no_error(server):
    async with await server.session() as session:
        call = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
        await wait_until(lambda: server.gates)
        server.write({"id": find_sent(server, "tools/call")[0]["id"], "result": {"content": []}, "error": None})
        assert (await call).content == ()


@pytest.mark.parametrize("result", [b"null", b"[]", b"5", b'{"content":5}'])
async def test_a_result_in_no_proper_shape_fails_the_call(server, result):
    async with await server.session() as session:
        call = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
        await wait_until(lambda: server.gates)
        server.say(b'{"jsonrpc":"2.0","id":%d,"result":%b}' % (find_sent(server, "tools/call")[0]["id"], result))
        with pytest.raises(ProtocolError, match="gated"):
            await call


async def test_a_request_of_the_server_never_counts_as_an_answer(server):
    async with await server.session() as session:
        call = asyncio.ensure_future(session.call_tool("gated", {"name": "a"}))
        await wait_until(lambda: server.gates)
        key = find_sent(server, "tools/call")[0]["id"]
        for line in (b'{"id":%d,"method":"ping"}', b'{"id":%d,"method":5}', b'{"id":%d,"method":"ping","params":'):
            server.say(line % key)
        assert (await session.call_tool("echo", {"text": "behind them"})).text == "behind them"
        assert not call.done()
        server.gates["a"].set()
        assert (await call).text == "a"


async def test_pings_are_answered_and_unknown_requests_refused(server):
    async with await server.session():
        assert (await server.ask("ping"))["result"] == {}
        assert (await server.ask("no/such"))["error"]["code"] == -32601
        assert (await server.ask("roots/list"))["error"]["code"] == -32601


async def test_roots_sampling_and_elicitation_are_answered_by_those_given(server):
    async def sample(params):
        return {"role": "assistant", "content": {"type": "text", "text": params["messages"][0]}, "model": "m"}

    async def elicit(params):
        raise RpcError("", -32000, "not now")

    client = Client(roots=lambda: [Root("file:///work", "work")], sample=sample, elicit=elicit)
    async with await server.session(client=client):
        assert find_sent(server, "initialize")[0]["params"]["capabilities"] == {
            "roots": {"listChanged": True},
            "sampling": {},
            "elicitation": {"form": {}},
        }
        assert (await server.ask("roots/list"))["result"] == {"roots": [{"uri": "file:///work", "name": "work"}]}
        sampled = await server.ask("sampling/createMessage", {"messages": ["hi"]})
        assert sampled["result"]["content"]["text"] == "hi"
        assert (await server.ask("elicitation/create", {}))["error"] == {"code": -32000, "message": "not now"}
        assert (await server.ask("sampling/createMessage", []))["error"]["code"] == -32602


async def test_an_answer_that_fails_says_nothing_of_why_to_the_server(server):
    reported = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))

    async def sample(params):
        raise ValueError("the secret is 42")

    async def elicit(params):
        return {"content": object()}

    async with await server.session(client=Client(sample=sample, elicit=elicit)):
        refused = await server.ask("sampling/createMessage", {})
        assert refused["error"] == {"code": -32603, "message": "Internal error"}
        assert (await server.ask("elicitation/create", {}))["error"]["code"] == -32603
        assert [type(context["exception"]) for context in reported] == [ValueError, TypeError]


async def test_requests_beyond_the_budget_are_refused(server):
    gate = asyncio.Event()

    async def sample(params):
        await gate.wait()
        return {}

    async with await server.session(client=Client(sample=sample), limits=Limits(inbound=2)) as session:
        asked = [asyncio.ensure_future(server.ask("sampling/createMessage", {})) for _ in range(5)]
        await wait_until(lambda: session.anomalies.refused == 3)
        gate.set()
        answers = await asyncio.gather(*asked)
        assert sum("error" in answer for answer in answers) == 3


async def test_a_request_that_the_server_takes_back_is_stopped_and_not_answered(server):
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def sample(params):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with await server.session(client=Client(sample=sample)):
        server.write({"id": "q1", "method": "sampling/createMessage", "params": {}})
        await begun.wait()
        server.notify("notifications/cancelled", {"requestId": "q1"})
        await stopped.wait()
        assert (await server.ask("ping"))["result"] == {}
        assert not [message for message in server.received if message.get("id") == "q1"]


async def test_closing_stops_what_the_server_had_asked_for(server):
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def sample(params):
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async with await server.session(client=Client(sample=sample)):
        server.write({"id": "q1", "method": "sampling/createMessage", "params": {}})
        await begun.wait()
    assert stopped.is_set()


async def test_logs_and_updates_are_heard_in_order(server):
    heard = []
    client = Client(on_log=lambda log: heard.append(log.data), on_update=heard.append, on_elicited=heard.append)
    async with await server.session(client=client):
        server.notify("notifications/message", {"level": "info", "data": {"a": 1}})
        server.notify("notifications/resources/updated", {"uri": "file:///x"})
        server.notify("notifications/resources/updated", {"uri": 5})
        server.notify("notifications/message", "nonsense")
        server.notify("notifications/elicitation/complete", {"elicitationId": "e1"})
        await wait_until(lambda: len(heard) == 3)
        assert heard == [{"a": 1}, "file:///x", "e1"]


async def test_logs_beyond_the_budget_are_dropped_and_counted(server):
    heard = []
    async with await server.session(client=Client(on_log=heard.append)) as session:
        for i in range(250):
            server.notify("notifications/message", {"level": "info", "data": i})
        await wait_until(lambda: len(heard) + session.anomalies.dropped_logs == 250)
        assert len(heard) == 100


async def test_changes_of_a_list_are_merged_and_the_last_is_never_lost(server):
    heard, times = [], []

    def hear(what):
        heard.append(what)
        times.append(asyncio.get_running_loop().time())

    async with await server.session(client=Client(on_change=hear), limits=Limits(change_interval=0.1)):
        for _ in range(50):
            server.notify("notifications/tools/list_changed")
        server.notify("notifications/prompts/list_changed")
        await wait_until(lambda: len(heard) == 3)
        await asyncio.sleep(0.15)
        assert heard == ["tools", "prompts", "tools"]
        assert times[2] - times[0] == pytest.approx(0.1, abs=LATE)


async def test_a_listener_that_fails_costs_neither_the_reader_nor_a_call(server):
    reported = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: reported.append(context))

    def fail(log):
        raise ValueError(log)

    async with await server.session(client=Client(on_log=fail)) as session:
        server.notify("notifications/message", {"level": "info", "data": 1})
        assert (await session.call_tool("echo", {"text": "x"})).text == "x"
        assert len(reported) == 1


async def test_a_change_of_roots_is_told(server):
    async with await server.session(client=Client(roots=list)) as session:
        session.roots_changed()
        await wait_until(lambda: find_sent(server, "notifications/roots/list_changed"))
