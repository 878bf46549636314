"""The page about clients and servers that fail."""

import platform
import re
import time
from collections.abc import Mapping
from typing import Any

from bench.failures.cases import CASES, RIVALS, Case
from bench.failures.trial import PATIENCE, Seen
from bench.ground import ROOT

PAGE = ROOT / "docs" / "results" / "clients.md"
WIDTH = 160
"""How much of an error the page quotes."""
NOTHING = "nothing but what it prints"
HEAD = f"""# Five clients, four failures

The same small program with Mooring and four other clients for Python: connect all servers, count the tools, call one.
In each case one server fails in another way. `make failures` runs all of it for real and writes this page.

The good server is Mooring's demo server, with seven tools. Each program has {PATIENCE} seconds and is then stopped.
*Left behind* counts the server processes that are still there two seconds after the program ended. Errors are cut at
{WIDTH} characters. *Lines printed* is what the client, and the servers through it, wrote to the terminal. Seconds count
from when the library is loaded. All clients have their default options, except that Mooring's program waits ten seconds
for late servers, not thirty: `host.ready(timeout=10)`.
"""

Trials = Mapping[tuple[str, str], Seen]


def write(trials: Trials) -> str:
    parts = [HEAD, f"Measured {time.strftime('%Y-%m-%d', time.gmtime())} on {platform.machine()}.\n"]
    for case in CASES:
        parts += [f"## {case.title}\n", f"{case.about}\n", _tabulate(case, trials)]
    return "\n".join(parts)


def _tabulate(case: Case, trials: Trials) -> str:
    describe = _describe_killed if case.bad is None else _describe_start
    heads = ["the call", "called again"] if case.bad is None else ["tools usable", "after", "a call to the good server"]
    heads = ["client", *heads]
    if case.bad is not None:
        heads.append("what it says about the bad one")
    heads += ["lines printed", "ended", "left behind"]
    rows = [heads, ["---"] * len(heads)]
    for rival in RIVALS:
        seen = trials[rival.name, case.key]
        ended = "yes" if seen.ended else "no"
        rows.append([rival.name, *describe(seen), str(seen.noise), ended, str(seen.left)])
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _describe_start(seen: Seen) -> list[str]:
    connected, failed = seen.steps.get("connected"), seen.steps.get("failed")
    if connected is None:
        seconds = f"{failed['seconds']:.1f} s" if failed else "–"
        return ["none", seconds, "–", _quote(failed["error"] if failed else NOTHING)]
    said = connected["error"] or NOTHING
    return [str(connected["tools"]), f"{connected['seconds']:.1f} s", _describe_call(seen, "call"), _quote(said)]


def _describe_killed(seen: Seen) -> list[str]:
    return [_describe_call(seen, "killed"), _describe_call(seen, "again")]


def _describe_call(seen: Seen, step: str) -> str:
    """How a call ended, and how long it took."""
    began, done = seen.steps.get(f"begin {step}"), seen.steps.get(step)
    if began is None:
        failed = seen.steps.get("failed")
        return _quote(failed["error"]) if failed else "not reached"
    if done is None:
        return "no answer"
    return f"{_describe_answer(done)}, {done['seconds'] - began['seconds']:.1f} s"


def _describe_answer(done: Mapping[str, Any]) -> str:
    return "answered" if "answer" in done else _quote(done["error"])


def _quote(text: str) -> str:
    if text == NOTHING:
        return text
    line = re.sub(r"\s+", " ", text).strip().replace("|", "\\|").replace("`", "'")
    return f"`{line if len(line) <= WIDTH else line[:WIDTH] + '…'}`"
