"""Clients that put a gateway under pressure: `mooring serve --http`, and two others beside it, measured just now."""

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any

import aiohttp
from msgspec import Struct
from tests.peers import install

MIB = 1024 * 1024
SERVER = str(Path(__file__).parents[1] / "serve" / "server.py")
PATIENCE = 10.0
"""How many seconds a client waits for an answer, if nothing else is said."""
FASTMCP = """
import sys
from fastmcp.server.server import create_proxy
proxy = create_proxy({"mcpServers": {"c": {"command": sys.executable, "args": [sys.argv[1], "handshake"]}}})
proxy.run(transport="http", host=sys.argv[2], port=int(sys.argv[3]), show_banner=False, log_level="ERROR")
"""
CROWD = """
import resource, socket, sys
host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
links = []
for _ in range(count):
    link = socket.socket()
    link.setblocking(False)
    link.connect_ex((host, port))
    links.append(link)
print("open", flush=True)
sys.stdin.readline()
"""
STREAMS = """
import json, socket, sys
host, port, token, count = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

def send(verb, headers, body=b""):
    link = socket.create_connection((host, port), 20)
    given = {"Host": f"{host}:{port}", "Authorization": f"Bearer {token}", "Content-Type": "application/json",
             "Accept": "application/json, text/event-stream", "Content-Length": len(body), **headers}
    link.sendall(f"{verb} /mcp HTTP/1.1\\r\\n".encode() + b"".join(f"{k}: {v}\\r\\n".encode() for k, v in given.items()) + b"\\r\\n" + body)
    head = b""
    while b"\\r\\n\\r\\n" not in head:
        piece = link.recv(4096)
        assert piece, head
        head += piece
    return link, head.decode(errors="replace")

links = []
for _ in range(count):
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    _, head = send("POST", {}, json.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}).encode())
    start = head.lower().index("mcp-session-id: ") + len("mcp-session-id: ")
    session = head[start:].split()[0]
    link, head = send("GET", {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-06-18"})
    assert " 200 " in head, head
    links.append(link)
print("open", flush=True)
sys.stdin.readline()
"""


class Gateway(Struct, frozen=True):
    """A gateway: its name, and the command that has it show the server at an address."""

    name: str
    command: Callable[[str, int], list[str]]
    is_ours: bool = False


GATEWAYS = (
    Gateway(
        "mooring",
        lambda host, port: [
            sys.executable, "-m", "mooring", "serve", "--names", "raw", "--permission-mode", "bypass", "--no-project",
            "--http", f"{host}:{port}",
        ],
        is_ours=True,
    ),
    Gateway(
        "fastmcp 4.1, proxy",
        lambda host, port: [install.python("fastmcp"), "-c", FASTMCP, SERVER, host, str(port)],
    ),
    Gateway(
        "mcp-proxy 0.13",
        lambda host, port: [
            str(Path(install.python("mcp-proxy")).parent / "mcp-proxy"), "--host", host, "--port", str(port), "--",
            sys.executable, SERVER, "handshake",
        ],
    ),
)  # fmt: skip


