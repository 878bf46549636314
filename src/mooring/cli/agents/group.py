"""`mooring agents`: the table of its commands. Without a verb it shows agents, or the one whose name it is given."""

from mooring.cli.agent_names import list_agents_for_completion
from mooring.cli.base import ShowGroup, Table

TABLE: Table = {
    "show": ("mooring.cli.agents.show:command", "The agents that can be used here, or all about one."),
    "approve": ("mooring.cli.agents.approve:approve", "Let a project's file have a name of yours or of Mooring's."),
    "reset": ("mooring.cli.agents.approve:reset", "Withdraw an approval of a name."),
}

group = ShowGroup(
    "agents",
    table=TABLE,
    aliases={"list": "show", "ls": "show"},
    list_names=list_agents_for_completion,
    help="Agents that can be used here. `mooring agents` lists them, `mooring agents NAME` shows one.",
)
