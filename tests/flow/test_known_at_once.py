"""What was learned of a server once is known at once, in every folder and whichever way it is used next."""

import json
import sys
from pathlib import Path

import mooring
from mooring.core.conversation.question import No
from support import Actor, Cli, Home


def test_a_server_that_was_asked_in_one_project_is_not_started_for_its_tools_in_another(
    cli: Cli, tmp_path: Path
) -> None:
    actor = Actor(tmp_path / "script.json")
    cli.home.configure(actor=actor.entry)
    other = tmp_path / "another-project"
    (other / ".git").mkdir(parents=True)
    first = cli("tools", "actor")
    assert (first.code, len(actor.done("starts"))) == (0, 1)
    assert cli("tools", "actor").out == first.out
    assert cli("tools", "--cwd", str(other)).code == 0
    assert cli("tools", "actor", "--cwd", str(other)).out == first.out
    assert len(actor.done("starts")) == 1
    assert cli("tools", "actor", "--refresh").code == 0
    assert len(actor.done("starts")) == 2


async def test_a_server_sees_the_same_client_from_the_command_line_as_from_a_program_with_a_person(home: Home) -> None:
    seen = []
    for ask in (None, _say_no):
        script = home.write("home/seen.py", _REPORTER)
        servers = {"seen": {"command": sys.executable, "args": ["-S", str(script)]}}
        async with mooring.open(request=home.request(), policy="allow", servers=servers, ask=ask) as host:
            seen.append(json.loads((await host.call("seen.look", {})).text))
    assert seen[0] == seen[1]
    assert {"roots", "sampling", "elicitation"} <= set(seen[0])


async def _say_no(question: object) -> No:
    return No()


_REPORTER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    params = asked.get("params", {})
    if asked["method"] == "initialize":
        declared = params["capabilities"]
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "seen", "version": "1"}}
    elif asked["method"] == "tools/list":
        result = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        result = {"content": [{"type": "text", "text": json.dumps(declared)}]}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""
