"""`mooring serve --http` under pressure: silent connections, unread answers, many sessions, and an end in the middle."""

import asyncio
import json
import os
import resource
import signal
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from msgspec import Raw
from web import WebServer, WebSession, read_answer, serving

from mooring.serve.http.outgoing import MOST_UNREAD, Spills, UnreadBudget, cut_into_pieces
from mooring.serve.http.sessions import SessionTransport
from mooring.wire.rpc.message import Frame, Response
from support import Home

SERVER = str(Path(__file__).parent / "server.py")
RAW = ("--names", "raw", "--permission-mode", "bypass")
MIB = 1024 * 1024
CROWD = """
import resource, socket, sys
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
links = [socket.create_connection((host, port), 30) for _ in range(count)]
print("open", flush=True)
sys.stdin.readline()
"""


def configure(home: Home, **more: Any) -> None:
    home.configure(box={"command": sys.executable, "args": [SERVER, "handshake"], **more})


def text(answer: Any) -> Any:
    return answer["result"]["content"][0]["text"]


# --- silent connections -----------------------------------------------------------------------------------------------


@asynccontextmanager
async def silent_crowd(server: WebServer, count: int) -> AsyncIterator[None]:
    """Connections that send nothing, from a program of their own."""
    host, port = server.url.removeprefix("http://").removesuffix("/mcp").split(":")
    crowd = await asyncio.create_subprocess_exec(
        sys.executable, "-c", CROWD, host, port, str(count),
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    assert crowd.stdout is not None
    try:
        assert await asyncio.wait_for(crowd.stdout.readline(), 100) == b"open\n"
        yield
    finally:
        await crowd.communicate(b"end\n")


async def test_silent_connections_stop_neither_a_client_with_a_token_nor_a_record_nor_a_restart(home: Home) -> None:
    configure(home)
    async with serving(home, *RAW, ulimit="-n 1024") as server:
        session = await server.session()
        first = text(await session.call("pid"))
        async with silent_crowd(server, 2100):
            newcomer = await server.session()
            assert text(await newcomer.call("pid")) == first
            os.kill(int(first), signal.SIGKILL)
            second = await call_when_back(session, first)
            assert second != first
            assert count_descriptors(server.pid) < 1024
        assert "Too many open files" not in await stop_and_read(server)
    assert len(read_calls(home)) >= 3


async def call_when_back(session: WebSession, gone: str) -> str:
    deadline = time.monotonic() + 100
    while time.monotonic() < deadline:
        answer = await session.call("pid")
        if not answer["result"].get("isError") and text(answer) != gone:
            return str(text(answer))
    raise AssertionError("the server did not come back")


def read_calls(home: Home) -> list[Any]:
    log = home.home / ".local/state/mooring/audit.jsonl"
    return [json.loads(line) for line in log.read_text().splitlines()]


def count_descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


async def stop_and_read(server: WebServer) -> str:
    """End a server; returns what it wrote to stderr since it was ready."""
    assert server.process is not None
    assert server.process.stderr is not None
    server.process.send_signal(signal.SIGTERM)
    written = await asyncio.wait_for(server.process.stderr.read(), 100)
    await server.process.wait()
    return written.decode()


async def test_the_limit_is_raised_for_the_gateway_and_not_for_its_servers(home: Home) -> None:
    configure(home)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    most = min(hard, 65_536)
    async with serving(home, *RAW, ulimit="-Sn 512") as server:
        session = await server.session()
        first = text(await session.call("pid"))
        assert read_soft_limit(server.pid) == most
        assert read_soft_limit(int(first)) == 512
        # A guard that the gateway starts later has its limit, but what that guard starts does not.
        os.kill(find_guard(server.pid), signal.SIGKILL)
        assert read_soft_limit(int(await call_when_back(session, first))) == 512


def read_soft_limit(pid: int) -> int:
    [line] = [line for line in Path(f"/proc/{pid}/limits").read_text().splitlines() if "open files" in line]
    return int(line.split()[3])


def find_guard(pid: int) -> int:
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"from guard.main import main" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    raise AssertionError("there is no guard")


async def test_without_descriptors_clients_wait_and_one_line_says_so(home: Home) -> None:
    configure(home)
    async with serving(home, *RAW) as server:
        assert server.process is not None
        session = await server.session()
        await session.call("pid")
        soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (count_descriptors(server.pid), hard))
        began = read_cpu(server.pid)
        waiting = [asyncio.ensure_future(connect(server)) for _ in range(20)]
        links = await asyncio.gather(*waiting)
        assert server.process.stderr is not None
        said = (await asyncio.wait_for(server.process.stderr.readline(), 100)).decode()
        assert said.startswith("Cannot accept a connection: Too many open files.")
        await asyncio.sleep(5)
        assert read_cpu(server.pid) - began < 1
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (soft, hard))
        assert text(await (await server.session()).call("pid")).isdigit()
        for _, writer in links:
            writer.close()
        assert "Cannot accept" not in await stop_and_read(server)


