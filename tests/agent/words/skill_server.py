"""A server of the stateless era that offers the skills in a JSON file, on top of the one for `mooring serve`."""

import importlib.util
import json
import sys
import time
from pathlib import Path

PATH = Path(sys.argv[1])
SCRIPT = json.loads(PATH.read_text())
sys.argv[1:] = ["stateless"]
found = importlib.util.spec_from_file_location("plain", Path(__file__).parents[2] / "serve" / "server.py")
assert found is not None
assert found.loader is not None
plain = importlib.util.module_from_spec(found)
found.loader.exec_module(plain)
answer_otherwise = plain.answer


def answer(key, method, params):
    script = json.loads(PATH.read_text())
    if method == "skills/list":
        with open(script["asked"], "a") as file:
            file.write("listed\n")
        time.sleep(script.get("slow", 0))
        return {"skills": script["skills"], "ttlMs": 300000, "cacheScope": "public"}
    if method == "skills/get" and params["uri"] in script.get("hidden", {}):
        return {"skill": script["hidden"][params["uri"]], "ttlMs": 300000, "cacheScope": "public"}
    if method == "resources/read" and params["uri"] in script["texts"]:
        return {"contents": [{"uri": params["uri"], "text": script["texts"][params["uri"]]}]}
    return answer_otherwise(key, method, params)


plain.answer = answer
if SCRIPT.get("declares", True):
    plain.OFFERED["extensions"] = {"io.modelcontextprotocol/skills": {}}
if SCRIPT.get("grown"):
    plain.NAMES.append("grown")
plain.main()
