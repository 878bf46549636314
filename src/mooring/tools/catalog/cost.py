"""What tools cost a model to read, and which of them it is shown from the start."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from mooring.core.protocol.tool import Pair, Tool
from mooring.core.protocol.units import BYTES_PER_TOKEN
from mooring.core.text.glob import GlobSet

Tools: TypeAlias = Mapping[Pair, Tool]


def estimate_tokens(text: str | bytes) -> int:
    """About how many tokens a text is: a quarter of its bytes, rounded up, whatever the model."""
    # JSON may hold lone surrogates, which UTF-8 can't encode.
    data = text.encode(errors="replace") if isinstance(text, str) else text
    return -(-len(data) // BYTES_PER_TOKEN)


def estimate_tool(tool: Tool) -> int:
    """About how many tokens a model reads for this tool: its name, description and schema."""
    words = estimate_tokens(tool.name) + estimate_tokens(tool.description or "")
    return words + estimate_tokens(bytes(tool.input_schema))


def estimate_tools(tools: Tools) -> int:
    """About how many tokens a model reads if it is shown all of these."""
    return sum(map(estimate_tool, tools.values()))


def defer(tools: Tools, budget: float, always: Iterable[str] = ()) -> tuple[Tools, Tools]:
    """Split tools into those a model is shown from the start and those it has to search for.

    If all of them fit the budget, all are shown. Otherwise only those are that a glob in `always` names as
    `server.tool`, whatever they cost. Filling up the budget with some of the rest would be wrong: to the model they
    would look like all there are.
    """
    ordered = {pair: tools[pair] for pair in sorted(tools)}
    if estimate_tools(ordered) <= budget:
        return ordered, {}
    globs = GlobSet(always)
    shown = {pair: tool for pair, tool in ordered.items() if globs.matches(".".join(pair))}
    deferred = {pair: tool for pair, tool in ordered.items() if pair not in shown}
    return shown, deferred
