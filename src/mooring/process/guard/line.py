"""How the host and its guard talk: framed messages, and descriptors beside them, over a unix stream socket.

A stream, because a SOCK_SEQPACKET message must fit the send buffer (about 200 KB) while an environment may be 2 MiB,
and because macOS has no SOCK_SEQPACKET.
"""

import errno
import marshal
import sys

from .halves import os, socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any


class Line:
    """Messages and descriptors over one non-blocking stream socket; descriptors that are sent are closed here.

    Descriptors arrive no later than the message they were sent with, in the same order: `take` hands them out.
    """

    def __init__(self, sock: "socket.socket") -> None:
        sock.setblocking(False)
        self.sock = sock
        self._out: list[tuple[memoryview, Sequence[int]]] = []
        self._in = bytearray()
        self._fds: list[int] = []

    @property
    def pending(self) -> bool:
        return bool(self._out)

    def send(self, message: "tuple[Any, ...]", fds: "Sequence[int]" = ()) -> None:
        """Queue a message and write what the socket takes; `flush` writes the rest."""
        body = marshal.dumps(message)
        self._out.append((memoryview(len(body).to_bytes(4, "little") + body), fds))
        self.flush()

    def flush(self) -> None:
        try:
            while self._out:
                data, fds = self._out[0]
                sent = self.sock.sendmsg([data], _ancillary(fds))
                close(fds)
                self._out[0] = data[sent:], ()
                if sent == len(data):
                    del self._out[0]
        except (BrokenPipeError, ConnectionResetError):
            self.drop()  # the reading side learns of the end by itself
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ETOOMANYREFS):
                raise

    def receive(self) -> "Iterator[tuple[Any, ...]]":
        """The messages that have arrived.

        Raises:
            EOFError: the other side is gone.
        """
        try:
            data, ancillary, flags, _ = self.sock.recvmsg(65536, 256, _CLOEXEC)
        except BlockingIOError:
            return
        except ConnectionResetError:
            data, ancillary, flags = b"", [], 0
        if not data:
            raise EOFError
        if flags & socket.MSG_CTRUNC:
            raise OSError(errno.EMFILE, "descriptors were lost on the way")
        self._fds += _descriptors(ancillary)
        self._in += data
        while (end := 4 + int.from_bytes(self._in[:4], "little")) <= len(self._in):
            body = bytes(memoryview(self._in)[4:end])
            del self._in[:end]
            yield marshal.loads(body)

    def take(self, count: int) -> list[int]:
        taken, self._fds = self._fds[:count], self._fds[count:]
        return taken

    def drop(self) -> None:
        """Forget what was not sent."""
        for _, fds in self._out:
            close(fds)
        self._out.clear()

    def close(self) -> None:
        self.drop()
        self.sock.close()


_CLOEXEC: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)


def _ancillary(fds: "Sequence[int]") -> "list[tuple[int, int, bytes]]":
    packed = b"".join(fd.to_bytes(4, sys.byteorder) for fd in fds)
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)] if fds else []


def _descriptors(ancillary: "Iterable[tuple[int, int, bytes]]") -> "Iterator[int]":
    for _, _, packed in ancillary:
        for at in range(0, len(packed) // 4 * 4, 4):
            fd = int.from_bytes(packed[at : at + 4], sys.byteorder)
            os.set_inheritable(fd, False)
            yield fd


def close(fds: "Iterable[int]") -> None:
    """Close these descriptors."""
    for fd in fds:
        os.close(fd)
