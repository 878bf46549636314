"""The backend of Mooring's own agent: a model is asked, and the loop makes its calls."""

from collections.abc import Awaitable, Callable

from mooring.agents.loop import run_task, run_turn
from mooring.agents.thread import AgentThread
from mooring.backends.host_servers import HostServers
from mooring.core.conversation.turn import Receipt, TurnInput


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

    async def turn(self, said: TurnInput | None) -> None:
        """See `Backend.turn`. Without `said`, a turn that was interrupted goes on where it was interrupted."""
        with self.thread.inbox.opened():
            await self.prepare()
            await run_turn(self.thread, said)

    def add(self, said: TurnInput) -> Receipt:
        """See `Backend.add`."""
        return self.thread.inbox.add(said)

    async def run_task(self, agent: str, task: str) -> None:
        """Have one of the agents do a task for the user, in a turn of its own."""
        await self.prepare()
        await run_task(self.thread, agent, task)

    async def prepare(self) -> None:
        """Look at everything that a turn begins with."""
        if self._prepare is not None:
            await self._prepare()

    async def close(self) -> None:
        await self.thread.model.close()
