"""GitHub's library for Copilot: loaded when it is needed, and nothing else of Mooring knows its types."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any, Final


async def load_sdk() -> None:
    # In a thread: it takes more than a second of CPU, in which nothing else would go on.
    await asyncio.to_thread(_import_sdk)


def _import_sdk() -> None:
    import copilot

    # Whatever fails is told by an exception or an event. The library also logs it, with its traceback, and without a
    # handler that would end up in the middle of the chat.
    logging.getLogger(copilot.__name__).addHandler(logging.NullHandler())


def make_client(port: int, token: str) -> Any:
    """A client for a program that listens on loopback."""
    from copilot import CopilotClient, RuntimeConnection

    connection = RuntimeConnection.for_uri(f"127.0.0.1:{port}", connection_token=token)
    return CopilotClient(connection=connection)


def list_failures() -> tuple[type[Exception], ...]:
    """What the library raises when the program refuses something, or is gone."""
    # It has no public name for them.
    from copilot._jsonrpc import JsonRpcError, ProcessExitedError

    return JsonRpcError, ProcessExitedError, OSError, RuntimeError


def describe_failure(error: Exception) -> str:
    """What the program says about its refusal, without the library's words around it."""
    return str(getattr(error, "message", error)).rpartition(" failed with message: ")[2]


# --- answers to permission requests -----------------------------------------------------------------------------------


def answer(refusal: str | None) -> Any:
    """Allow a call once, or refuse it with words for the model."""
    from copilot.rpc import PermissionDecisionApproveOnce, PermissionDecisionReject

    return PermissionDecisionApproveOnce() if refusal is None else PermissionDecisionReject(feedback=refusal)


def answer_nothing() -> Any:
    """Nobody is there to decide."""
    from copilot.rpc import PermissionDecisionUserNotAvailable

    return PermissionDecisionUserNotAvailable()


# --- servers of a session ---------------------------------------------------------------------------------------------


_REQUESTS: Final = {
    "enable": "MCPEnableRequest",
    "disable": "MCPDisableRequest",
    "restart_server": "MCPRestartServerRequest",
    "stop_server": "MCPStopServerRequest",
}
"""The request of each method that takes a server's name and nothing else."""


async def change_server(session: Any, method: str, name: str) -> None:
    """Call one of these methods for a server of a session."""
    from copilot import rpc

    request = getattr(rpc, _REQUESTS[method])
    await getattr(session.rpc.mcp, method)(request(server_name=name))


async def start_server(session: Any, name: str, config: Mapping[str, Any]) -> None:
    """Give a session one more server, or a server another configuration."""
    from copilot.rpc import MCPSerializableServerConfig, MCPStartServerRequest

    written = MCPSerializableServerConfig.from_dict(dict(config))
    await session.rpc.mcp.start_server(MCPStartServerRequest(server_name=name, config=written))
