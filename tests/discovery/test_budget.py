"""A repository does not decide how long a listing takes, nor keep the person's own files from being read."""

import json
from time import process_time

import pytest

from mooring.core.protocol.units import MIB
from mooring.discovery.documents import MOST_SERVERS
from support import Cli, Home, is_within

PLACES = (
    ".mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", ".gemini/settings.json", ".qwen/settings.json",
    ".roo/mcp.json", ".amazonq/default.json", ".kiro/settings/mcp.json", "opencode.json", ".crush.json",
    ".zed/settings.json", ".junie/mcp/mcp.json", ".factory/mcp.json", ".kilocode/mcp.json", "mcporter.json",
    ".mooring/mcp.json",
)  # fmt: skip


def fill(start: str, unit: str, end: str) -> str:
    return start + unit * ((MIB - len(start + end)) // len(unit)) + end


def many_servers(place: str) -> str:
    return json.dumps({"mcpServers": {f"{place}-{number}": {"command": "x"} for number in range(1000)}})


HOSTILE = {
    "one key again and again": fill("{", '"a":1,', '"a":1}'),
    "one key far down": fill('{"a":' * 60 + "{", '"a":{},', '"a":1}' + "}" * 60),
    "empty objects": fill("[", "{},", "{}]"),
    "comments": fill("{", "//\n", "}"),
    "trailing commas": fill("[", "[1,],", "1,]"),
    "different keys twice": "{" + ",".join(f'"{key:x}":0' for key in [*range(55_000)] * 2) + "}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_sixteen_hostile_files_of_a_project_delay_a_listing_by_less_than_two_seconds(
    name: str, home: Home, cli: Cli
) -> None:
    home.configure(own={"command": "x"})
    for place in PLACES:
        home.write(f"project/{place}", HOSTILE[name])
    began = process_time()
    listed = cli("mcp", "list")
    assert is_within(process_time() - began, 2)
    assert "own" in listed.out


def test_sixteen_thousand_servers_of_a_project_are_cut_and_the_persons_own_stay(home: Home, cli: Cli) -> None:
    home.configure(own={"command": "x"})
    for place in PLACES:
        home.write(f"project/{place}", many_servers(place))
    began = process_time()
    listed = cli("mcp", "list", "--json")
    assert is_within(process_time() - began, 4)
    names = [row["name"] for row in listed.data["servers"]]
    assert len(names) == MOST_SERVERS + 1
    assert "own" in names
    assert "servers more than the 1,000 that are read" in listed.out


def test_what_no_longer_fits_is_a_problem_with_its_file_and_a_smaller_file_is_still_read(home: Home) -> None:
    large = json.dumps({"mcpServers": {}, "x": "y" * (MIB - 100)})
    for place in PLACES[:3]:
        home.write(f"project/{place}", large)
    home.write("project/.mooring/mcp.json", {"mcpServers": {"small": {"command": "x"}}})
    found = home.inventory()
    assert [choice.name for choice in found.choices] == ["small"]
    (problem,) = [problem for problem in found.problems if "together" in problem.message]
    assert problem.message.startswith("The file is skipped: the files of a project can have 2 MiB and 50,000 values")
    assert problem.path is not None


def test_toml_costs_four_times_as_much(home: Home) -> None:
    home.write("project/.codex/config.toml", "#" * (MIB // 2) + "\n")
    assert any("TOML a quarter" in problem.message for problem in home.inventory().problems)
    home.write("project/.codex/config.toml", "#" * (MIB // 3) + "\n")
    assert home.inventory().problems == ()


def test_the_persons_own_files_are_charged_to_nobody(home: Home) -> None:
    values = {str(number): number for number in range(60_000)}
    home.write("home/.mcp.json", {"mcpServers": {"own": {"command": "x"}}, "other": values})
    home.write("project/.mcp.json", {"mcpServers": {"theirs": {"command": "x"}}})
    assert {choice.name for choice in home.inventory().choices} == {"own", "theirs"}
