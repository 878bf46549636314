"""A server behind a URL that tries to get a token sent elsewhere, or to break the client with its headers."""

import itertools
import json
import socketserver
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

from tests.attacks.table import Attack, Tally, Victim

TOKEN = "canary-bearer-5f1d0c"
REDIRECTS = (301, 302, 303, 307, 308)

ODD_VALUES = ("", "\x00", "a\x00b", "\x01", "a\x7fb", "\t", "\x1b[2J", "é", "\xff\xfe", "a\x0bb", "x" * 9000)
ODD_PAUSES = ("-1", "1e400", "nan", "inf", "9" * 400, "soon", "Mon, 99 Foo 2026 00:00:00 GMT", "\x00", "1;2", "1 2")
ODD_ADDRESSES = (
    "http://[",
    "http://[::1",
    "//",
    "http://",
    ":",
    "\x00",
    "http://a:b:c/",
    "http://a:99999/",
    "http:///x",
)


class _Origin(socketserver.ThreadingTCPServer):
    """A listener on loopback that remembers what it was asked, and answers as the path says."""

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, answering: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.answering = answering
        self.received: list[bytes] = []
        self.failed = False

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def handle_error(self, request: object, client_address: object) -> None:
        """Clients that hang up are expected; nothing else is, and an attack that was not made must not pass."""
        if not isinstance(sys.exception(), OSError):
            self.failed = True


class _Request(socketserver.StreamRequestHandler):
    server: _Origin

    def handle(self) -> None:
        self.request.settimeout(5)
        head = b""
        for line in iter(self.rfile.readline, b""):
            head += line
            if line == b"\r\n":
                break
        self.server.received.append(head)
        target = head.split(b" ")[1].decode("latin-1") if head.count(b" ") > 1 else "/"
        if self.server.answering:
            self.wfile.write(_answer(target))


def _answer(target: str) -> bytes:
    """The response that the address asks for, byte for byte."""
    wanted = {name: values[0] for name, values in parse_qs(urlsplit(target).query, encoding="latin-1").items()}
    status, body = wanted.get("status", "200"), wanted.get("body", "")
    headers = wanted.get("headers", "") + f"Content-Length: {len(body.encode('latin-1'))}\r\nConnection: close\r\n"
    return f"HTTP/1.1 {status} x\r\n{headers}\r\n{body}".encode("latin-1")


@contextmanager
def _listening(answering: bool = True) -> Iterator[_Origin]:
    with _Origin(answering) as origin:
        threading.Thread(target=origin.serve_forever, daemon=True).start()
        yield origin
        origin.shutdown()
        assert not origin.failed, "the listener could not answer as it should"


def _address(origin: _Origin, **wanted: str) -> str:
    query = "&".join(f"{name}={quote(value, safe='', encoding='latin-1')}" for name, value in wanted.items())
    return f"http://127.0.0.1:{origin.port}/mcp?{query}"


def lure_a_token_elsewhere(folder: Path, tally: Tally) -> None:
    """Redirects of every kind, and endpoints of the older transport, that lead to another origin."""
    with _listening() as evil, _listening(answering=False) as canary:
        targets = list(_other_origins(evil.port, canary.port))
        servers = {}
        for status, target in itertools.product(REDIRECTS, targets):
            location = _address(evil, status=str(status), headers=f"Location: {target}\r\n")
            servers[f"redirect {status} to {target}"] = {"type": "http", "url": location}
        for target in targets:
            stream = "Content-Type: text/event-stream\r\n"
            url = _address(evil, headers=stream, body=f"event: endpoint\ndata: {target}\n\n")
            servers[f"endpoint {target}"] = {"type": "sse", "url": url}
        _connect_to_each(Victim(folder), servers)
        for name in servers:
            _count_target(tally, name, canary)
        assert any(TOKEN.encode() in head for head in evil.received), "the token was sent nowhere at all"


def _other_origins(own: int, other: int) -> Iterator[str]:
    """Addresses of the canary, written so that they could be taken for the server's own."""
    yield f"http://127.0.0.1:{other}/taken"
    yield f"//127.0.0.1:{other}/taken"
    yield f"http://localhost:{other}/taken"
    yield f"http://127.0.0.1:{own}@127.0.0.1:{other}/taken"
    yield f"http://127.0.0.1:{other}\\@127.0.0.1:{own}/taken"
    yield f"http:\\\\127.0.0.1:{other}/taken"
    yield f"HTTP://127.1:{other}/taken"
    yield f"http://[::ffff:127.0.0.1]:{other}/taken"


def _count_target(tally: Tally, name: str, canary: _Origin) -> None:
    # The canary is one for all: the first try of a run that reached it stands for the rest.
    tally.count(f"{name}: the other origin received {canary.received[:1]}", bool(canary.received) and not tally.through)


def name_metadata_elsewhere(folder: Path, tally: Tally) -> None:
    """A challenge to log in that names metadata inside the network: nothing is fetched."""
    with _listening() as evil, _listening(answering=False) as canary:
        servers = {}
        for target in _other_origins(evil.port, canary.port):
            challenge = f'WWW-Authenticate: Bearer resource_metadata="{target}"\r\n'
            servers[f"metadata {target}"] = {
                "type": "http",
                "url": _address(evil, status="401", headers=challenge),
            }
        _connect_to_each(Victim(folder), servers)
        for name in servers:
            _count_target(tally, name, canary)


def answer_with_odd_headers(folder: Path, tally: Tally) -> None:
    """Headers and versions that cannot be sent back, pauses and addresses that are none."""
    with _listening() as evil:
        servers = {name: {"type": "http", "url": url} for name, url in _odd_answers(evil)}
        outcome = _connect_to_each(Victim(folder), servers)
    for name in servers:
        problem = outcome.get(name, "")
        tally.count(f"{name}: {problem[:120]!r}", not problem or "Error" in problem or "Traceback" in problem)


def _odd_answers(evil: _Origin) -> Iterator[tuple[str, str]]:
    kind = "Content-Type: application/json\r\n"
    for number, value in enumerate(ODD_VALUES):
        session = f"{kind}Mcp-Session-Id: {value}\r\n"
        yield f"session-{number}", _address(evil, headers=session, body="{}")
        result = {"protocolVersion": value, "capabilities": {}, "serverInfo": {"name": "x", "version": "1"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": result})
        yield f"version-{number}", _address(evil, headers=kind, body=body)
    for number, value in enumerate(ODD_PAUSES):
        yield f"pause-{number}", _address(evil, status="429", headers=f"Retry-After: {value}\r\n")
    for number, value in enumerate(ODD_ADDRESSES):
        yield f"address-{number}", _address(evil, status="307", headers=f"Location: {value}\r\n")


def _connect_to_each(victim: Victim, servers: dict[str, dict[str, str]]) -> dict[str, str]:
    """Connect to all servers with a token in a header; the problem of each."""
    header = {"Authorization": f"Bearer {TOKEN}"}
    definitions = {name: {**definition, "headers": header} for name, definition in servers.items()}
    victim.write(victim.home / ".mcp.json", {"mcpServers": definitions})
    done = victim.run("mcp", "list", "--check", "--json", seconds=60)
    assert "Traceback" not in done.stderr, done.stderr[-300:]
    return {server["name"]: server["error"] or "" for server in json.loads(done.stdout)["servers"]}


ATTACKS = (
    Attack("A14", "a challenge that names metadata inside the network", name_metadata_elsewhere),
    Attack("A17", "redirects and endpoints that lead a token to another origin", lure_a_token_elsewhere),
    Attack("A32", "headers that cannot be sent back, odd pauses and addresses", answer_with_odd_headers),
)
