"""What one conversation with another agent's program is started with."""

from collections.abc import Callable, Mapping

from msgspec import Struct

from mooring.agents.definition import AgentDefinition
from mooring.core.conversation.backend_name import ServersWay
from mooring.process.programs import Guard


class BackendOptions(Struct, frozen=True, kw_only=True):
    """How one agent's program works."""

    cwd: str
    env: Mapping[str, str]
    """The environment to start it with, already without what looks like a secret. Each backend adds the keys of the
    providers that its program needs."""
    guard: Guard
    """Starts the program, and ends it with everything that it started."""
    model: str | None = None
    """The model as the agent names it; `None` for its own default."""
    instructions: str = ""
    """What is added to the agent's system prompt."""
    agents: tuple[AgentDefinition, ...] = ()
    agent: str | None = None
    """The defined agent that the person talks to, if it is one."""
    servers: ServersWay = "shared"
    resume: str | None = None
    """The agent's own id of the session that goes on."""
    on_session: Callable[[str], None] = lambda _: None
    """Told the agent's own id of the session, as soon as it is known and whenever it changes."""

    @property
    def main_agent(self) -> AgentDefinition | None:
        """The definition of the agent that the person talks to; `None` if it is the program's own."""
        return next((agent for agent in self.agents if agent.name == self.agent), None)

    def __repr__(self) -> str:
        return f"<BackendOptions in {self.cwd}, {self.servers}>"
