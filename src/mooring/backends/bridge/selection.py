"""Which tools of a server the definition of an agent selects, for a program that has to be told them by name."""

from collections.abc import Sequence

from mooring.backends.bridge.bridge import AgentBridge
from mooring.conversation.scope import ToolScope


def select_tools_of(bridge: AgentBridge, server: str, scope: ToolScope) -> Sequence[str] | None:
    """The tools of a server that are known now and in a scope; `None` for all of them, and those it lists later."""
    known = bridge.list_tools(server)
    fitting = [tool for tool in known if scope.allows_pair(server, tool)]
    if len(fitting) == len(known) and scope.allows_server(server):
        return None
    return fitting
