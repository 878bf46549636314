"""A server that still writes when it is closed is read to its end, unless it waits for an answer."""

import asyncio
import sys
from pathlib import Path

import mooring
from mooring.process.child import EOF_GRACE
from support import Home

CHATTY = """
import json, sys, time
out = sys.stdout
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method, params = asked["method"], asked.get("params", {})
    result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "chatty", "version": "1"}}
    elif method == "tools/call":
        result = {"content": []}
    elif method != "tools/list":
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
if len(sys.argv) == 2 and sys.argv[1] == "asks":
    # As server-everything does: it asks only now, and waits for the answer.
    print(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "roots/list"}), flush=True)
    time.sleep(60)
said = 0
try:
    for _ in range(64):
        said += out.write("x" * 16383 + "\\n")
        out.flush()
finally:
    with open(sys.argv[1], "w") as file:
        file.write(str(said))
"""


async def test_a_server_may_say_all_that_it_has_to_say_when_it_is_closed(home: Home, tmp_path: Path) -> None:
    script, said = tmp_path / "chatty.py", tmp_path / "said"
    script.write_text(CHATTY)
    servers = {"chatty": {"command": sys.executable, "args": ["-S", str(script), str(said)]}}
    async with mooring.open(request=home.request(), policy="allow", servers=servers) as host:
        await host.call("chatty.echo")
    assert said.read_text() == str(64 * 16384)
    log = list((home.home / ".local/state/mooring").rglob("*.log"))
    assert not any("BrokenPipe" in path.read_text() for path in log)


async def test_a_server_that_asks_something_when_it_is_closed_is_not_waited_for(home: Home, tmp_path: Path) -> None:
    script = tmp_path / "chatty.py"
    script.write_text(CHATTY)
    servers = {"chatty": {"command": sys.executable, "args": ["-S", str(script), "asks"]}}
    async with mooring.open(request=home.request(), policy="allow", servers=servers) as host:
        await host.call("chatty.echo")
        began = asyncio.get_running_loop().time()
    assert asyncio.get_running_loop().time() - began < EOF_GRACE
