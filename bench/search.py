"""How often the right tool is among the first five, how long that takes, and what deferring tools saves.

`python -m bench.search` judges the requests in tests/tools/data; `--tools FILE --requests FILE` judges others. Exits
with 1 where a goal is missed on the half that was held back, or on all requests of a file that has no halves.
`--half tune` leaves the half alone that was held back; `--meaning` judges the search with the extra `mooring[search]`.

Tools are what `mooring tools --json` prints, or `{server: {"tools": [...]}}` in the shape of the protocol; requests
`[{"words": "...", "right": ["server/tool", ...], "kind": "...", "half": "tune" | "held"}, ...]`. Either may be gzip'd.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from msgspec import Raw

from mooring.core.tool import Tool
from mooring.tools.catalog.cost import Tools, defer, estimate_tools
from mooring.tools.catalog.names import Pair
from mooring.tools.search.index import Index
from mooring.tools.search.meaning import Meaning

ROOT = Path(__file__).parents[1]
DATA = ROOT / "tests" / "tools" / "data"
PAGE = ROOT / "docs" / "search.md"
GOALS = {"keywords": 95, "sentences": 95, "paraphrases": 80, "typos": 80}
FIRST = 5
QUERY_MS = 20
LEARNING = 600.0
SHARE = 3
"""What may be left of the tokens, in percent."""


class Request(NamedTuple):
    """What somebody asks for, and the tools that would do."""

    words: str
    right: frozenset[Pair]
    kind: str
    half: str


class Figure(NamedTuple):
    """How many requests of a kind found a right tool, of how many."""

    found: int
    asked: int

    @property
    def percent(self) -> float:
        return 100 * self.found / self.asked

    def __str__(self) -> str:
        return f"{self.percent:.0f} % ({self.found}/{self.asked})"


Figures = dict[tuple[str, str], Figure]
"""By kind and half."""


def main(words: Sequence[str]) -> int:
    options = _options(words)
    tools = load_tools(options.tools)
    requests = [one for one in load_requests(options.requests) if options.half in (None, one.half)]
    shown = _with_meaning(tools, requests) if options.meaning else _by_words(tools, requests)
    print("\n\n".join(text for text, _ in shown))
    if options.write:
        _write("\n\n".join(text for text, _ in shown), "figures with meaning" if options.meaning else "figures")
    return 0 if all(met for _, met in shown) else 1


def _by_words(tools: Tools, requests: Sequence[Request]) -> list[tuple[str, bool]]:
    index = Index(tools)
    return [_table(judge(index, requests)), _speed(tools, requests), _saved(tools, index, requests)]


def _with_meaning(tools: Tools, requests: Sequence[Request]) -> list[tuple[str, bool]]:
    with TemporaryDirectory() as folder, closing(Meaning(folder)) as meaning:
        index, spent = learned(tools, meaning)
        figures = judge(index, requests)
        asked = [_milliseconds(lambda words=one.words: index.search(words, FIRST)) for one in requests]
        kept = sum(path.stat().st_size for path in Path(folder).iterdir())
    speed = (
        f"CPU for {len(tools):,} tools: {spent / 1000:.1f} s to learn what they mean, once; a request "
        f"{median(asked):.0f} ms (median), {max(asked):.0f} ms (worst). {kept / 1e6:.1f} MB are kept on disk."
    )
    return [_table(figures), (speed, True)]


def learned(tools: Tools, meaning: Meaning) -> tuple[Index, float]:
    """An index that knows what its tools mean, and the CPU that took in milliseconds. Fails where it cannot be."""
    index = Index(tools, meaning)

    def learn() -> None:
        assert index.sense is not None
        index.sense.learn()
        if why := meaning.wait(LEARNING):
            sys.exit(why)

    return index, _milliseconds(learn)


def load_tools(path: Path = DATA / "tools.json.gz") -> dict[Pair, Tool]:
    data = _read(path)
    listed = data["tools"] if "tools" in data and isinstance(data["tools"], list) else _flat(data)
    return {
        (tool["server"], tool["tool"]): Tool(
            name=tool["tool"],
            description=tool.get("description"),
            input_schema=Raw(json.dumps(tool.get("inputSchema") or {}, ensure_ascii=False).encode()),
        )
        for tool in listed
    }


def _flat(data: dict[str, Any]) -> Iterable[dict[str, Any]]:
    return ({**tool, "server": server, "tool": tool["name"]} for server in data for tool in data[server]["tools"])


def load_requests(path: Path = DATA / "requests.json") -> list[Request]:
    return [
        Request(one["words"], frozenset(map(_pair, one["right"])), one.get("kind", "all"), one.get("half", "held"))
        for one in _read(path)
    ]


def _pair(name: str) -> Pair:
    server, _, tool = name.partition("/")
    return server, tool


def _read(path: Path) -> Any:
    data = path.read_bytes()
    return json.loads(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data)


def judge(index: Index, requests: Iterable[Request]) -> Figures:
    figures: Figures = {}
    for request in requests:
        key = (request.kind, request.half)
        found, asked = figures.get(key, Figure(0, 0))
        met = not request.right.isdisjoint(index.search(request.words, FIRST))
        figures[key] = Figure(found + met, asked + 1)
    return figures


def _table(figures: Figures) -> tuple[str, bool]:
    rows = ["| kind | tuned on | held back | goal |", "|---|---|---|---|"]
    met = True
    for kind in dict.fromkeys(kind for kind, _ in figures):
        tune, held, goal = figures.get((kind, "tune")), figures.get((kind, "held")), GOALS.get(kind)
        missed = bool(goal and held and held.percent < goal)
        met &= not missed
        aim = f"≥ {goal} %{', **missed**' if missed else ''}" if goal else "none"
        rows.append(f"| {kind} | {tune or '–'} | {held or '–'} | {aim} |")
    return "\n".join(rows), met


def _speed(tools: Tools, requests: Sequence[Request]) -> tuple[str, bool]:
    thousand = dict(list(tools.items())[:1000])
    built = min(_milliseconds(lambda: Index(thousand)) for _ in range(3))
    index = Index(thousand)
    first = [_milliseconds(lambda words=request.words: index.search(words, FIRST)) for request in requests]
    again = [_milliseconds(lambda words=request.words: index.search(words, FIRST)) for request in requests]
    worst = max(map(min, first, again))
    text = (
        f"CPU for {len(thousand):,} tools: {built:.0f} ms to make the index; a request {median(again):.1f} ms "
        f"(median), {worst:.1f} ms (worst). Goal: each under {QUERY_MS} ms."
    )
    return text, worst < QUERY_MS


def _milliseconds(work: Any) -> float:
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def _saved(tools: Tools, index: Index, requests: Sequence[Request]) -> tuple[str, bool]:
    """What is read with and without deferral: before anything is asked, and with the answer to one search."""
    rows = ["| tools | all shown | deferred | deferred, with one search |", "|---|---|---|---|"]
    found = median(
        sum(estimate_tools({pair: tools[pair]}) for pair in index.search(one.words, FIRST)) for one in requests
    )
    met = True
    for size in sorted({min(500, len(tools)), len(tools)}):
        some = dict(list(tools.items())[:size])
        shown, _ = defer(some, budget=0)
        standing = estimate_tools({**shown, **STANDING})
        full = estimate_tools(some)
        met &= standing <= full * SHARE / 100
        after = standing + found
        rows.append(
            f"| {size:,} | {full:,} | {standing:,} ({100 * standing / full:.1f} %) "
            f"| {after:,.0f} ({100 * after / full:.1f} %) |"
        )
    return "\n".join(rows), met


def _tool(name: str, description: str, /, **parameters: str) -> Tool:
    properties = {key: {"type": kind} for key, kind in parameters.items()}
    schema = {"type": "object", "properties": properties, "required": list(parameters)}
    return Tool(name=name, description=description, input_schema=Raw(json.dumps(schema).encode()))


STANDING: Tools = {
    ("", "search_tools"): _tool(
        "search_tools",
        "Finds tools by what they do, in your own words. Answers with the names, descriptions and schemas of those "
        "that fit best.",
        words="string",
        limit="integer",
    ),
    ("", "call_tool"): _tool("call_tool", "Calls a tool that search_tools found.", name="string", arguments="object"),
}
"""What a model needs to reach the deferred ones: a stand-in of the usual size."""


def _write(figures: str, mark: str) -> None:
    before, _, rest = PAGE.read_text().partition(f"<!-- {mark} -->\n")
    _, _, after = rest.partition("<!-- end -->")
    PAGE.write_text(f"{before}<!-- {mark} -->\n\n{figures}\n\n<!-- end -->{after}")


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.search", description=__doc__.partition("\n")[0])
    parser.add_argument("--tools", type=Path, default=DATA / "tools.json.gz")
    parser.add_argument("--requests", type=Path, default=DATA / "requests.json")
    parser.add_argument("--half", choices=("tune", "held"), help="judge no requests but these")
    parser.add_argument("--meaning", action="store_true", help="judge the search with the extra mooring[search]")
    parser.add_argument("--write", action="store_true", help="write the figures into docs/search.md")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