class Running:
    """A gateway that runs in a home of its own."""

    def __init__(self, gateway: Gateway, process: asyncio.subprocess.Process, home: Path, url: str) -> None:
        self.gateway, self.process, self.home, self.url = gateway, process, home, url
        self.http: aiohttp.ClientSession

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2].partition("/")[0])

    @property
    def token(self) -> str:
        kept = self.home / ".local/state/mooring/serve-token"
        return kept.read_text().strip() if kept.exists() else "none"

    @property
    def said(self) -> int:
        """How many bytes it has written to stderr."""
        return (self.home / "stderr").stat().st_size

    @property
    def cpu(self) -> float:
        return int(Path(f"/proc/{self.pid}/schedstat").read_text().split()[0]) / 1e9

    @property
    def resident(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def count_recorded(self) -> int:
        """How many calls are on record; of the others, none is."""
        log = self.home / ".local/state/mooring/audit.jsonl"
        return log.read_text().count('"tool":') if log.exists() else 0

    async def open_client(self, seconds: float = PATIENCE) -> "Client":
        client = Client(self)
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        async with asyncio.timeout(seconds):
            await client.request("initialize", hello)
            await client.notify("notifications/initialized")
        return client


class Client:
    """One client in a session of its own."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._last = 0
        self.headers = {
            "Authorization": f"Bearer {running.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }

    async def request(self, method: str, params: Any, key: int | None = None) -> Any:
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last if key is None else key, "method": method, "params": params}
        async with self._running.http.post(self._running.url, json=message, headers=self.headers) as answer:
            if session := answer.headers.get("Mcp-Session-Id"):
                self.headers |= {"Mcp-Session-Id": session, "MCP-Protocol-Version": "2025-06-18"}
            return read_message(await answer.text())

    async def notify(self, method: str) -> None:
        message = {"jsonrpc": "2.0", "method": method}
        async with self._running.http.post(self._running.url, json=message, headers=self.headers):
            pass

    async def call(self, tool: str, patience: float = PATIENCE, key: int | None = None, **arguments: Any) -> Any:
        async with asyncio.timeout(patience):
            return await self.request("tools/call", {"name": tool, "arguments": arguments}, key)

    async def call_text(self, tool: str, **arguments: Any) -> str:
        answer = await self.call(tool, **arguments)
        assert "result" in answer, f"{answer}"[:80]
        assert not answer["result"].get("isError"), f"{answer}"[:80]
        return str(answer["result"]["content"][0]["text"])

    async def listen(self) -> aiohttp.ClientResponse:
        return await self._running.http.get(self._running.url, headers=self.headers)


def read_message(body: str) -> Any:
    """The last message of an answer, which may be a stream."""
    lines = [line.removeprefix("data: ") for line in body.splitlines() if line.startswith(("{", "data: {"))]
    assert lines, f"no message: {body[:80]!r}"
    return json.loads(lines[-1])


@asynccontextmanager
async def running(
    gateway: Gateway, ulimit: str = "-n 20000", host: str = "127.0.0.1", inside: tuple[str, ...] = ()
) -> AsyncIterator[Running]:
    """A gateway with the server behind it, in a home of its own; `inside` is what its command begins with."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        entry = {"command": sys.executable, "args": [SERVER, "handshake"]}
        (home / ".mcp.json").write_text(json.dumps({"mcpServers": {"box": entry}}))
        words = [*inside, "sh", "-c", f'ulimit {ulimit} 2>/dev/null; exec "$0" "$@"', *gateway.command(host, port)]
        env = {"HOME": folder, "PATH": os.environ["PATH"]}
        with (home / "stderr").open("wb") as stderr:
            process = await asyncio.create_subprocess_exec(
                *words, env=env, cwd=folder, stdout=stderr, stderr=stderr, start_new_session=True
            )
        started = Running(gateway, process, home, f"http://{host}:{port}/mcp")
        try:
            async with aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(None)
            ) as http:
                started.http = http
                await wait_listening(started)
                yield started
        finally:
            await end(process)


async def wait_listening(started: Running) -> None:
    deadline = time.monotonic() + 60
    while True:
        await asyncio.sleep(0.3)
        assert started.process.returncode is None, (started.home / "stderr").read_text()[-100:]
        if count_sockets(started.pid, started.port, "0A"):
            return
        assert time.monotonic() < deadline, "it does not listen"


def count_sockets(pid: int, port: int, state: str) -> int:
    """How many sockets of the network that a process is in have a port of their own and a state."""
    mark = f":{port:04X} "
    lines = [line for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines() if mark in line]
    return sum(line.split()[1].endswith(mark.strip()) and line.split()[3] == state for line in lines)


async def end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), 15)
        except TimeoutError:
            process.kill()
            await process.wait()
    process._transport.close()  # type: ignore[attr-defined]  # asyncio leaves it open otherwise


