"""`mooring mcp reset`: withdraws decisions about a project's servers, and "always" answers about tools."""

import click

from mooring.cli.base import Globals, complete_server, get_globals, list_shell_words, print_json, say
from mooring.core.conversation.verdict import LOCAL_TOOLS
from mooring.core.text.suggestions import nearest
from mooring.display.text import safe, short_path
from mooring.errors import ConfigError, MooringError, UnknownServer
from mooring.inventory.approval import reset
from mooring.inventory.load import Inventory
from mooring.permissions.rule import parse_pair, spell_rule
from mooring.permissions.rules import WithdrawnRule, is_answer, load_policy, withdraw_allow


def complete_decided(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a server, or a rule that an answer left behind."""
    options = get_globals(ctx)
    try:
        rules = _list_answers(options, options.inventory(remember=False))
    except MooringError:
        rules = []
    answers = [rule for rule in rules if rule.startswith(incomplete)]
    return [*complete_server(ctx, parameter, incomplete), *list_shell_words(answers)]


def run(options: Globals, names: tuple[str, ...], agent: str | None) -> None:
    """Withdraw what you decided about a server or a tool."""
    inventory = options.load_servers(agent)
    where = options.workspace().where
    servers = [name for name in names if _is_server(inventory, name)]
    tools = [name for name in names if name not in servers]
    project = _find_project(options, inventory)
    # Before anything is changed: one wrong name changes nothing.
    for tool in tools:
        _check_answer(options, inventory, tool)
    undecided = reset(inventory, servers, where)
    removed = [rule for tool in tools for rule in withdraw_allow(where, project, tool)]
    if options.json:
        print_json({"servers": undecided, "rules": removed})
    else:
        _print_results(servers, undecided, removed, where.home)


def _is_server(inventory: Inventory, name: str) -> bool:
    try:
        inventory.find(name)
    except UnknownServer:
        # A tool is named with its server; anything else is a server's name, misspelled.
        if parse_pair(name) is None and name.partition("(")[0] not in LOCAL_TOOLS:
            raise
        return False
    return True


def _list_answers(options: Globals, inventory: Inventory) -> list[str]:
    """The rules that can be withdrawn."""
    policy = load_policy(inventory.settings, options.workspace().where, _find_project(options, inventory))
    found: list[str] = []
    for level in policy.layers:
        if level.level in ("user", "local"):
            found += [spell_rule(rule) for rule in level.rules if is_answer(rule)]
    return found


def _find_project(options: Globals, inventory: Inventory) -> str | None:
    return inventory.root if options.project else None


def _check_answer(options: Globals, inventory: Inventory, tool: str) -> None:
    """See that there is a rule to remove. Raises: ConfigError."""
    answers = _list_answers(options, inventory)
    if any(_is_same_tool(tool, answer) for answer in answers):
        return
    near = nearest(tool, answers, 1)
    hint = f"Did you mean {near[0]}?" if near else "`mooring settings permissions` shows the rules."
    raise ConfigError(f"No answer of yours allows {tool}.", hint)


def _is_same_tool(tool: str, answer: str) -> bool:
    if tool in (answer, answer.partition("(")[0]):
        return True
    return parse_pair(tool) is not None and parse_pair(tool) == parse_pair(answer)


def _print_results(servers: list[str], undecided: tuple[str, ...], removed: list[WithdrawnRule], home: str) -> None:
    for name in undecided:
        say(f"{safe(name)} is undecided: it does not start until you approve it.")
    if servers and not undecided:
        say(f"Nothing was decided about {safe(', '.join(servers))}.", err=True)
    for rule in removed:
        say(f"Removed from {short_path(rule.path, home)}: allow {safe(rule.tool)}")
