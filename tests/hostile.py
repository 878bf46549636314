"""An MCP server on stdio that offers the tools of a file, and echoes what it is called with."""

import json
import sys
from typing import Any

TOOLS = json.load(open(sys.argv[1]))  # noqa: SIM115  # read once, at the start of a short program


def answer(request: dict[str, Any]) -> dict[str, Any] | None:
    params = request.get("params", {})
    match request["method"]:
        case "initialize":
            offers = {"tools": {}}
            info = {"name": "hostile", "version": "1"}
            return {"protocolVersion": params["protocolVersion"], "capabilities": offers, "serverInfo": info}
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return {"content": [{"type": "text", "text": f"called {params['name']}"}]}
        case _:
            return None


for line in sys.stdin:
    request = json.loads(line)
    if "id" in request and "method" in request:
        result = answer(request)
        reply = {"error": {"code": -32601, "message": "unknown"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}) + "\n")
        sys.stdout.flush()
