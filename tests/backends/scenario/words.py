"""What the model is told to do: directives in a prompt, so that each turn of a scenario says what happens in it.

`[[call SERVER.TOOL JSON]]` calls a tool of a server, whatever the agent names it; `[[own TOOL JSON]]` one of the agent's
own. `[[agent NAME SERVER.TOOL JSON]]` has a sub-agent call it. `[[fail STATUS]]` is an error of the API, `[[hold NAME]]`
waits to be released, `[[cut TEXT]]` is a reply that is cut off after the text. What comes back, or that there is no such tool, is what the model says at the end of the turn.
"""

import json
import re
from typing import Any

from tests.models import Call, Fail, Hold, ModelRequest, OfferedTool, Reply, Say, Stop, Usage

_DIRECTIVE = re.compile(r"\[\[(call|own|agent|fail|hold|cut) (.+?)\]\]", re.DOTALL)
_MARK = re.compile(r"\(prompt \d+\)")
_SUB_AGENT_TOOLS = ("Agent", "Task", "task")


def mark(number: int, prompt: str) -> str:
    """A prompt that can be told from the one before, which an agent may send as one with it if nothing came between."""
    return f"(prompt {number}) {prompt}"


def call(server: str, tool: str, **arguments: Any) -> str:
    """The directive for one call."""
    return f"[[call {server}.{tool} {json.dumps(arguments)}]]"


def reply(request: ModelRequest) -> Reply:
    """Do the next thing that the newest prompt with directives says, or tell what came of them."""
    place = _find_prompt(request)
    if place is None:
        return [Say("Nothing to do."), Usage(input=10, output=2)]
    directives = _DIRECTIVE.findall(_MARK.split(request.messages[place].text)[-1])
    after = request.messages[place + 1 :]
    done = sum(message.role == "assistant" for message in after)
    if done < len(directives):
        return _follow(*directives[done], request)
    results = [result.text for message in after for result in message.results]
    return [Say(f"Done: {' | '.join(results)}"), Usage(input=10, output=2)]


def _find_prompt(request: ModelRequest) -> int | None:
    places = [
        place
        for place, message in enumerate(request.messages)
        if message.role == "user" and _DIRECTIVE.search(message.text)
    ]
    return places[-1] if places else None


def _follow(verb: str, words: str, request: ModelRequest) -> Reply:
    match verb:
        case "fail":
            return [Fail(int(words), message="scripted")]
        case "hold":
            return [Say("Waiting."), Hold(words)]
        case "cut":
            return [Say(words), Stop("length")]
        case "own":
            name, _, arguments = words.partition(" ")
            return [Call(name, json.loads(arguments))]
        case "agent":
            agent, _, task = words.partition(" ")
            return _start_sub_agent(agent, f"[[call {task}]]", request)
        case _:
            path, _, arguments = words.partition(" ")
            return _call(path, json.loads(arguments), request)


def _call(path: str, arguments: dict[str, Any], request: ModelRequest) -> Reply:
    server, _, tool = path.partition(".")
    # Claude, Copilot and OpenCode, in this order.
    shown = (f"mcp__{server}__{tool}", f"{server}-{tool}", f"{server}_{tool}")
    found = [name for name in request.tool_names if name in shown]
    if not found:
        return [Say(f"There is no tool {path}.")]
    return [Call(found[0], arguments)]


def _start_sub_agent(agent: str, prompt: str, request: ModelRequest) -> Reply:
    found = [tool for tool in request.tools if tool.name in _SUB_AGENT_TOOLS]
    if not found:
        return [Say("There is no tool for sub-agents.")]
    return [Call(found[0].name, _fill(found[0], agent, prompt))]


def _fill(tool: OfferedTool, agent: str, prompt: str) -> dict[str, Any]:
    """What the tool for sub-agents needs: each agent's has other names for it."""
    known = {"prompt": prompt, "description": "do it", "subagent_type": agent, "agent_type": agent, "name": "doer"}
    properties = (tool.schema or {}).get("properties", {})
    required = (tool.schema or {}).get("required", [])
    named = {name: value for name, value in known.items() if name in properties}
    return {name: properties[name].get("enum", ["x"])[0] for name in required if name not in named} | named
