"""What web pages, other programs and other users send to `mooring serve --http`."""

import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from msgspec import Struct
from tests.attacks.table import MOORING, Attack, Tally, Victim

from mooring.serve.http.connections import MOST_CONNECTIONS

SERVER: Final = str(Path(__file__).parent.parent / "serve" / "server.py")
LIST: Final = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}})  # fmt: skip
HALF_OPEN: Final = 10_000
"""Five times what the server keeps. One program may have too few descriptors for all of them, so several open them."""
PROGRAMS: Final = 5
OPENER: Final = """
import resource, select, socket, sys, time
port, count = map(int, sys.argv[1:])
soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
links, poll = [], select.poll()
for _ in range(count):
    try:
        links.append(socket.create_connection(("127.0.0.1", port), 5))
    except OSError:
        continue
    poll.register(links[-1], select.POLLIN)
print(len(links), flush=True)
sys.stdin.readline()
# How many of them the other side has not closed.
print(len(links) - len(poll.poll(0)), flush=True)
sys.stdin.readline()
"""


class Gateway(Struct, frozen=True):
    """A running server, as somebody on the network sees it."""

    port: int
    token: str
    process: Any

    def send(self, head: str, body: str = "", seconds: float = 10) -> int:
        """The status of the answer to a request written by hand; 0 if there is none."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as link:
            try:
                link.sendall(head.encode() + b"\r\n\r\n" + body.encode())
                answer = link.recv(64)
            except OSError:
                return 0
        found = re.match(rb"HTTP/1.1 (\d+)", answer)
        return int(found[1]) if found else 0

    def ask(self, *, method: str = "POST", path: str = "/mcp", body: str = LIST, **headers: str) -> int:
        """The same with the headers of an honest client, as far as others are not given."""
        own = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
        }
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{name}: {value}" for name, value in {**own, **given}.items() if value]
        return self.send("\r\n".join([f"{method} {path} HTTP/1.1", *lines]), body)


@contextmanager
def gateway(folder: Path, *words: str) -> Iterator[Gateway]:
    """`mooring serve --http` of a victim."""
    victim = Victim(folder)
    entry = {"command": sys.executable, "args": [SERVER, "handshake"]}
    victim.write(victim.home / ".mcp.json", {"mcpServers": {"box": entry}})
    process = subprocess.Popen(
        [MOORING, "serve", "--http", "127.0.0.1:0", *words],
        cwd=victim.project, env=victim.env, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    said = [process.stderr.readline(), process.stderr.readline()]
    port = re.search(r":(\d+)/mcp", said[0])
    token = re.search(r"Bearer (\S+)", said[1])
    assert port, said
    try:
        yield Gateway(int(port[1]), token[1] if token else "", process)
    finally:
        process.terminate()
        process.wait(20)
        process.stderr.close()


def come_from_a_page(folder: Path, tally: Tally) -> None:
    """Everything that a page in a browser can send: a foreign origin, another name, a request without a preflight."""
    with gateway(folder) as victim:
        own = f"127.0.0.1:{victim.port}"
        assert victim.ask() == 200, "an honest client is served"
        origins = (
            "https://evil.example",
            "null",
            f"https://{own}",
            "http://localhost:3000",
            f"http://{own}.evil.example",
            "file://",
        )
        for origin in origins:
            tally.count(f"Origin {origin}", victim.ask(Origin=origin) != 403)
        hosts = (
            "evil.example",
            f"evil.example:{victim.port}",
            f"{own}.evil.example",
            "127.0.0.1:1",
            "0.0.0.0",
            "192.168.0.1",
            "[::2]",
            "169.254.169.254",
        )
        for host in hosts:
            tally.count(f"Host {host}", victim.ask(Host=host) != 403)
        for kind in (
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "text/plain; application/json",
        ):
            tally.count(f"Content-Type {kind}", victim.ask(Content_Type=kind) != 415)
        for method in ("OPTIONS", "PUT", "PATCH", "HEAD", "TRACE"):
            tally.count(method, victim.ask(method=method, Origin="https://evil.example") not in (403, 405))
        for path in (
            "/",
            "/mcp/",
            "/mcp/../mcp",
            "/./mcp",
            "//mcp",
            "/%6dcp",
            "/mcp/../../etc/passwd",
            "/message",
            "/sse",
            "/servers",
        ):
            tally.count(path, victim.ask(path=path) not in (400, 403, 404))


def come_without_the_token(folder: Path, tally: Tally) -> None:
    """No token, wrong ones, the right one in the wrong place; and as many guesses as fit into a second."""
    with gateway(folder) as victim:
        right = victim.token
        wrong = (
            "",
            "Bearer",
            "Bearer ",
            f"Bearer {right}x",
            f"Bearer {right[:-1]}",
            f"Basic {right}",
            right,
            f"Bearer {right.upper()}",
            "Bearer \u00e4",
        )
        for given in wrong:
            tally.count(f"Authorization {given[:12]}", victim.ask(Authorization=given) not in (400, 401, 429))
            time.sleep(0.1)
        tally.count("in the address", victim.ask(path=f"/mcp?token={right}", Authorization="") != 401)
        tally.count("as a cookie", victim.ask(Authorization="", Cookie=f"token={right}") != 401)
        guesses = [victim.ask(Authorization=f"Bearer {number}") for number in range(100)]
        tally.count("a hundred guesses", not set(guesses) <= {401, 429} or 429 not in guesses)
        time.sleep(1.1)
        tally.count("it still serves whoever has it", victim.ask() != 200)


def send_too_much(folder: Path, tally: Tally) -> None:
    """Bodies of 100 MB, declared or not, compressed bombs, and connections that never say anything."""
    with gateway(folder) as victim:
        tally.count("100 MB, declared", victim.ask(Content_Length=str(100 * 1024 * 1024)) != 413)
        tally.count("100 MB, in pieces", _send_pieces(victim) not in (0, 413))
        tally.count("compressed", victim.ask(Content_Encoding="gzip") != 415)
        for head in (
            "x" * 20_000,
            f"POST /mcp HTTP/1.1\r\nHost: {'h' * 20_000}",
            "POST /mcp HTTP/1.1\r\n" + "a: b\r\n" * 5000,
        ):
            tally.count(f"a head of {len(head)}", victim.send(head) not in (0, 400, 413, 431))
        before = cpu_seconds(victim.process.pid)
        with half_open(victim.port) as (opened, kept):
            assert opened > 2 * MOST_CONNECTIONS, "this machine allows a program too few connections"
            tally.count(f"{opened} half-open connections at a time", kept > MOST_CONNECTIONS)
        # A connection that is turned away takes 0.2 ms.
        tally.count(f"the time that {opened} connections take", cpu_seconds(victim.process.pid) - before > 10)
        deadline = time.monotonic() + 20
        while (status := victim.ask()) != 200 and time.monotonic() < deadline:
            time.sleep(0.1)
        tally.count("it serves on", status != 200)


def _send_pieces(victim: Gateway) -> int:
    head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{victim.port}\r\nAuthorization: Bearer {victim.token}\r\n"
    head += "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    with socket.create_connection(("127.0.0.1", victim.port), 10) as link:
        try:
            link.sendall(head.encode())
            for _ in range(100):
                link.sendall(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
        except OSError:
            return 0
        found = re.match(rb"HTTP/1.1 (\d+)", link.recv(64))
    return int(found[1]) if found else 0


@contextmanager
def half_open(port: int) -> Iterator[tuple[int, int]]:
    """Connections that send nothing: how many were made, and how many of them the server keeps."""
    words = [sys.executable, "-c", OPENER, str(port), str(HALF_OPEN // PROGRAMS)]
    pipe = subprocess.PIPE
    openers = [subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True) for _ in range(PROGRAMS)]
    try:
        opened = sum(_ask(opener) for opener in openers)
        # The end of a connection that was cut arrives within a moment.
        time.sleep(1)
        yield opened, sum(_ask(opener, "count\n") for opener in openers)
    finally:
        for opener in openers:
            opener.communicate("end\n")


def cpu_seconds(pid: int) -> float:
    """What the main thread of a program took so far."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9


