"""Rovo Dev: the common shape in a single file of the person's."""

from mooring.discovery.dialect import PLAIN
from mooring.discovery.format import Format, Obeyed, user_file

FORMAT = Format(
    tool="rovo",
    title="Rovo Dev",
    places=(user_file("~/.rovodev/mcp.json"),),
    dialect=PLAIN,
    obeys=(
        Obeyed("rules", ".agent.md", "~/.rovodev/.agent.md"),
        Obeyed("agents", ".rovodev/subagents", "~/.rovodev/subagents"),
        Obeyed("prompts", ".rovodev/prompts", "~/.rovodev/prompts"),
    ),
)
