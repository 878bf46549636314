"""The backend of Mooring's own agent: a model is asked, and the loop makes its calls."""

from collections.abc import Awaitable, Callable

from mooring.agents.loop import run_turn
from mooring.agents.thread import AgentThread
from mooring.backends.host_servers import HostServers
from mooring.core.conversation.turn import TurnInput


class AgentBackend:
    """One conversation with a model."""

    name = "api"

    def __init__(
        self, thread: AgentThread, servers: HostServers, prepare: Callable[[], Awaitable[None]] | None = None
    ) -> None:
        """`prepare` is awaited before each turn: what the system prompt says may have changed on disk."""
        self.thread = thread
        self._prepare = prepare
        self.status = servers.status
        self.switch = servers.switch
        self.reconnect = servers.reconnect

    async def turn(self, said: TurnInput) -> None:
        """See `Backend.turn`."""
        await self._run(said)

    async def resume(self) -> None:
        """Go on with a turn that was interrupted, where it was interrupted."""
        await self._run(None)

    async def _run(self, said: TurnInput | None) -> None:
        if self._prepare is not None:
            await self._prepare()
        await run_turn(self.thread, said)

    async def close(self) -> None:
        """Close the connection to the model."""
        await self.thread.model.close()
