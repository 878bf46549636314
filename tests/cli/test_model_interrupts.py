"""Ctrl+C wherever a request to a model can hang: the command ends at once, and so does the connection."""

import signal
import socket
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import pytest

from backends.asking import MODELS
from chat.terminal import Person
from chat.test_undo import READY, leave
from support import MOORING, Home, running

pytestmark = [pytest.mark.processes, pytest.mark.timeout(300)]

SECONDS = 3.0
"""How long the end may take on a busy machine. It takes a tenth of a second on an idle one."""
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
OVERLOADED = b"HTTP/1.1 529 Overloaded\r\nretry-after: 60\r\nContent-Length: 2\r\n\r\n{}"


def make_events() -> bytes:
    began = b'event: message_start\ndata: {"type": "message_start", "message": {"usage": {}}}\n\n'
    block = (
        b'{"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": "Once upon a time"}}'
    )
    return began + b"event: content_block_start\ndata: " + block + b"\n\n"


def make_compressed() -> bytes:
    packer = zlib.compressobj(wbits=31)
    packed = packer.compress(make_events()) + packer.flush(zlib.Z_SYNC_FLUSH)
    return STREAM + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n" % (len(packed), packed)


ANSWERS = {
    "waiting for headers": b"",
    "in the headers": STREAM,
    "in a stream": STREAM + b"\r\n" + make_events(),
    "in a compressed stream": make_compressed(),
    "in an error": b"HTTP/1.1 500 No\r\nContent-Length: 1000\r\n\r\n{",
    "in the wait before a retry": OVERLOADED,
}
"""What comes of an answer before nothing more comes."""


class Hanging:
    """A server that answers every request with this, and then with nothing."""

    def __init__(self, answer: bytes) -> None:
        self.asked = 0
        self.closed = 0
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            head = b""
            while b"\r\n\r\n" not in head and not self._is_tls(head):
                piece = client.recv(65536)
                if not piece:
                    break
                head += piece
            client.sendall(self._answer)
            self.asked += 1
            try:
                while client.recv(65536):
                    pass
            except ConnectionResetError:
                pass
            self.closed += 1

    def _is_tls(self, head: bytes) -> bool:
        return head.startswith(b"\x16")


@contextmanager
def unanswered() -> Iterator[str]:
    """The address of a listener that takes no connection any more, as one behind a firewall."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        fillers = [socket.socket() for _ in range(3)]
        for filler in fillers:
            filler.setblocking(False)
            filler.connect_ex(listener.getsockname())
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        for filler in fillers:
            filler.close()


def wait_until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + 100
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def interrupt(home: Home, url: str, is_waiting: Callable[[subprocess.Popen[str]], object]) -> str:
    """Interrupt a prompt once it waits; what it said. It ends within a second, and leaves no process."""
    nonce = uuid4().hex
    env = {**home.env, "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": url, "NONCE": nonce}
    words = ("chat", "-p", "Hi", "-m", MODELS["anthropic"], "--no-project")
    pipes: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([MOORING, *words], cwd=home.cwd, env=env, text=True, **pipes) as process:
        wait_until(lambda: is_waiting(process))
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(100) == 130
        took = time.monotonic() - began
        out, error = process.communicate()
    assert took < SECONDS
    assert "Traceback" not in error
    wait_until(lambda: not running(nonce))
    return str(out + error)


@pytest.mark.parametrize("place", ANSWERS)
def test_an_interrupt_ends_a_prompt_and_its_connection_wherever_the_provider_hangs(place: str, home: Home) -> None:
    with Hanging(ANSWERS[place]) as server:
        interrupt(home, server.url, lambda process: server.asked and time.sleep(0.3) is None)
        wait_until(lambda: server.closed == server.asked)
        assert server.asked == 1


def test_an_interrupt_ends_a_prompt_while_nobody_takes_its_connection(home: Home) -> None:
    with unanswered() as url:
        port = int(url.rpartition(":")[2])
        interrupt(home, url, lambda process: is_connecting(port) and time.sleep(0.3) is None)


def is_connecting(port: int) -> bool:
    """Whether one more than those that fill the listener waits for a connection to this port."""
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:]
    waiting = [line for line in lines if line.split()[2].endswith(f":{port:04X}") and line.split()[3] == "02"]
    return len(waiting) > 1


@pytest.mark.parametrize("way", ["tls", "proxy"])
def test_an_interrupt_ends_a_prompt_while_a_handshake_hangs(way: str, home: Home) -> None:
    with Hanging(b"") as server:
        url = server.url.replace("http:", "https:")
        if way == "proxy":
            home.write("home/.config/mooring/settings.json", {"network": {"proxy": server.url}})
            url = "https://far.example"
        interrupt(home, url, lambda process: server.asked and time.sleep(0.3) is None)
        wait_until(lambda: server.closed == server.asked)


def test_the_chat_goes_on_after_an_interrupt_wherever_the_provider_hangs(home: Home) -> None:
    for place, answer in ANSWERS.items():
        with Hanging(answer) as server:
            env = {"ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": server.url}
            with Person(home, "chat", "-m", MODELS["anthropic"], cells=100, **env) as person:
                person.answers((READY, f"Hi, {place}"))
                wait_until(lambda server=server: server.asked and time.sleep(0.3) is None)
                began = time.monotonic()
                person.presses("\x03")
                person.sees("Stopped.")
                assert time.monotonic() - began < SECONDS
                wait_until(lambda server=server: server.closed == server.asked)
                leave(person)
