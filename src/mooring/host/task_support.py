"""Which calls servers make tasks of, and what they say about these."""

from collections.abc import Callable

from msgspec.structs import replace

from mooring.core.protocol.result import TaskState
from mooring.core.protocol.tool import Tool
from mooring.servers.server import Server
from mooring.wire.session.client import TASKS, task_listener


def makes_tasks(server: Server, tool: Tool) -> bool:
    """Whether a server can make a task of a call, as far as is known."""
    if server.offer is None:
        return False
    hello = server.offer.hello
    if hello.offers("extensions", TASKS):
        # It decides with each call, and says nothing about it beforehand.
        return True
    is_possible = tool.execution is not None and tool.execution.task_support != "forbidden"
    return is_possible and hello.offers("tasks", "requests", "tools", "call")


def listen_to_tasks(server: Server, listener: Callable[[TaskState], None]) -> None:
    """Have what a server says of its tasks passed on, as far as they belong to calls of the current task."""

    def listen(state: TaskState) -> None:
        listener(replace(state, message=server.redact(state.message) if state.message else None))

    task_listener.set(listen)
