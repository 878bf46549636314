"""Whole hosts in a project that has a module of the same name: the person's own server, and the project's beside it."""

import sys

import mooring
from mooring.inventory.approval import decide, list_questions
from support import Home

SERVER = """
WORD = {word!r}
import os, json, sys
for line in sys.stdin:
    asked = json.loads(line)
    answers = {{
        "initialize": {{"protocolVersion": "2025-11-25", "capabilities": {{"tools": {{}}}},
                       "serverInfo": {{"name": "gauge", "version": "1"}}}},
        "tools/list": {{"tools": [{{"name": "who", "inputSchema": {{"type": "object"}}}}]}},
        "tools/call": {{"content": [{{"type": "text", "text": f"{{WORD}} in {{os.getcwd()}}"}}]}},
    }}
    if "id" in asked:
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": answers.get(asked["method"], {{}})}}), flush=True)
"""
ENTRY = {"command": sys.executable, "args": ["-m", "gauge"]}


async def test_own_servers_run_what_is_installed_and_the_projects_what_the_project_has(home: Home) -> None:
    site = home.write("site/gauge.py", SERVER.format(word="installed")).parent
    home.write("project/gauge.py", SERVER.format(word="project"))
    home.configure(
        **{f"own{number}": {**ENTRY, "env": {"PYTHONPATH": str(site), "N": str(number)}} for number in range(10)}
    )
    home.write("project/.mcp.json", {"mcpServers": {"theirs": ENTRY}})
    inventory = home.inventory()
    decide(inventory, list_questions(inventory, ["theirs"], home.where), home.where, approve=True)
    async with mooring.open(request=home.request(), policy="allow") as host:
        own = {(await host.call(f"own{number}.who")).text for number in range(10)}
        theirs = (await host.call("theirs.who")).text
    assert (own, theirs) == ({f"installed in {home.project}"}, f"project in {home.project}")


async def test_servers_that_a_program_passes_in_take_nothing_from_the_folder_either(home: Home) -> None:
    site = home.write("site/gauge.py", SERVER.format(word="installed")).parent
    home.write("project/gauge.py", SERVER.format(word="project"))
    given = {"own": {**ENTRY, "env": {"PYTHONPATH": str(site)}}}
    async with mooring.open(request=home.request(), servers=given, policy="allow") as host:
        assert (await host.call("own.who")).text == f"installed in {home.project}"