def _ask(opener: "subprocess.Popen[str]", words: str = "") -> int:
    """The next number that a program says, once it was told to."""
    assert opener.stdin is not None
    assert opener.stdout is not None
    opener.stdin.write(words)
    opener.stdin.flush()
    return int(opener.stdout.readline())


def start_a_program(folder: Path, tally: Tally) -> None:
    """Requests that name a program to start: as a tool, a server, a parameter or another method."""
    marker = Victim(folder).marker
    command = {"command": "touch", "args": [str(marker)]}
    with gateway(folder, "--permission-mode", "bypass") as victim:
        methods = (
            "servers/add",
            "server/start",
            "mcp/add",
            "config/set",
            "host/apply",
            "tools/call",
            "completion/complete",
        )
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        for method in methods:
            params = {"name": "touch", "server": command, "arguments": command, **command, "_meta": meta}
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
            victim.ask(body=body, MCP_Protocol_Version="2026-07-28", Mcp_Method=method, Mcp_Name="touch")
            tally.count(method, marker.exists())


def listen_everywhere_without_a_token(folder: Path, tally: Tally) -> None:
    """Addresses that other machines reach, without a token."""
    for host in ("0.0.0.0", "[::]", "192.168.0.1", "example.com"):
        done = Victim(folder).run("serve", "--http", f"{host}:0", "--no-token", seconds=20)
        tally.count(host, done.returncode != 2 or "--no-token" not in done.stderr)


ATTACKS = (
    Attack("A18", "a page in a browser uses the gateway", come_from_a_page),
    Attack("A18", "a program without the token uses the gateway", come_without_the_token),
    Attack("A18", "bodies, heads and connections without end", send_too_much),
    Attack("A18", "a request that names a program to start", start_a_program),
    Attack("A18", "a gateway for other machines without a token", listen_everywhere_without_a_token),
)
