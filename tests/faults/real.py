"""Faults that published servers have, each with the server itself, and what a command line makes of them."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from time import sleep
from typing import Any

from tests.faults.table import NONCE, Meter, Row, fails
from tests.peers import install
from tests.peers.wheel import FILE_NAME, make_wheel

import mooring
from mooring.core.conversation.host_event import HostEvent, StatusChanged
from mooring.core.conversation.question import No
from mooring.core.conversation.status import Connecting
from mooring.core.definitions.paths import Workspace, here
from mooring.errors import HeldBack
from mooring.host.host import Host

MIB = 1024 * 1024
STARTS = 10
EVERYTHING = install.node("server-everything")
TIME = [install.python("published"), "-m", "mcp_server_time", "--local-timezone", "UTC"]


class Person:
    """Somebody with a home of their own: what they configured, and the ways they use it."""

    def __init__(self, folder: str, meter: Meter) -> None:
        self.home = Path(folder)
        self.env = {**os.environ, "HOME": folder, NONCE: meter.nonce}

    def configure(self, **servers: Any) -> None:
        (self.home / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def open(self, **options: Any) -> Host:
        return mooring.open(request=Workspace(here(self.env), str(self.home)), policy="allow", **options)

    async def run(self, *words: str) -> str:
        """What a command prints, which must succeed."""
        done = await self.try_to(*words)
        assert done.returncode == 0, done.stderr.strip()
        return done.stdout

    async def try_to(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "mooring", *words]
        return await asyncio.to_thread(
            subprocess.run, command, env=self.env, cwd=self.home, capture_output=True, text=True
        )

    def read_logs(self) -> list[str]:
        """What each server wrote to its log."""
        return [path.read_text() for path in (self.home / ".local/state/mooring").rglob("*.log")]


@contextmanager
def person(meter: Meter) -> Iterator[Person]:
    with tempfile.TemporaryDirectory() as folder:
        yield Person(folder, meter)


def entry(command: list[str], **more: Any) -> dict[str, Any]:
    return {"command": command[0], "args": command[1:], **more}


# --- the same commands in another order at each start -------------------------------------------------------------


def lists_in_any_order(program: str, variable: str, tool: str, **arguments: Any) -> Callable[[Meter], Awaitable[str]]:
    """A server that keeps its allowed commands in a set, whose order is another one in each process."""

    async def trial(meter: Meter) -> str:
        with person(meter) as someone:
            command = [str(Path(install.python("shells")).parent / program)]
            env = {variable: "${COMMANDS}", "ALLOWED_DIR": str(someone.home)}
            someone.configure(shell=entry(command, env=env))
            someone.env["COMMANDS"] = "ls,cat,pwd,echo,wc,head,tail"
            orders = [await _call_once(someone, tool, arguments) for _ in range(3)]
            assert len(set(orders)) > 1, "its commands are always in the same order"
            someone.env["COMMANDS"] += ",rm"
            async with someone.open() as host:
                await fails(host.call(f"shell.{tool}", arguments), HeldBack)
            return f"{len(set(orders))} orders in {len(orders)} starts, all called; a new command is held back"

    return trial


async def _call_once(someone: Person, tool: str, arguments: dict[str, Any]) -> tuple[str, ...]:
    """Start the server and call a tool: its descriptions this time."""
    async with someone.open() as host:
        await host.call(f"shell.{tool}", arguments)
        return tuple(each.description for each in host.tools)


# --- its own resource of 4.3 MB -----------------------------------------------------------------------------------


async def large_resource(meter: Meter) -> str:
    async with _serving(meter, install.node("server-pdf")) as url, _opened(meter, {"pdf": {"url": url}}) as host:
        [resource] = [item for item in await host.resources("pdf") if item.item.uri.startswith("ui://")]
        meter.start()
        [contents] = (await host.read("pdf", resource.item.uri)).contents
        size = len(contents.text)
        assert size > 4 * MIB, size
        return f"{size / 1e6:.1f} MB of its own in {meter.seconds:.1f} s"


# --- an idle connection that the server is about to close -----------------------------------------------------------

PORTS = """
import os
from fastmcp import FastMCP
from fastmcp.server.dependencies import get_http_request
mcp = FastMCP("ports")

@mcp.tool
def port() -> int:
    return get_http_request().client.port

