"""Calls as tasks through `mooring serve`: a client of either era, a server of either era, and nobody sees another's."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from client import ALL, META, Era, ServeClient
from test_crossings import CROSSINGS
from web import WebServer, WebSession, events, serving

from support import Home

SERVER = Path(__file__).parent / "task_server.py"
PLAIN_SERVER = Path(__file__).parent / "server.py"
TASKS = f"{META}tasks"
KNOWS_TASKS = {**ALL, "extensions": {TASKS: {}}}
RAW = ("--names", "raw", "--permission-mode", "bypass")
ENDED = ("completed", "failed", "cancelled")
SECONDS = 30.0
Json = dict[str, Any]


@pytest.fixture(params=CROSSINGS, ids=lambda pair: f"{pair[0]}-client-{pair[1]}-server")
def eras(request: pytest.FixtureRequest) -> tuple[Era, Era]:
    found: tuple[Era, Era] = request.param
    return found


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    return tmp_path / "gate"


def configure(home: Home, era: Era, notes: Path) -> None:
    home.configure(jobs={"command": sys.executable, "args": [str(SERVER), era, str(notes)]})


class TaskClient:
    """A client that asks for tasks, as its era does."""

    def __init__(self, client: ServeClient) -> None:
        self.client = client
        self.is_old = client.era == "handshake"

    def begin(self, meta: Json | None = None, tool: str = "job", **arguments: Any) -> Json:
        """Call a tool as a task; returns the task."""
        params: Json = {"name": tool, "arguments": arguments}
        if self.is_old:
            params["task"] = {"ttl": 60000}
        result = self.client.request("tools/call", params, meta)
        if self.is_old:
            return result.get("task", result)
        assert result.get("resultType") == "task", result
        return result

    def get(self, task: Json) -> Json:
        return self.client.request("tasks/get", {"taskId": task["taskId"]})

    def wait(self, task: Json, *statuses: str) -> Json:
        """The task, once it is in one of these states."""
        until = time.monotonic() + SECONDS
        while (found := self.get(task))["status"] not in (statuses or ENDED):
            assert time.monotonic() < until, found
            time.sleep(0.02)
        return found

    def result(self, task: Json) -> Json:
        """What came of a task, or its error."""
        if self.is_old:
            return self.client.request("tasks/result", {"taskId": task["taskId"]})
        found = self.wait(task)
        return found.get("result") or {"error": found["error"]}

    def cancel(self, task: Json) -> Json:
        return self.client.request("tasks/cancel", {"taskId": task["taskId"]})


@pytest.fixture
def connect(home: Home, eras: tuple[Era, Era], notes: Path) -> Iterator[Callable[..., TaskClient]]:
    configure(home, eras[1], notes)
    opened: list[ServeClient] = []

    def connect(**options: Any) -> TaskClient:
        opened.append(ServeClient(home, *RAW, era=eras[0], **{"capabilities": KNOWS_TASKS, **options}))
        return TaskClient(opened[-1].__enter__())

    yield connect
    for client in opened:
        client.close()


Connect = Callable[..., TaskClient]


def text(result: Json) -> Any:
    return result["content"][0]["text"]


def release(gate: Path) -> None:
    """Let the jobs end that wait for it."""
    gate.touch()


def read_notes(notes: Path) -> str:
    """What the server noted, once it has noted something."""
    until = time.monotonic() + SECONDS
    while not (notes.exists() and notes.read_text().endswith("\n")):
        assert time.monotonic() < until
        time.sleep(0.02)
    return notes.read_text()


# --- in all four crossings ----------------------------------------------------------------------------------------


def test_a_call_becomes_a_task_that_is_asked_about_until_it_has_its_result(connect: Connect, gate: Path) -> None:
    client = connect()
    task = client.begin(text="hi", gate=str(gate))
    assert task["status"] == "working"
    assert client.get(task)["status"] == "working"
    assert task["pollInterval" if client.is_old else "pollIntervalMs"] == 50
    assert task["ttl" if client.is_old else "ttlMs"] == (60000 if client.is_old else 3600000)
    release(gate)
    result = client.result(task)
    assert text(result) == "hi"
    assert result["_meta"]["kept"] == 1
    if client.is_old:
        assert result["_meta"][f"{META}related-task"] == {"taskId": task["taskId"]}
    found = client.wait(task)
    assert (found["status"], found["statusMessage"]) == ("completed", "done")
    assert found["taskId"] == task["taskId"]


def test_a_task_that_is_cancelled_is_cancelled_at_the_server(connect: Connect, notes: Path, gate: Path) -> None:
    client = connect()
    task = client.begin(text="x", gate=str(gate))
    cancelled = client.cancel(task)
    if client.is_old:
        assert cancelled["status"] == "cancelled"
        assert client.cancel(task)["error"]["code"] == -32602
        assert client.result(task)["error"]["code"] == -32800
    assert client.wait(task)["status"] == "cancelled"
    assert read_notes(notes) == "cancelled x\n"


def test_what_a_task_needs_to_know_is_asked_in_the_way_of_the_clients_era(connect: Connect) -> None:
    client = connect()
    task = client.begin(ask=True)
    found = client.wait(task, "input_required")
    if client.is_old:
        assert json.loads(text(client.result(task))) == {"action": "accept", "content": {"name": "Ada"}}
        [(_, params)] = client.client.asked
        assert params["_meta"] == {f"{META}related-task": {"taskId": task["taskId"]}}
    else:
        [(key, request)] = found["inputRequests"].items()
        assert request["method"] == "elicitation/create"
        answer = {key: {"action": "accept", "content": {"name": "Ada"}}}
        assert client.client.request("tasks/update", {"taskId": task["taskId"], "inputResponses": answer}) == {
            "resultType": "complete"
        }
        assert json.loads(text(client.result(task))) == {"action": "accept", "content": {"name": "Ada"}}
    assert client.wait(task)["status"] == "completed"


def test_a_task_that_fails_says_so_as_its_era_does(connect: Connect, gate: Path) -> None:
    client = connect()
    failed = client.begin(text="no", fail="result", gate=str(gate))
    refused = client.begin(text="never", fail="error", gate=str(gate))
    release(gate)
    result = client.result(failed)
    assert result["isError"]
    assert text(result) == "no"
    # A result that is a failure is a task that failed in the handshake era, and one that is complete in the other.
    assert client.wait(failed)["status"] == ("failed" if client.is_old else "completed")
    assert client.result(refused)["error"] == {"code": -32077, "message": "never"}
    assert client.wait(refused)["status"] == "failed"


def test_status_and_progress_of_a_task_are_passed_on(connect: Connect, gate: Path, eras: tuple[Era, Era]) -> None:
    client = connect()
    if client.is_old:
        task = client.begin({"progressToken": "mine"}, text="hi", gate=str(gate))
        method = "notifications/tasks/status"
        if eras[1] == "handshake":
            # In the other era, servers report no progress of tasks.
            assert client.client.wait_note("notifications/progress")["progressToken"] == "mine"
    else:
        task = client.begin(text="hi", gate=str(gate))
        wanted = {"taskIds": [task["taskId"], "another"]}
        client.client.begin("subscriptions/listen", {"notifications": wanted})
        granted = client.client.wait_note("notifications/subscriptions/acknowledged")
        assert granted["notifications"] == {"taskIds": [task["taskId"]]}
        method = "notifications/tasks"
    release(gate)
    told = client.client.wait_note(method)
    while told["status"] == "working":
        client.client.notes.clear()
        told = client.client.wait_note(method)
    assert (told["taskId"], told["status"]) == (task["taskId"], "completed")
    if not client.is_old:
        assert text(told["result"]) == "hi"


def test_a_client_that_asks_for_no_task_gets_the_result_itself(connect: Connect, eras: tuple[Era, Era]) -> None:
    client = connect(capabilities=ALL)
    assert text(client.client.call("job", text="hi")) == "hi"
    if eras[0] == "stateless":
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            assert client.client.request(method, {"taskId": "x"})["error"]["code"] == -32021
        refused = client.client.request("subscriptions/listen", {"notifications": {"taskIds": ["x"]}})
        assert refused["error"]["code"] == -32021


def test_a_tool_says_whether_it_may_be_a_task_to_clients_that_ask_for_them(
    connect: Connect, eras: tuple[Era, Era]
) -> None:
    client = connect()
    tools = {tool["name"]: tool for tool in client.client.request("tools/list")["tools"]}
    if eras[0] == "stateless":
        assert all("execution" not in tool for tool in tools.values())
        assert text(client.client.call("plain")) == "plain"
        return
    # None has to be one: clients that know no tasks would refuse to call it.
    assert tools["job"]["execution"] == {"taskSupport": "optional"}
    if eras[1] == "handshake":
        assert "execution" not in tools["plain"]
        assert client.begin(tool="plain")["error"]["code"] == -32601
    else:
        # A server of the stateless era decides with each call, and answered this one at once.
        task = client.begin(tool="plain")
        assert task["status"] == "completed"
        assert text(client.result(task)) == "plain"


# --- clients beside each other ------------------------------------------------------------------------------------


class WebTasks:
    """One client over HTTP, of either era."""

    def __init__(self, server: WebServer, session: WebSession | None) -> None:
        self.server, self.session = server, session

    async def request(self, method: str, params: Json) -> Json:
        if self.session is not None:
            return await self.session.request(method, params)
        return await self.server.stateless(method, params, KNOWS_TASKS)

    async def begin(self, **arguments: Any) -> Json:
        params = {"name": "job", "arguments": arguments}
        if self.session is None:
            created: Json = (await self.request("tools/call", params))["result"]
            return created
        made: Json = (await self.request("tools/call", {**params, "task": {}}))["result"]["task"]
        return made

    async def get(self, task: Json) -> Json:
        return await self.request("tasks/get", {"taskId": task["taskId"]})

    async def result(self, task: Json) -> Json:
        if self.session is not None:
            return (await self.request("tasks/result", {"taskId": task["taskId"]}))["result"]  # type: ignore[no-any-return]
        while True:
            found = (await self.get(task))["result"]
            if found["status"] in ENDED:
                return found["result"]  # type: ignore[no-any-return]
            await asyncio.sleep(0.02)


@pytest.mark.parametrize("server_era", ["handshake", "stateless"])
@pytest.mark.parametrize("client_era", ["handshake", "stateless"])
async def test_fifty_tasks_of_each_of_two_clients_are_each_clients_own(
    home: Home, notes: Path, gate: Path, client_era: Era, server_era: Era
) -> None:
    configure(home, server_era, notes)
    async with serving(home, *RAW) as server:
        is_old = client_era == "handshake"
        clients = [WebTasks(server, await server.session() if is_old else None) for _ in range(2)]
        begun = [
            await asyncio.gather(*(client.begin(text=f"{who}-{n}", gate=str(gate)) for n in range(50)))
            for who, client in enumerate(clients)
        ]
        ids = [{task["taskId"] for task in tasks} for tasks in begun]
        assert len(ids[0] | ids[1]) == 100
        if is_old:
            for who, client in enumerate(clients):
                listed = (await client.request("tasks/list", {}))["result"]["tasks"]
                assert {task["taskId"] for task in listed} == ids[who]
            for method in ("tasks/get", "tasks/result", "tasks/cancel"):
                answer = await clients[1].request(method, {"taskId": begun[0][0]["taskId"]})
                assert answer["error"]["code"] == -32602
        for method in ("tasks/get", "tasks/cancel"):
            # The server's own ids are easy to guess, and mean nothing here.
            assert (await clients[1].request(method, {"taskId": "job-1"}))["error"]["code"] == -32602
        release(gate)
        for who, client in enumerate(clients):
            results = await asyncio.gather(*map(client.result, begun[who]))
            assert [text(result) for result in results] == [f"{who}-{n}" for n in range(50)]
        # Nobody cancelled anything.
        assert not os.path.exists(notes)  # noqa: ASYNC240 - one look


async def test_tasks_of_one_era_cannot_be_reached_from_the_other(home: Home, notes: Path, gate: Path) -> None:
    configure(home, "handshake", notes)
    async with serving(home, *RAW) as server:
        old, new = WebTasks(server, await server.session()), WebTasks(server, None)
        first, second = await old.begin(gate=str(gate)), await new.begin(gate=str(gate))
        assert (await new.get(first))["error"]["code"] == -32602
        assert (await old.get(second))["error"]["code"] == -32602


async def test_a_task_goes_on_while_its_client_is_away_and_ends_with_its_session(
    home: Home, notes: Path, gate: Path
) -> None:
    configure(home, "handshake", notes)
    async with serving(home, *RAW) as server:
        session = await server.session()
        client = WebTasks(server, session)
        task = await client.begin(text="away", gate=str(gate))
        # A client that stops waiting for the result does not cancel the task.
        asking = asyncio.ensure_future(client.result(task))
        await asyncio.sleep(0.1)
        asking.cancel()
        assert (await client.get(task))["result"]["status"] == "working"
        assert await session.end() == 204
        assert await asyncio.to_thread(read_notes, notes) == "cancelled away\n"


async def test_what_a_task_asks_over_http_comes_on_the_stream_of_the_request_for_its_result(
    home: Home, notes: Path
) -> None:
    configure(home, "handshake", notes)
    async with serving(home, *RAW) as server:
        session, other = await server.session(), await server.session()
        client = WebTasks(server, session)
        task = await client.begin(ask=True)
        async with (
            await other.listen() as elsewhere,
            await session.open("tasks/result", {"taskId": task["taskId"]}) as answer,
        ):
            stream = events(answer)
            question = await anext(stream)
            assert question["method"] == "elicitation/create"
            reply = {"id": question["id"], "result": {"action": "accept", "content": {"name": "Ada"}}}
            async with await session.post(reply) as taken:
                assert taken.status == 202
            messages = [message async for message in stream]
            assert "Ada" in text(messages[-1]["result"])
            assert {message["method"] for message in messages[:-1]} <= {"notifications/tasks/status"}
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await anext(events(elsewhere))


async def test_a_question_of_a_task_that_is_cancelled_is_taken_back(home: Home, notes: Path) -> None:
    configure(home, "handshake", notes)
    async with serving(home, *RAW) as server:
        session = await server.session()
        client = WebTasks(server, session)
        task = await client.begin(ask=True)
        async with await session.open("tasks/result", {"taskId": task["taskId"]}) as answer:
            stream = events(answer)
            question = await anext(stream)
            cancelled = await client.request("tasks/cancel", {"taskId": task["taskId"]})
            assert cancelled["result"]["status"] == "cancelled"
            messages = [message async for message in stream]
        assert messages[-1]["error"]["code"] == -32800
        [withdrawn] = [each["params"] for each in messages if each.get("method") == "notifications/cancelled"]
        assert withdrawn["requestId"] == question["id"]


def test_a_server_without_tasks_makes_none(home: Home) -> None:
    home.configure(box={"command": sys.executable, "args": [str(PLAIN_SERVER), "handshake"]})
    with ServeClient(home, *RAW) as client:
        tools = client.request("tools/list")["tools"]
        assert all("execution" not in tool for tool in tools)
        refused = client.request("tools/call", {"name": "pid", "arguments": {}, "task": {}})
        assert refused["error"]["code"] == -32601
        unknown = client.request("tools/call", {"name": "nothing", "arguments": {}, "task": {}})
        assert unknown["error"] == {"code": -32602, "message": "Unknown tool: nothing"}
    with ServeClient(home, *RAW, era="stateless", capabilities=KNOWS_TASKS) as client:
        assert client.call("pid")["resultType"] == "complete"


@pytest.mark.parametrize("version", ["2025-06-18", "2024-11-05"])
def test_a_client_of_a_revision_without_tasks_sees_none(home: Home, notes: Path, version: str) -> None:
    configure(home, "handshake", notes)
    client = ServeClient(home, *RAW)
    hello = client.initialize(version)
    assert "tasks" not in hello["capabilities"]
    assert all("execution" not in tool for tool in client.request("tools/list")["tools"])
    assert text(client.call("job", text="hi")) == "hi"
    client.close()
