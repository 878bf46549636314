"""`make gateways`: one server behind each gateway, over HTTP: CPU per call, calls per second, whose answers they are.

Every gateway shows the same C program, and every client is the same: plain requests in sessions of their own. The
gateways take turns in each round. Writes docs/results/gateways.md, and fails when ours misses its goal.
"""

import asyncio
import os
import platform
import secrets
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp

from bench.ground import CACHE, NODE, ROOT, SERVER, build_node, build_python, build_server, locked, python_of
from bench.sessions import EARLY, LATE, Memory, find_growth, measure_kinds

PAGE = ROOT / "docs" / "results" / "gateways.md"
ROUNDS = 3
SEQUENTIAL = 500
CLIENTS = 64
EACH = 10
ANSWERED = aiohttp.ClientTimeout(total=10)
GOAL = 10
"""How many times less CPU per call than the proxy of fastmcp."""
FASTMCP = """
import sys
from fastmcp.server.server import create_proxy
proxy = create_proxy({"mcpServers": {"c": {"command": sys.argv[1]}}})
proxy.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False, log_level="ERROR")
"""
TRANSLATE = ("-m", "mcpgateway.translate", "--expose-streamable-http")


class Gateway(NamedTuple):
    """A gateway: its name, how it is started on a port, how what it needs is made, and variables that it needs."""

    name: str
    command: Callable[[int], list[str]]
    build: Callable[[], None] = lambda: None
    env: Mapping[str, str] = {}


class Measured(NamedTuple):
    """What one gateway took in one round."""

    micros: float
    per_second: float
    crowd_micros: float
    crowd_per_second: float
    crossed: int
    servers: int
    left: int
    megabytes: float


def list_gateways() -> list[Gateway]:
    flags = ["--names", "raw", "--permission-mode", "bypass", "--no-token", "--no-project", "--server", str(SERVER)]
    ours = [sys.executable, "-m", "mooring", "serve", *flags, "--http"]
    mcp_proxy = str(CACHE / "mcp-proxy/bin/mcp-proxy")
    return [
        Gateway("mooring", lambda port: [*ours, f"127.0.0.1:{port}"]),
        Gateway(
            f"fastmcp {locked('fastmcp', 'fastmcp')}, proxy",
            lambda port: [python_of("fastmcp"), "-c", FASTMCP, str(SERVER), str(port)],
            lambda: build_python("fastmcp"),
        ),
        Gateway(
            f"mcp-proxy {locked('mcp-proxy', 'mcp-proxy')}",
            lambda port: [mcp_proxy, "--port", str(port), "--", str(SERVER)],
            lambda: build_python("mcp-proxy"),
        ),
        Gateway("supergateway 4.0.0, stateful", command_supergateway, build_node),
        Gateway(
            f"ContextForge {locked('contextforge', 'mcp-contextforge-gateway')}, translate",
            lambda port: [python_of("contextforge"), *TRANSLATE, "--stdio", str(SERVER), "--port", str(port)],
            lambda: build_python("contextforge"),
            # It does not start without them, although this part of it has no use for any.
            {name: secrets.token_urlsafe(48) for name in ("JWT_SECRET_KEY", "AUTH_ENCRYPTION_SECRET")},
        ),
    ]


def command_supergateway(port: int) -> list[str]:
    # Without --stateful it starts a server for every single request.
    options = ["--outputTransport", "streamableHttp", "--stateful", "--logLevel", "none", "--port", str(port)]
    return ["node", str(NODE / "node_modules/supergateway/dist/index.js"), "--stdio", str(SERVER), *options]


def main() -> int:
    build_server()
    gateways = list_gateways()
    for gateway in gateways:
        gateway.build()
    results: dict[str, list[Measured]] = {gateway.name: [] for gateway in gateways}
    for number in range(ROUNDS):
        for gateway in gateways:
            results[gateway.name].append(measure(gateway))
            print(number + 1, gateway.name, results[gateway.name][-1])
    rows = {name: summarize(rounds) for name, rounds in results.items()}
    memory = measure_memory(gateways[0])
    PAGE.write_text(make_page(rows, memory))
    failures = [*find_failures(rows), *find_growth(memory)]
    for failure in failures:
        print(failure)
    return 1 if failures else 0


