"""Ten times as much costs at most ten times the CPU; `make bench` measures the same at larger sizes."""

import json
import time
import timeit

import pytest
from msgspec import Raw

from mooring.core.protocol.tool import Listing, Offer, ServerInfo, Tool
from mooring.inventory.admit import admit
from mooring.permissions.audit import log_path
from mooring.servers.cache import Cache
from support import Cli, Home

GENEROUS = 14.0
"""What ten times as much may cost: a machine that others use has its moods."""
SCHEMA = Raw(b'{"type":"object","properties":{"path":{"type":"string","description":"Where it is."}}}')


def remember(home: Home, servers: int, tools: int) -> None:
    """Configure servers whose tools are remembered, so that nothing is started."""
    home.configure(**{f"server-{n}": {"command": "/bin/true", "args": [str(n)]} for n in range(servers)})
    listed = tuple(Tool(name=f"tool_{n}", description="Does things.", input_schema=SCHEMA) for n in range(tools))
    offer = Offer(hello=ServerInfo("2025-11-25"), era="handshake", at=time.time(), tools=Listing(listed))
    cache = Cache(home.where)
    for approved in admit(home.inventory()).wanted.values():
        cache.put(cache.own_key(approved, home.where), offer)
    cache.close()


def cpu(cli: Cli, *words: str) -> float:
    """The CPU of a command, the least of three times."""

    def measure() -> float:
        began = time.process_time()
        assert cli(*words).code == 0
        return time.process_time() - began

    return min(measure() for _ in range(3))


def cpu_of_edit(cli: Cli, variable: str) -> float:
    """The CPU of an edit that changes something, which is possible only once."""
    began = time.process_time()
    assert cli("mcp", "edit", "server-7", "--no-test", "-e", variable).out.startswith("Changed ")
    return time.process_time() - began


@pytest.mark.parametrize(("words", "fewest"), [(["tools"], 80), (["tools", "--cost"], 30), (["mcp", "list"], 80)])
def test_ten_times_the_servers_cost_at_most_ten_times(cli: Cli, words: list[str], fewest: int) -> None:
    spent = []
    for servers in (fewest, 10 * fewest):
        remember(cli.home, servers, 5)
        assert "Warning" not in cli(*words).err
        spent.append(cpu(cli, *words))
    assert spent[1] < GENEROUS * spent[0]


def test_ten_times_the_tools_cost_at_most_ten_times(cli: Cli) -> None:
    spent = []
    for tools in (20, 200):
        remember(cli.home, 20, tools)
        assert f"in all         {tools * 20 + 7:,}" in cli("tools", "--cost").out
        spent.append(cpu(cli, "tools", "--cost"))
    assert spent[1] < GENEROUS * spent[0]


def test_ten_times_the_lines_of_the_log_cost_at_most_ten_times(cli: Cli) -> None:
    line = (
        '{"time":"2026-07-28T09:30:00.125Z","session":"s","server":"a","tool":"t","verdict":"allow","outcome":"ok",'
        '"seconds":0.1}\n'
    )
    spent = []
    for lines in (1_000, 10_000):
        cli.home.write(log_path(cli.home.where), line * lines)
        assert len(cli("log", "-n", "1000000").out.splitlines()) == lines
        spent.append(cpu(cli, "log", "-n", "1000000"))
    assert spent[1] < GENEROUS * spent[0]


def test_ten_times_the_files_cost_at_most_ten_times(cli: Cli) -> None:
    spent = []
    for files in (10, 100):
        options = []
        for file in range(files):
            servers = {f"server-{file}-{n}": {"command": "/bin/true", "args": [f"{file}-{n}"]} for n in range(5)}
            options += ["--config", str(cli.home.write(f"project/{file}.json", {"mcpServers": servers}))]
        assert len(cli(*options, "mcp", "list").out.splitlines()) == files * 5 + 1
        spent.append(cpu(cli, *options, "mcp", "list"))
    assert spent[1] < GENEROUS * spent[0]


def test_an_edit_in_ten_times_the_servers_costs_at_most_ten_times(cli: Cli) -> None:
    spent = []
    for servers in (80, 800):
        entries = {f"server-{n}": {"command": "/bin/true", "args": [str(n)]} for n in range(servers)}
        cli.home.write("home/.config/mooring/mcp.json", json.dumps({"mcpServers": entries}, indent=2))
        spent.append(min(cpu_of_edit(cli, f"A={number}") for number in range(3)))
    assert spent[1] < GENEROUS * spent[0]


def test_the_names_of_one_definition_share_one_list_of_them(home: Home) -> None:
    home.configure(**{f"name-{n:03}": {"command": "/bin/true"} for n in range(200)})
    choices = home.inventory().choices
    assert len({id(choice.names) for choice in choices}) == 1
    assert len(choices[7].aliases) == 199
    assert "name-007" not in choices[7].aliases
    assert admit(home.inventory()).wanted.keys() == {"name-000"}


def test_ten_times_the_filters_of_one_command_cost_at_most_ten_times(home: Home) -> None:
    spent = []
    for servers in (80, 800):
        entries = {f"server-{n}": {"command": "/bin/true", "blockedTools": [f"tool-{n}"]} for n in range(servers)}
        home.write("home/.config/mooring/mcp.json", {"mcpServers": entries})
        inventory = home.inventory()
        assert len(admit(inventory).wanted) == servers
        spent.append(min(timeit.repeat(lambda: admit(inventory), number=1, repeat=30, timer=time.process_time)))  # noqa: B023 - called before the next turn
    assert spent[1] < GENEROUS * spent[0]
