"""`reset`: withdraws decisions about a project's servers, and "always" answers about tools."""

from collections.abc import Iterator, Sequence

from mooring.core.conversation.verdict import LOCAL_TOOLS
from mooring.core.definitions.paths import Workspace
from mooring.core.text.suggestions import nearest
from mooring.display.text import safe, short_path
from mooring.errors import ConfigError, UnknownServer
from mooring.inventory.approval import reset as reset_approvals
from mooring.inventory.load import Inventory, load
from mooring.permissions.rule import parse_pair, spell_rule
from mooring.permissions.rules import WithdrawnRule, is_answer, load_policy, withdraw_allow
from mooring.verbs.verb import ShownLine, VerbResult


def reset(workspace: Workspace, names: Sequence[str], agent: str | None) -> VerbResult:
    """Withdraw what was decided about servers or tools. Raises: ConfigError, UnknownServer."""
    inventory = load_servers(workspace, agent)
    where = workspace.where
    servers = [name for name in names if _is_server(inventory, name)]
    tools = [name for name in names if name not in servers]
    # Before anything is changed: one wrong name changes nothing.
    for tool in tools:
        _check_answer(workspace, inventory, tool)
    undecided = reset_approvals(inventory, servers, where)
    project = _find_project(workspace, inventory)
    removed = [rule for tool in tools for rule in withdraw_allow(where, project, tool)]
    lines = _show_results(servers, undecided, removed, where.home)
    return VerbResult({"servers": undecided, "rules": removed}, lines)


def load_servers(workspace: Workspace, agent: str | None) -> Inventory:
    """The configured servers, or those that an agent's own file defines. Raises: ConfigError."""
    if agent is None:
        return load(workspace)
    from mooring.verbs.agent.servers import load_servers_of_agent  # brings the host along

    return load_servers_of_agent(workspace, agent)


def list_answers(workspace: Workspace, inventory: Inventory) -> list[str]:
    """The rules that can be withdrawn."""
    policy = load_policy(inventory.settings, workspace.where, _find_project(workspace, inventory))
    levels = [level for level in policy.layers if level.level in ("user", "local")]
    return [spell_rule(rule) for level in levels for rule in level.rules if is_answer(rule)]


def _is_server(inventory: Inventory, name: str) -> bool:
    try:
        inventory.find(name)
    except UnknownServer:
        # A tool is named with its server; anything else is a server's name, misspelled.
        if parse_pair(name) is None and name.partition("(")[0] not in LOCAL_TOOLS:
            raise
        return False
    return True


def _find_project(workspace: Workspace, inventory: Inventory) -> str | None:
    return inventory.root if workspace.project else None


def _check_answer(workspace: Workspace, inventory: Inventory, tool: str) -> None:
    """See that there is a rule to remove. Raises: ConfigError."""
    answers = list_answers(workspace, inventory)
    if any(_is_same_tool(tool, answer) for answer in answers):
        return
    near = nearest(tool, answers, 1)
    hint = f"Did you mean {near[0]}?" if near else "`mooring settings permissions` shows the rules."
    raise ConfigError(f"No answer of yours allows {tool}.", hint)


def _is_same_tool(tool: str, answer: str) -> bool:
    if tool in (answer, answer.partition("(")[0]):
        return True
    return parse_pair(tool) is not None and parse_pair(tool) == parse_pair(answer)


def _show_results(
    servers: Sequence[str], undecided: Sequence[str], removed: Sequence[WithdrawnRule], home: str
) -> Iterator[ShownLine]:
    for name in undecided:
        yield ShownLine(f"{safe(name)} is undecided: it does not start until you approve it.")
    if servers and not undecided:
        yield ShownLine(f"Nothing was decided about {safe(', '.join(servers))}.", is_note=True)
    for rule in removed:
        yield ShownLine(f"Removed from {short_path(rule.path, home)}: {rule.action} {safe(rule.tool)}")
