"""What tools cost a model to read, and which of them it is shown from the start."""

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from typing import TypeAlias

from mooring.core.tool import Pair, Tool

Tools: TypeAlias = Mapping[Pair, Tool]

_BYTES_PER_TOKEN = 4


def estimate_tokens(text: str | bytes) -> int:
    """About how many tokens a text is. An estimate: its bytes / 4, whatever the model."""
    return -(-len(text.encode(errors="replace") if isinstance(text, str) else text) // _BYTES_PER_TOKEN)


def estimate_tool(tool: Tool) -> int:
    """About how many tokens a model reads for this tool: its name, description and schema."""
    return (
        estimate_tokens(tool.name) + estimate_tokens(tool.description or "") + estimate_tokens(bytes(tool.input_schema))
    )


def estimate_tools(tools: Tools) -> int:
    """About how many tokens a model reads if it is shown all of these."""
    return sum(map(estimate_tool, tools.values()))


def defer(tools: Tools, budget: int, always: Iterable[str] = ()) -> tuple[Tools, Tools]:
    """Those a model is shown from the start, and those it has to search for, each by server and name.

    All are shown where all fit the budget. Else only those that a glob in `always` names as `server.tool`, whatever
    they cost: some of the others would look to the model like all there are.
    """
    ordered = {pair: tools[pair] for pair in sorted(tools)}
    if estimate_tools(ordered) <= budget:
        return ordered, {}
    globs = tuple(always)
    shown = {pair: tool for pair, tool in ordered.items() if _named(pair, globs)}
    return shown, {pair: tool for pair, tool in ordered.items() if pair not in shown}


def _named(pair: Pair, globs: Iterable[str]) -> bool:
    return any(fnmatchcase(".".join(pair), glob) for glob in globs)