def measure(gateway: Gateway) -> Measured:
    with started(gateway) as (url, process, nonce):
        measured = asyncio.run(load(url, process.pid, nonce))
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        # Whatever ends by itself when its gateway is gone has a second for it.
        time.sleep(1)
        left = len(find_marked(nonce))
        return measured._replace(left=left)


def measure_memory(gateway: Gateway) -> dict[str, Memory]:
    with started(gateway) as (url, _, nonce):
        return asyncio.run(send_crowds(url, nonce))


async def send_crowds(url: str, nonce: str) -> dict[str, Memory]:
    async with aiohttp.ClientSession() as http:
        await wait_listening(http, url)
    return await measure_kinds(url, lambda: resident(nonce))


@contextmanager
def started(gateway: Gateway) -> Iterator[tuple[str, "subprocess.Popen[bytes]", str]]:
    nonce = secrets.token_hex(8)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "NONCE": nonce, **gateway.env}
        process = subprocess.Popen(
            gateway.command(port), env=env, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield f"http://127.0.0.1:{port}/mcp", process, nonce
        finally:
            for pid in find_marked(nonce):
                os.kill(pid, signal.SIGKILL)
            process.wait()


async def load(url: str, pid: int, nonce: str) -> Measured:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http:
        await wait_listening(http, url)
        first = await open_client(http, url)
        for _ in range(30):
            await first("warm")
        before, began = cpu_seconds(nonce), time.perf_counter()
        crossed = 0
        for number in range(SEQUENTIAL):
            crossed += await first(f"one-{number}")
        micros = (cpu_seconds(nonce) - before) / SEQUENTIAL * 1e6
        per_second = SEQUENTIAL / (time.perf_counter() - began)
        crowd = [await open_client(http, url) for _ in range(CLIENTS)]
        before, began = cpu_seconds(nonce), time.perf_counter()
        crossed += sum(await asyncio.gather(*(use(client, str(number)) for number, client in enumerate(crowd))))
        calls = CLIENTS * EACH
        crowd_micros = (cpu_seconds(nonce) - before) / calls * 1e6
        crowd_per_second = calls / (time.perf_counter() - began)
        servers = sum(is_server(each) for each in find_marked(nonce))
        return Measured(micros, per_second, crowd_micros, crowd_per_second, crossed, servers, 0, resident(nonce))


async def use(client: Callable[[str], Any], name: str) -> int:
    return sum([await client(f"{name}-{number}") for number in range(EACH)])


async def wait_listening(http: aiohttp.ClientSession, url: str) -> None:
    for _ in range(600):
        try:
            async with http.get(url):
                return
        except aiohttp.ClientError:
            await asyncio.sleep(0.1)
    raise SystemExit(f"Nothing listens at {url}.")


async def open_client(http: aiohttp.ClientSession, url: str) -> Callable[[str], Any]:
    """A session of its own. Returns what calls the server with a text, and counts 1 if that doesn't come back."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    async with http.post(url, json=make_request(0, "initialize", info), headers=headers) as answer:
        await answer.read()
        if session := answer.headers.get("Mcp-Session-Id"):
            headers["Mcp-Session-Id"] = session
    headers["MCP-Protocol-Version"] = "2025-06-18"
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    async with http.post(url, json=ready, headers=headers):
        pass
    last = 0

    async def call(text: str) -> int:
        nonlocal last
        last += 1
        params = {"name": "echo", "arguments": {"text": text}}
        try:
            async with http.post(
                url, json=make_request(last, "tools/call", params), headers=headers, timeout=ANSWERED
            ) as answer:
                body = await answer.read()
        except (TimeoutError, aiohttp.ClientError):
            return 1
        return f'"{text}"'.encode() not in body

    return call


def make_request(key: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": key, "method": method, "params": params}


# --- processes --------------------------------------------------------------------------------------------------------


def find_marked(nonce: str) -> list[int]:
    """Every process of this run: by its mark, or, if a gateway keeps that from its servers, by its program."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environ = (folder / "environ").read_bytes()
            is_zombie = (folder / "stat").read_text().rpartition(")")[2].split()[0] == "Z"
        except OSError:
            continue
        is_ours = nonce.encode() in environ or is_server(int(folder.name))
        if is_ours and not is_zombie:
            found.append(int(folder.name))
    return found


def is_server(pid: int) -> bool:
    try:
        return os.readlink(f"/proc/{pid}/exe") == str(SERVER)
    except OSError:
        return False


def cpu_seconds(nonce: str) -> float:
    """What the gateway took so far, with its helpers and without the servers behind it."""
    pids = [pid for pid in find_marked(nonce) if not is_server(pid)]
    # To the nanosecond, thread by thread: `stat` counts in steps of 10 ms, a twentieth of what 500 calls of ours take.
    threads = [path for pid in pids for path in Path(f"/proc/{pid}/task").glob("*/schedstat")]
    return sum(int(path.read_text().split()[0]) for path in threads) / 1e9


def resident(nonce: str) -> float:
    pages = sum(
        int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in find_marked(nonce) if not is_server(pid)
    )
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


# --- the page ---------------------------------------------------------------------------------------------------------


def summarize(rounds: list[Measured]) -> Measured:
    """The median of each figure; of what must never happen, the worst."""
    columns = [statistics.median(column) for column in zip(*rounds, strict=True)]
    middle = Measured(*columns)
    return middle._replace(
        crossed=max(each.crossed for each in rounds),
        servers=max(each.servers for each in rounds),
        left=max(each.left for each in rounds),
    )


def find_failures(rows: dict[str, Measured]) -> list[str]:
    ours, *others = rows.values()
    proxy = next(measured for name, measured in rows.items() if name.startswith("fastmcp"))
    failures: list[str] = []
    for words, mine, theirs in (
        ("one client", ours.micros, proxy.micros),
        ("many", ours.crowd_micros, proxy.crowd_micros),
    ):
        if mine * GOAL > theirs:
            failures.append(f"With {words}: {mine:.0f} µs per call, more than 1/{GOAL} of fastmcp's {theirs:.0f}.")
    if any(other.micros < ours.micros or other.crowd_micros < ours.crowd_micros for other in others):
        failures.append("Another gateway takes less CPU.")
    if ours.crossed or ours.servers != 1 or ours.left:
        failures.append(f"{ours.crossed} crossed answers, {ours.servers} servers, {ours.left} processes left.")
    return failures


def make_page(rows: dict[str, Measured], memory: dict[str, Memory]) -> str:
    lines = [
        f"| {name} | {row.micros:,.0f} µs | {row.per_second:,.0f} "
        f"| {row.crowd_micros:,.0f} µs | {row.crowd_per_second:,.0f} "
        f"| {row.crossed} | {row.servers} | {row.megabytes:.0f} MB | {row.left} |"
        for name, row in rows.items()
    ]
    kept = [f"| {name} | {megabytes.early:.0f} MB | {megabytes.late:.0f} MB |" for name, megabytes in memory.items()]
    return "\n".join(
        [
            "# Gateways",
            "",
            "Made by `make gateways`: one small C server over stdio, shown over HTTP by each gateway. CPU is the",
            f"gateway's own, without the server. Medians of {ROUNDS} rounds in which the gateways take turns; of what",
            f"must not happen, the worst. Each of {CLIENTS} clients numbers its requests from 1, as clients do, and",
            "sends texts of its own: an answer with another's text, or none within 10 s, is crossed. *Servers* is how",
            "many run for all clients, *left* how many processes are there a second after the gateway was killed.",
            "",
            f"| gateway | 1 client: CPU per call | calls/s | {CLIENTS} clients: CPU per call | calls/s "
            "| crossed | servers | memory | left |",
            "|---|---|---|---|---|---|---|---|---|",
            *lines,
            "",
            f"Measured on {platform.machine()} with {os.cpu_count()} cores, Python {platform.python_version()}.",
            f"The goal is 1/{GOAL} of the CPU of fastmcp's proxy, and less than any other.",
            "",
            "## Many clients, one after the other",
            "",
            f"The memory of `mooring serve --http` and its guard after {EARLY:,} clients of a kind and after",
            f"{LATE:,}. Each calls one tool. Of sessions that nobody ends, the 1,000 that were used last are kept.",
            "",
            f"| clients | after {EARLY:,} | after {LATE:,} |",
            "|---|---|---|",
            *kept,
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
