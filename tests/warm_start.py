"""A process in which Mooring is loaded, and which forks for every command: `warm.py` starts it and talks to it.

What is forked runs the command `mooring`, or another program, from its first line to its last, with descriptors,
words, folder, environment and, if it shall have one, a terminal of its own. Only what Python and the modules need to
load is not done again.
"""

import array
import fcntl
import gc
import json
import os
import selectors
import socket
import sys
import termios
import time
from contextlib import suppress
from importlib import import_module
from pkgutil import walk_packages
from typing import Any, NamedTuple

import mooring

# By these names in the outermost program, Mooring knows that it is the command and not a library.
from mooring.cli import main

LONGEST = 1024 * 1024
MODELS = "mooring.backends.api"
"""Loads the libraries of every provider of models: three seconds and 100 MB, which is for those who talk to one."""
NEVER = ("mooring.adapters", "mooring.testing")


class Request(NamedTuple):
    """A command to run, and the socket to which its process id and then its exit code go."""

    told: dict[str, Any]
    descriptors: tuple[int, ...]
    answers: socket.socket


def preload(*, models: bool) -> None:
    for module in walk_packages(mooring.__path__, "mooring."):
        is_unwanted = module.name.startswith(NEVER) or module.name.endswith("__main__")
        if is_unwanted or (module.name.startswith(MODELS) and not models):
            continue
        try:
            import_module(module.name)
        except ModuleNotFoundError:
            continue  # it belongs to an extra that is not installed
    gc.collect()
    gc.freeze()


class Forking:
    """Reads requests, and tells how each process ended."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        self._selector = selectors.DefaultSelector()
        self._selector.register(requests, selectors.EVENT_READ)

    def wait_in_parent(self) -> Request:
        """The request of this process, in each process that was forked for one; in the first one, it never returns."""
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is not self._requests:
                    self._report_end(key)
                    continue
                request = self._read()
                pid = os.fork()
                if pid == 0:
                    self._close()
                    return request
                self._watch(pid, request)

    def _close(self) -> None:
        """Close what the process had before the fork: as garbage, it would later close what has its descriptors then."""
        for answers in (key.data[1] for key in self._selector.get_map().values() if key.data):
            answers.close()
        self._selector.close()
        self._requests.close()

    def _read(self) -> Request:
        data, ancillary, _, _ = self._requests.recvmsg(LONGEST, socket.CMSG_SPACE(4 * 4))
        if not data:
            os._exit(0)  # whoever asked is gone
        found = array.array("i", ancillary[0][2])
        return Request(json.loads(data), tuple(found[:3]), socket.socket(fileno=found[3]))

    def _watch(self, pid: int, request: Request) -> None:
        for descriptor in request.descriptors:
            os.close(descriptor)
        request.answers.send(f"{pid}\n".encode())
        self._selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, request.answers))

    def _report_end(self, key: selectors.SelectorKey) -> None:
        pid, answers = key.data
        self._selector.unregister(key.fd)
        os.close(key.fd)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        with answers, suppress(OSError):  # perhaps nobody waits for it any more
            answers.send(f"{code}\n".encode())


def become(request: Request) -> str:
    """Be the process that was asked for, as if it had just been started; what it shall run, if it isn't `mooring`."""
    told = request.told
    if told["terminal"]:
        os.setsid()
        fcntl.ioctl(request.descriptors[0], termios.TIOCSCTTY, 0)
    for target, descriptor in enumerate(request.descriptors):
        os.dup2(descriptor, target)
    request.answers.close()
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.umask(told["umask"])
    os.chdir(told["cwd"])
    os.environ.clear()
    os.environ.update(told["env"])
    time.tzset()
    sys.path += filter(None, told["env"].get("PYTHONPATH", "").split(os.pathsep))
    sys.argv = told["words"]
    _open_streams()
    source: str = told["source"]
    return source


def _open_streams() -> None:
    """As Python does at its start: whether they are terminals is known from now on."""
    sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", errors="surrogateescape")  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", errors="surrogateescape")  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = os.fdopen(2, "w", 1, encoding="utf-8", errors="backslashreplace")  # type: ignore[misc]


preload(models=sys.argv[2] == "models")
source = become(Forking(socket.socket(fileno=int(sys.argv[1]))).wait_in_parent())
if source:
    exec(compile(source, sys.argv[0], "exec"), {"__name__": "__main__", "__file__": sys.argv[0]})
else:
    main()