def read_cpu(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


async def connect(server: WebServer) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    host, port = server.url.removeprefix("http://").removesuffix("/mcp").split(":")
    return await asyncio.open_connection(host, int(port), limit=MIB)


# --- unread answers ---------------------------------------------------------------------------------------------------


async def ask_without_reading(
    session: WebSession, number: int, size: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for an answer of a size, on a connection of its own."""
    server = session.server
    reader, writer = await connect(server)
    call = {"name": "nap", "arguments": {"seconds": 0, "nonce": chr(97 + number % 26), "times": size}}
    body = json.dumps({"jsonrpc": "2.0", "id": 1000 + number, "method": "tools/call", "params": call})
    own = {"Host": server.url.split("/")[2], "Content-Type": "application/json", "Content-Length": str(len(body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**own, **session.headers}.items())
    writer.write(f"POST /mcp HTTP/1.1\r\n{lines}\r\n{body}".encode())
    return reader, writer


async def read_whole(reader: asyncio.StreamReader) -> Any:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    size = int(head.partition("content-length: ")[2].partition("\r")[0])
    return json.loads(await reader.readexactly(size))


def resident(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


async def test_forty_unread_answers_take_32_mib_and_are_whole_when_they_are_read(home: Home) -> None:
    configure(home)
    size, count = 3 * MIB, 40
    async with serving(home, *RAW) as server:
        session = await server.session()
        await session.call("nap", seconds=0, nonce="x", times=size)
        before = resident(server.pid)
        links = [await ask_without_reading(session, number, size) for number in range(count)]
        for reader, _ in links:
            assert (await reader.readline()).startswith(b"HTTP/1.1 200")
        # Besides what is held, the answer that is read from the server is there a few times for a moment.
        assert resident(server.pid) - before < MOST_UNREAD + 12 * size
        assert text(await (await server.session()).call("pid")).isdigit()
        for number, (reader, writer) in enumerate(links):
            answer = await asyncio.wait_for(read_whole(reader), 100)
            assert answer["id"] == 1000 + number
            assert text(answer) == chr(97 + number % 26) * size
            writer.close()
        # Nothing is held any more: one more answer fits.
        assert len(text(await session.call("nap", seconds=0, nonce="x", times=size))) == size


async def test_what_fits_neither_into_memory_nor_into_the_file_is_answered_with_an_error() -> None:
    budget = UnreadBudget(Spills(64 * MIB))
    transport = SessionTransport(budget)
    transport.start(IgnoredFrames())  # type: ignore[arg-type]
    size, count = 7 * MIB, 17
    ways = [transport.receive([], b"", [number]) for number in range(count)]
    for number in range(count):
        transport.send(Response(number, "x" * size))
    assert budget.held <= MOST_UNREAD + count * 200
    refused = 0
    for number, way in enumerate(ways):
        unread = await way.get()
        assert unread is not None
        answer = json.loads(b"".join(cut_into_pieces(unread)))
        way.budget.release(unread)
        assert answer["id"] == number
        if "error" in answer:
            refused += 1
            assert "may have run" in answer["error"]["message"]
        else:
            assert answer["result"] == "x" * size
    # 4 of them are in memory, and 9 in the file.
    assert refused == 4
    assert budget.held == 0


# --- many requests, many sessions -------------------------------------------------------------------------------------


class IgnoredFrames:
    """Takes requests and leaves them unanswered."""

    def receive_frames(self, frames: Any, body: bytes) -> None:
        pass


async def test_an_answer_takes_as_long_however_many_requests_are_in_flight() -> None:
    def measure(others: int) -> float:
        transport = SessionTransport(UnreadBudget(Spills()))
        transport.start(IgnoredFrames())  # type: ignore[arg-type]
        for number in range(others):
            transport.receive([], b"", [f"other-{number}"])
        began = time.process_time()
        for number in range(2000):
            way = transport.receive([Frame(id=number, method="ping", params=Raw(b"{}"))], b"", [number])
            transport.send(Response(number, {}))
            transport.forget(way)
        return time.process_time() - began

    measure(10)
    assert min(measure(20_000) for _ in range(3)) < 5 * min(measure(10) for _ in range(3))


async def test_an_idle_stream_does_not_keep_a_session_when_another_client_comes(home: Home) -> None:
    async with serving(home, *RAW) as server, aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        many = WebServer(server.url, [], http)
        many.token = server.token
        raise_own_limit()
        sessions = [await many.session() for _ in range(1000)]
        streams = [await session.listen() for session in sessions]
        # All but the second were used since.
        await asyncio.gather(*(session.request("ping") for session in (sessions[0], *sessions[2:])))
        assert (await (await server.session()).request("ping"))["result"] == {}
        async with await sessions[1].post({"id": 9, "method": "ping"}) as answer:
            assert answer.status == 404
        assert await asyncio.wait_for(streams[1].content.read(), 100) == b""
        for each in (0, 2, 999):
            assert (await sessions[each].request("ping"))["result"] == {}
        for stream in streams:
            stream.close()


def raise_own_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def test_an_idle_stream_does_not_keep_its_connection_when_another_client_comes(home: Home) -> None:
    # Half of 200 descriptors are kept free for servers and records, so that there are 100 connections.
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with serving(home, *RAW, ulimit="-n 200") as server, aiohttp.ClientSession(connector=connector) as http:
        once = WebServer(server.url, [], http)
        once.token = server.token
        sessions = [await once.session() for _ in range(100)]
        streams = [await session.listen() for session in sessions]
        assert (await (await once.session()).request("ping"))["result"] == {}
        # The one that was idle for the longest time is gone; its session is not.
        with suppress(aiohttp.ClientError):
            assert await asyncio.wait_for(streams[0].content.read(), 100) == b""
        assert (await sessions[0].request("ping"))["result"] == {}
        for stream in streams:
            stream.close()


async def test_a_comment_is_sent_on_an_idle_stream(home: Home) -> None:
    async with serving(home, *RAW) as server:
        session = await server.session()
        async with await session.listen() as stream:
            assert await asyncio.wait_for(stream.content.readline(), 5 * 20) == b":\n"


# --- an end in the middle ---------------------------------------------------------------------------------------------


async def start_calls(session: WebSession, seconds: float, count: int) -> list["asyncio.Task[Any]"]:
    """Calls that take a while, once all of them are under way."""
    calls = [asyncio.ensure_future(call_raw(session, 100 + number, seconds)) for number in range(count)]
    # Requests are begun in the order in which they come, so that those before this one are under way.
    await asyncio.sleep(0)
    for _ in range(3):
        await session.call("pid")
    return calls


async def call_raw(session: WebSession, number: int, seconds: float) -> Any:
    params = {"name": "nap", "arguments": {"seconds": seconds, "nonce": str(number)}}
    async with await session.post({"id": number, "method": "tools/call", "params": params}) as answer:
        assert answer.status == 200, await answer.text()
        return await read_answer(answer)


async def test_calls_in_flight_end_when_it_is_told_to_end_and_nobody_new_gets_in(home: Home) -> None:
    configure(home)
    async with serving(home, *RAW) as server:
        assert server.process is not None
        session = await server.session()
        calls = await start_calls(session, 3, 20)
        server.process.send_signal(signal.SIGTERM)
        await wait_until_closed(server)
        # On a connection that is open, it is told that its request was not run.
        async with await session.post({"id": 7, "method": "tools/call", "params": {"name": "pid"}}) as refused:
            said = await refused.json()
            assert (refused.status, said["id"]) == (503, 7)
            assert "was not run" in said["error"]["message"]
        answers = await asyncio.gather(*calls)
        assert [text(answer) for answer in answers] == [str(100 + number) for number in range(20)]
        assert await asyncio.wait_for(server.process.wait(), 100) == 0


@pytest.mark.parametrize("era", ["handshake", "stateless"])
async def test_what_does_not_end_in_time_is_answered_with_its_id_and_may_have_run(home: Home, era: str) -> None:
    configure(home)
    home.write("home/.config/mooring/settings.json", {"drainSeconds": 1})
    async with serving(home, *RAW) as server:
        assert server.process is not None
        session = await server.session()
        await session.call("pid")
        if era == "handshake":
            calls = await start_calls(session, 60, 20)
        else:
            params = {"name": "nap", "arguments": {"seconds": 60}}
            calls = [asyncio.ensure_future(server.stateless("tools/call", params)) for _ in range(20)]
            await wait_in_flight(server, 20)
        server.process.send_signal(signal.SIGTERM)
        answers = await asyncio.gather(*calls)
        expected = list(range(100, 120)) if era == "handshake" else [1] * 20
        assert [answer["id"] for answer in answers] == expected
        assert all("may have run" in answer["error"]["message"] for answer in answers)
        assert await asyncio.wait_for(server.process.wait(), 100) == 0


async def wait_in_flight(server: WebServer, count: int) -> None:
    """Wait until the server has so many connections, and has read all that was sent on them."""
    await asyncio.sleep(0)
    while count_descriptors(server.pid) < count:
        await server.stateless("tools/list")
    for _ in range(3):
        await server.stateless("tools/call", {"name": "pid"})


@pytest.mark.parametrize(
    ("signals", "code"), [([signal.SIGTERM, signal.SIGTERM], 0), ([signal.SIGHUP, signal.SIGTERM], 0), ([signal.SIGINT], 130)]
)  # fmt: skip
async def test_a_second_signal_ends_the_wait_and_ctrl_c_does_not_wait(
    home: Home, signals: list[signal.Signals], code: int
) -> None:
    configure(home)
    async with serving(home, *RAW) as server:
        assert server.process is not None
        session = await server.session()
        calls = await start_calls(session, 60, 5)
        began = time.monotonic()
        for number in signals:
            server.process.send_signal(number)
            await wait_until_closed(server)
        answers = await asyncio.gather(*calls)
        assert [answer["id"] for answer in answers] == list(range(100, 105))
        assert all("may have run" in answer["error"]["message"] for answer in answers)
        assert await asyncio.wait_for(server.process.wait(), 100) == code
        # Ten seconds would be waited otherwise, before the servers are ended.
        assert time.monotonic() - began < 10


async def wait_until_closed(server: WebServer) -> None:
    """Connect until nobody listens any more."""
    # A connection that the kernel had accepted for it is reset when the listening socket is closed.
    with suppress(ConnectionRefusedError, ConnectionResetError):
        while True:
            _, writer = await connect(server)
            writer.close()