@asynccontextmanager
async def beside(words: list[str], seconds: float) -> AsyncIterator[None]:
    """Another program, from when it says that it is ready."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe, stderr=asyncio.subprocess.DEVNULL)
    assert process.stdout is not None
    try:
        assert await asyncio.wait_for(process.stdout.readline(), seconds) == b"open\n", "the clients cannot connect"
        yield
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        process._transport.close()  # type: ignore[attr-defined]  # asyncio leaves it open otherwise


# --- 2,100 connections that send nothing, at `ulimit -n 1024` ---------------------------------------------------------


async def silent(gateway: Gateway) -> str:
    async with running(gateway, ulimit="-n 1024") as started:
        first = await started.open_client()
        pid = await first.call_text("pid")
        crowd = [sys.executable, "-c", CROWD, "127.0.0.1", str(started.port), "2100"]
        async with beside(crowd, 30):
            said, cpu, began = started.said, started.cpu, time.monotonic()
            newcomer = await (await started.open_client()).call_text("pid")
            took = time.monotonic() - began
            await asyncio.sleep(3)
            passed = time.monotonic() - began
            said, load = started.said - said, (started.cpu - cpu) / passed
            os.kill(int(pid), signal.SIGKILL)
            back = await call_again(first)
        assert newcomer == pid
        assert back != pid
        recorded = started.count_recorded()
        if gateway.is_ours:
            assert said < 1000, f"{said} bytes on stderr"
            assert load < 0.5, f"{load:.0%} of a core"
            assert recorded >= 3, f"{recorded} calls recorded"
        return f"in after {took:.2f} s; {said / passed / 1024:.0f} KiB/s, {load:.0%} CPU; restarts; {recorded} recorded"


async def call_again(client: Client) -> str:
    """Call once more after the server was killed."""
    deadline, problem = time.monotonic() + PATIENCE, ""
    while time.monotonic() < deadline:
        try:
            return await client.call_text("pid")
        except (AssertionError, aiohttp.ClientError) as error:
            problem = str(error)
            await asyncio.sleep(0.2)
        except TimeoutError:
            break
    raise AssertionError(f"its server never came back: {problem[:40]}")


# --- forty answers of 10 MB that nobody reads, and one that is read slowly --------------------------------------------

SIZE = 10_000_000
SLOW_SECONDS = 40.0
TOLD = -1


async def unread(gateway: Gateway) -> str:
    async with running(gateway) as started:
        client = await started.open_client()
        await client.call("nap", 30, seconds=0, nonce="x", times=SIZE)
        before = started.resident
        links = [await ask(started, client, 1000 + number) for number in range(40)]
        most = await watch_memory(started, links)
        held = (most - before) / 1e6
        slow = await read_slowly(*links[0])
        assert slow == SIZE, f"held {held:.0f} MB; the slow reader got {slow} of {SIZE} bytes"
        rest = [await read_slowly(reader, writer, 0) for reader, writer in links[1:]]
        whole, told = rest.count(SIZE), rest.count(TOLD)
        words = f"held {held:.0f} MB; a slow reader gets all; of 39 others, {whole} do, and {told} are told"
        if gateway.is_ours:
            assert held < 32 * 1.05 + 10 * SIZE / 1e6, words
            assert whole + told == len(rest), words
            assert (await client.call("pid"))["result"]
        return words


async def ask(started: Running, client: Client, key: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Ask for a large answer on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", started.port, limit=MIB)
    params = {"name": "nap", "arguments": {"seconds": 0, "nonce": "x", "times": SIZE}}
    body = json.dumps({"jsonrpc": "2.0", "id": key, "method": "tools/call", "params": params})
    given = {"Host": f"127.0.0.1:{started.port}", "Content-Length": str(len(body)), **client.headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
    writer.write(f"POST /mcp HTTP/1.1\r\n{head}\r\n{body}".encode())
    return reader, writer


async def watch_memory(started: Running, links: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]) -> int:
    """The most memory it took for 15 s: some begin to answer before there is anything to send."""
    most, deadline = 0, time.monotonic() + 15
    begun = [asyncio.ensure_future(reader.readline()) for reader, _ in links]
    while time.monotonic() < deadline:
        most = max(most, started.resident)
        await asyncio.sleep(0.05)
    for each in begun:
        each.cancel()
    return max(most, started.resident)


async def read_slowly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float = SLOW_SECONDS) -> int:
    """How many letters of an answer arrive: two kilobytes a second for a while, and then the rest.

    `TOLD` is for an answer that says that there is none.
    """
    until, letters = time.monotonic() + seconds, 0
    try:
        while letters < SIZE:
            slow = time.monotonic() < until
            piece = await asyncio.wait_for(reader.read(1024 if slow else MIB), 20)
            if not piece:
                break
            if b'"error"' in piece and b"may have run" in piece:
                letters = TOLD
                break
            letters += piece.count(b"x")
            if slow:
                await asyncio.sleep(0.5)
    except (OSError, TimeoutError):
        pass
    writer.transport.abort()
    # The headers have an `x` here and there.
    return min(letters, SIZE)


# --- SIGTERM while calls are under way --------------------------------------------------------------------------------


async def ends(gateway: Gateway) -> str:
    async with running(gateway) as started:
        client = await started.open_client()
        await client.call("pid")
        short = [asyncio.ensure_future(client.call("nap", 40, 100 + key, seconds=3, nonce="ok")) for key in range(20)]
        long = [asyncio.ensure_future(client.call("nap", 40, 200 + key, seconds=60)) for key in range(20)]
        await asyncio.sleep(1)
        began = time.monotonic()
        started.process.send_signal(signal.SIGTERM)
        finished = await asyncio.gather(*short, return_exceptions=True)
        rest = await asyncio.gather(*long, return_exceptions=True)
        took = time.monotonic() - began
        whole = sum(isinstance(each, dict) and "result" in each for each in finished)
        told = sum(
            isinstance(each, dict) and each.get("id") == 200 + key and "may have run" in json.dumps(each)
            for key, each in enumerate(rest)
        )
        words = f"{whole} of 20 finished, {told} of 20 told with their id that they may have run, {took:.1f} s"
        assert (whole, told) == (20, 20), words
        if gateway.is_ours:
            assert await asyncio.wait_for(started.process.wait(), 30) == 0
        return words


# --- streams whose other end is gone, in a network of their own -------------------------------------------------------

NOTICED = 60.0
NEAR, FAR = "10.213.7.1", "10.213.7.2"


@contextmanager
def two_networks() -> Iterator[tuple[str, str]]:
    """Two networks with a cable between them. Raises: AssertionError if they cannot be made here."""
    if shutil.which("ip") is None:
        raise AssertionError("install iproute2 (Debian: apt-get install iproute2)")
    mark = secrets.token_hex(3)
    near, far = f"near-{mark}", f"far-{mark}"
    try:
        for name in (near, far):
            run_ip("netns", "add", name)
        run_ip("-n", near, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", far)
        for name, address in ((near, NEAR), (far, FAR)):
            run_ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            run_ip("-n", name, "link", "set", "cable", "up")
            run_ip("-n", name, "link", "set", "lo", "up")
        yield near, far
    finally:
        for name in (near, far):
            subprocess.run(["ip", "netns", "delete", name], capture_output=True)


def run_ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"networks need root and CAP_NET_ADMIN: ip {' '.join(words)}: {done.stderr.strip()}")


async def half_open(gateway: Gateway) -> str:
    with two_networks() as (near, far):
        async with running(gateway, host=NEAR, inside=("ip", "netns", "exec", near)) as started:
            crowd = [sys.executable, "-c", STREAMS, NEAR, str(started.port), started.token, "10"]
            async with beside(["ip", "netns", "exec", far, *crowd], 40):
                open_at_first = count_sockets(started.pid, started.port, "01")
                assert open_at_first >= 10, f"{open_at_first} streams are open"
                run_ip("-n", far, "link", "set", "cable", "down")
                took, left = await wait_noticed(started)
            assert not left, f"{left} of {open_at_first} still open after {took:.0f} s"
            return f"{open_at_first} connections ended after {took:.0f} s"


async def wait_noticed(started: Running) -> tuple[float, int]:
    """How long it takes until no connection is open, and how many are after a minute."""
    began, left = time.monotonic(), 1
    while left and time.monotonic() - began < NOTICED:
        await asyncio.sleep(0.2)
        left = count_sockets(started.pid, started.port, "01")
    return time.monotonic() - began, left


# --- a thousand sessions with an idle stream --------------------------------------------------------------------------

MANY_SECONDS = 120.0


async def crowded(gateway: Gateway) -> str:
    async with running(gateway) as started:
        deadline, streams = time.monotonic() + MANY_SECONDS, []
        while len(streams) < 1000 and time.monotonic() < deadline:
            streams.append(await (await started.open_client()).listen())
            assert streams[-1].status == 200, f"stream {len(streams)}: status {streams[-1].status}"
        began = time.monotonic()
        assert await (await started.open_client()).call_text("pid")
        took, megabytes = time.monotonic() - began, started.resident / 1e6
        for stream in streams:
            stream.close()
        assert len(streams) == 1000, f"only {len(streams)} sessions in {MANY_SECONDS:g} s, {megabytes:.0f} MB"
        return f"the 1,001st is in after {took:.2f} s; {megabytes:.0f} MB"


# --- the table --------------------------------------------------------------------------------------------------------


class GatewayRow(Struct, frozen=True):
    """One kind of pressure: what is promised of ours, and the trial, which is made with each gateway."""

    id: str
    fault: str
    promise: str
    trial: Callable[[Gateway], Awaitable[str]]


ALONE = (
    GatewayRow(
        "F60", "2,100 silent connections, ulimit -n 1024", "clients, records and servers go on", silent,
    ),
)  # fmt: skip
"""What is measured by itself, because CPU is."""
TOGETHER = (
    GatewayRow("F61", "40 unread answers of 10 MB", "32 MiB a session; a slow reader is not cut", unread),
    GatewayRow("F62", "SIGTERM, 40 calls in flight", "10 s to finish; the rest told with their ids", ends),
    GatewayRow("F63", "half-open streams", "noticed within a minute", half_open),
    GatewayRow("F64", "1,000 sessions with an idle stream", "another client gets in", crowded),
)
NEEDS = ("fastmcp", "mcp-proxy")
HEADER = ("", "id", "pressure on a gateway", "promise", *(f"{gateway.name}, just now" for gateway in GATEWAYS))


def pick(words: list[str]) -> list[GatewayRow]:
    return [row for row in (*ALONE, *TOGETHER) if not words or any(word in row.fault for word in words)]


async def try_all(rows: list[GatewayRow]) -> list[tuple[str, ...]]:
    """A line of the table for each row. Most of the time is spent waiting, so those that may are tried together."""
    alone = [await try_row(row) for row in rows if row in ALONE]
    return [*alone, *await asyncio.gather(*(try_row(row) for row in rows if row in TOGETHER))]


async def try_row(row: GatewayRow) -> tuple[str, ...]:
    outcomes = await asyncio.gather(*(try_gateway(row, gateway) for gateway in GATEWAYS))
    mark = "✓" if outcomes[0][0] else "✗"
    cells = [words if good else f"no: {words}" for good, words in outcomes]
    return mark, row.id, row.fault, row.promise, *cells


async def try_gateway(row: GatewayRow, gateway: Gateway) -> tuple[bool, str]:
    try:
        return True, await asyncio.wait_for(row.trial(gateway), 150)
    except Exception as error:  # noqa: BLE001  # a trial may fail in any way; the table says how
        return False, (str(error) or type(error).__name__)[:90]