mcp.run(transport="http", host="127.0.0.1", port=int(os.environ["PORT"]), path="/mcp", show_banner=False)
"""
"""A server on uvicorn, which closes a connection that was idle for 5 s. It answers by which of ours a call came."""


async def idle_connection(meter: Meter) -> str:
    command = [install.python("fastmcp"), "-c", PORTS]
    async with _serving(meter, command) as url, _opened(meter, {"web": {"url": url}}) as host:
        ports = [(await host.call("web.port")).text for _ in range(3)]
        assert len(set(ports)) == 1, "a busy connection is kept"
        for _ in range(2):
            await asyncio.sleep(4.3)
            ports.append((await host.call("web.port")).text)
        assert len(set(ports)) == 3, f"an idle one was used again: {ports}"
        return "kept while busy, given up after 4 s"


@asynccontextmanager
async def _serving(meter: Meter, command: list[str]) -> AsyncIterator[str]:
    """The address of a server that runs on its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    env = {**os.environ, "PORT": str(port), NONCE: meter.nonce}
    silent = {"stdout": asyncio.subprocess.DEVNULL, "stderr": asyncio.subprocess.DEVNULL}
    process = await asyncio.create_subprocess_exec(*command, env=env, **silent)
    try:
        await _listens(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.wait()


async def _listens(port: int) -> None:
    while True:
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(0.05)
        else:
            writer.close()
            return


@asynccontextmanager
async def _opened(meter: Meter, servers: dict[str, Any]) -> AsyncIterator[Host]:
    with person(meter) as someone:
        async with someone.open(servers=servers) as host:
            yield host


# --- a first start that downloads ---------------------------------------------------------------------------------


class SlowIndex(ThreadingHTTPServer):
    """A package index with one package, which takes its time to send it."""

    def __init__(self, wheel: bytes, seconds: float) -> None:
        super().__init__(("127.0.0.1", 0), _SlowAnswer)
        self.wheel, self.seconds = wheel, seconds

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/simple/"

    @contextmanager
    def running(self) -> Iterator[None]:
        thread = threading.Thread(target=self.serve_forever, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.shutdown()
            self.server_close()
            thread.join()


class _SlowAnswer(BaseHTTPRequestHandler):
    server: SlowIndex

    def do_HEAD(self) -> None:
        self._send_headers(self._body)

    def do_GET(self) -> None:
        body = self._body
        self._send_headers(body)
        if self._is_wheel:
            sleep(self.server.seconds)
        self.wfile.write(body)

    @property
    def _is_wheel(self) -> bool:
        return self.path.endswith(".whl")

    @property
    def _body(self) -> bytes:
        page = f'<a href="/{FILE_NAME}">{FILE_NAME}</a>'
        return self.server.wheel if self._is_wheel else page.encode()

    def _send_headers(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream" if self._is_wheel else "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing: the table is printed to the same terminal."""


async def cold_start(meter: Meter) -> str:
    """The real uvx, as basic-memory is started, which needs a newer Python than ours and over 30 s.

    Here the index is slow and the deadline is short, so that the row takes seconds. uvx stands behind `env`, as
    launchers often do.
    """
    deadline, download = 2.0, 3.0
    with person(meter) as someone:
        wheel = make_wheel(someone.home / "wheels", "good").read_bytes()
        index = SlowIndex(wheel, download)
        uvx = str(Path(install.python("uv")).parent / "uvx")
        words = [
            "env",
            f"UV_CACHE_DIR={someone.home}/cache",
            "UV_PYTHON_DOWNLOADS=never",
            uvx,
            "--default-index",
            index.url,
            "gauge-server",
        ]
        with index.running():
            async with someone.open(servers={"gauge": entry(words)}, limits=mooring.Limits(connect=deadline)) as host:
                status = asyncio.ensure_future(_first_status(host.events()))
                await host.call("gauge.where")
                assert (await status).installing, "it does not say that it may download"
        assert meter.seconds > download
        return f"up after {meter.seconds:.1f} s instead of failing at {deadline:.0f} s, and shown as installing"


async def _first_status(events: AsyncIterator[HostEvent]) -> Connecting:
    async for event in events:
        if isinstance(event, StatusChanged) and isinstance(event.status, Connecting):
            return event.status
    raise AssertionError("it was never connecting")


# --- its last words -----------------------------------------------------------------------------------------------


async def last_words(meter: Meter) -> str:
    with person(meter) as someone:
        servers = {f"e{n}": entry(EVERYTHING, env={"N": str(n)}) for n in range(STARTS)}
        async with someone.open(servers=servers) as host:
            await asyncio.gather(*(host.call(f"{name}.echo", {"message": "hi"}) for name in servers))
        logs = someone.read_logs()
        assert len(logs) == STARTS, f"{len(logs)} logs"
        broken = sum("EPIPE" in log for log in logs)
        assert not broken, f"{broken} of {STARTS} died of EPIPE"
        return f"no stack trace in the logs of {STARTS} starts"


# --- known at once, whichever way it was used first ---------------------------------------------------------------


async def command_line_first(meter: Meter) -> str:
    with person(meter) as someone:
        someone.configure(everything=entry(EVERYTHING))
        await someone.run(*ECHO)
        listed = await _list_tools(someone)
        offered = await _call_with_a_person(someone)
        assert listed == offered, f"{len(listed)} tools at the command line, {len(offered)} in a conversation"
        return f"{len(listed)} tools pinned by the command line, {len(offered)} in a conversation"


async def conversation_first(meter: Meter) -> str:
    with person(meter) as someone:
        someone.configure(everything=entry(EVERYTHING))
        offered = await _call_with_a_person(someone)
        await someone.run(*ECHO)
        listed = await _list_tools(someone)
        assert listed == offered, f"{len(offered)} tools in a conversation, {len(listed)} at the command line"
        return f"{len(offered)} tools pinned in a conversation, {len(listed)} at the command line"


ECHO = ("call", "everything.echo", "message=hi")


async def _list_tools(someone: Person) -> set[str]:
    """The tools that the command line knows after it has asked the server."""
    listed = json.loads(await someone.run("tools", "everything", "--json", "--refresh"))
    return {tool["tool"] for tool in listed["tools"]}


async def _call_with_a_person(someone: Person) -> set[str]:
    """The tools where somebody can be asked; none of them may be held back."""

    async def decline(question: object) -> No:
        return No()

    async with someone.open(ask=decline) as host:
        await host.ready(refresh=True)
        await host.call("everything.echo", {"message": "hi"})
        held = [name for each in host.held().values() for name in each.names]
        assert not held, f"{len(held)} tools are held back"
        return {each.tool for each in host.tools}


COUNTED = 'echo started >> "$0"; exec "$@"'


async def asked_twice(meter: Meter) -> str:
    with person(meter) as someone:
        starts = someone.home / "starts"
        someone.configure(time=entry(["/bin/sh", "-c", COUNTED, str(starts), *TIME]))
        first = await someone.run("tools", "time")
        meter.start()
        again = await someone.run("tools", "time", "--cwd", "/")
        seconds = meter.seconds
        started = len(starts.read_text().split())
        assert started == 1, f"started {started} times"
        assert again == first
        return f"known in another folder in {seconds:.1f} s; nothing was started"


async def nothing_kept(meter: Meter) -> str:
    with person(meter) as someone:
        someone.configure(time=entry(TIME))
        pins = someone.home / ".local/state/mooring/pins"
        pins.parent.mkdir(parents=True)
        pins.write_text("a file where a folder belongs")
        called = await someone.try_to("call", "time.get_current_time", "timezone=UTC")
        assert called.returncode == 0, called.stderr.strip()
        assert "could not be pinned" in called.stderr, "the call does not say that nothing was kept"
        doctor = await someone.try_to("mcp", "doctor")
        assert doctor.returncode == 1, "doctor finds nothing"
        return "called; the call and doctor say that pins were lost"


ROWS = (
    Row("A4", "mcp-shell-server, again", "held back for a change alone",
        lists_in_any_order("mcp-shell-server", "ALLOW_COMMANDS", "shell_execute", command=["pwd"], directory="/"), needs=("shells",)),
    Row("A4", "cli-mcp-server, again", "held back for a change alone",
        lists_in_any_order("cli-mcp-server", "ALLOWED_COMMANDS", "run_command", command="pwd"), needs=("shells",)),
    Row("F21", "server-pdf over HTTP", "its resource is read", large_resource, needs=("npm",)),
    Row("F21", "uvicorn, called every 4.3 s", "no connection it may close", idle_connection, needs=("fastmcp",)),
    Row("F15", "uvx with an empty cache", "may download, and says so", cold_start, needs=("uv",)),
    Row("F16", "server-everything, closed", "nothing breaks in it", last_words, needs=("npm",)),
    Row("A4", "server-everything, command line first", "no tool refused", command_line_first, needs=("npm",)),
    Row("A4", "server-everything, conversation first", "no tool refused", conversation_first, needs=("npm",)),
    Row("F15", "mcp-server-time, asked twice", "started once", asked_twice, needs=("published",)),
    Row("F22", "mcp-server-time, no room for pins", "called, and reported", nothing_kept, needs=("published",)),
)  # fmt: skip
