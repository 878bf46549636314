"""The page about permissions says what the code does."""

import json
import re
from pathlib import Path

from mooring.core.conversation.verdict import ProposedCall, Rule
from mooring.permissions import argument_match, audit
from mooring.permissions.policy import LEVELS, Policy, RuleLevel
from mooring.settings import MODES, SETTINGS

PAGE = (Path(__file__).parents[2] / "docs" / "guides" / "permissions.md").read_text()


def test_the_example_is_a_list_of_rules_and_does_what_it_looks_like() -> None:
    found = re.search(r"```json\n(.*?)```", PAGE, re.S)
    assert found
    written = json.loads(found[1])["permissions"]
    assert SETTINGS["permissions"].fits(written)
    policy = Policy([RuleLevel("user", tuple(Rule(**rule) for rule in written))])
    calls = [
        ProposedCall("github", "get_issue"),
        ProposedCall("shell", "run", {"command": "sudo rm -rf /"}),
        ProposedCall("shell", "run"),
    ]
    assert [policy.decide(call).action for call in calls] == ["allow", "deny", "ask"]


def test_every_name_in_the_table_means_what_stands_beside_it() -> None:
    table = PAGE.split("|---|---|\n")[1].split("\n\n")[0]
    rows = dict(re.findall(r"^\| (`.*?) \| (.*?) \|$", table, re.M))
    assert len(rows) == 7
    # Those of local tools are about a tool's arguments, and tested with these.
    of_servers = {names: meaning for names, meaning in rows.items() if "local tool" not in meaning}
    assert len(of_servers) == 6
    for names, meaning in of_servers.items():
        for name in re.findall(r"`([^`]+)`", names):
            policy = Policy([RuleLevel("user", (Rule(name, "deny"),))])
            own = policy.decide(ProposedCall(None, "ListMcpResources")).action
            theirs = policy.decide(ProposedCall("github", "get_issue")).action
            assert (theirs == "deny") == ("own tool of that name" not in meaning), name
            assert (own == "deny") == ("Mooring's own" in meaning), name


def test_levels_modes_and_figures_are_those_of_the_code() -> None:
    assert re.findall(r"^\| `(\w+)`", PAGE.split("## Levels")[1].split("Within")[0], re.M) == list(LEVELS)
    assert re.findall(r"^\| `([\w-]+)`", PAGE.split("## Modes")[1], re.M) == list(MODES)
    figures = f"{argument_match.MAX_VALUES} values, {argument_match.MAX_TEXT // 1024} Ki characters, {argument_match.MAX_FOREIGN // 1024} Ki"
    assert figures in PAGE
    assert re.search(rf"\b{argument_match.MAX_DEPTH}\s+levels", PAGE)
    assert (audit.OLDER_FILES + 1, audit.MAX_FILE_BYTES) == (4, 8 * 1024 * 1024)
