"""How the host and its guard talk: framed messages, and descriptors beside them, over a Unix stream socket.

A stream, because a SOCK_SEQPACKET message must fit the send buffer (about 200 KB) while an environment may be 2 MiB,
and because macOS has no SOCK_SEQPACKET.
"""

import errno
import marshal
import sys

from .native import os, socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

_MSG_CMSG_CLOEXEC: int = getattr(socket, "MSG_CMSG_CLOEXEC", 0)  # macOS has none


class Channel:
    """Messages and descriptors over one non-blocking stream socket; descriptors are closed here once sent.

    Descriptors arrive no later than the message they were sent with, and in the same order: `take` hands them out.
    """

    def __init__(self, sock: "socket.socket") -> None:
        sock.setblocking(False)
        self.sock = sock
        self._unsent: list[tuple[memoryview, Sequence[int]]] = []
        self._received = bytearray()
        self._descriptors: list[int] = []

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def send(self, message: "tuple[Any, ...]", fds: "Sequence[int]" = ()) -> None:
        """Queue a message and write what the socket takes; `flush` writes the rest."""
        # Both ends are the same interpreter, so marshal will do; json and pickle would have to be loaded.
        body = marshal.dumps(message)
        frame = memoryview(len(body).to_bytes(4, "little") + body)
        self._unsent.append((frame, fds))
        self.flush()

    def flush(self) -> None:
        """Write as much of the queue as the socket takes now."""
        try:
            while self._unsent:
                self._write_first()
        except (BrokenPipeError, ConnectionResetError):
            self.drop()  # the reading side notices the end by itself
        except OSError as error:
            # ETOOMANYREFS: more descriptors are on their way than the system allows. Both pass.
            if error.errno not in (errno.EAGAIN, errno.ETOOMANYREFS):
                raise

    def _write_first(self) -> None:
        data, fds = self._unsent[0]
        sent = self.sock.sendmsg([data], _pack_descriptors(fds))
        # The descriptors went with the first byte, however few of the others did.
        close(fds)
        if sent == len(data):
            del self._unsent[0]
        else:
            self._unsent[0] = data[sent:], ()

    def receive(self) -> "Iterator[tuple[Any, ...]]":
        """The messages that have arrived.

        Raises:
            EOFError: the other side is gone.
        """
        try:
            data, ancillary, flags, _ = self.sock.recvmsg(65536, 256, _MSG_CMSG_CLOEXEC)
        except BlockingIOError:
            return
        except ConnectionResetError:
            raise EOFError from None
        if not data:
            raise EOFError
        if flags & socket.MSG_CTRUNC:
            raise OSError(errno.EMFILE, "descriptors were lost on the way")
        self._descriptors += _unpack_descriptors(ancillary)
        self._received += data
        while (end := 4 + int.from_bytes(self._received[:4], "little")) <= len(self._received):
            body = bytes(memoryview(self._received)[4:end])
            del self._received[:end]
            yield marshal.loads(body)

    def take(self, count: int) -> list[int]:
        """The next descriptors that have arrived; the caller closes them."""
        taken = self._descriptors[:count]
        del self._descriptors[:count]
        return taken

    def drop(self) -> None:
        """Forget what was not sent."""
        for _, fds in self._unsent:
            close(fds)
        self._unsent.clear()

    def close(self) -> None:
        self.drop()
        self.sock.close()


def _pack_descriptors(fds: "Sequence[int]") -> "list[tuple[int, int, bytes]]":
    if not fds:
        return []
    packed = b"".join(fd.to_bytes(4, sys.byteorder) for fd in fds)
    return [(socket.SOL_SOCKET, socket.SCM_RIGHTS, packed)]


def _unpack_descriptors(ancillary: "Iterable[tuple[int, int, bytes]]") -> "Iterator[int]":
    for _, _, packed in ancillary:
        for start in range(0, len(packed) // 4 * 4, 4):
            fd = int.from_bytes(packed[start : start + 4], sys.byteorder)
            os.set_inheritable(fd, False)  # where MSG_CMSG_CLOEXEC does not exist
            yield fd


def close(fds: "Iterable[int]") -> None:
    for fd in fds:
        os.close(fd)
