"""`python -m bench.search` judges any tools and requests, and its exit code says whether the goals are met."""

import json
from pathlib import Path

import pytest
from bench.search import SHARE, STANDING, load_tools, main

from mooring.tools.catalog.catalog import defer, estimate_tools

TOOLS = {"tools": [{"server": "shop", "tool": name, "inputSchema": {}} for name in ("get_order", "delete_user")]}
ANSWERED = {"kind": "keywords", "words": "get order", "right": ["shop/get_order"]}
MISSED = {"kind": "keywords", "words": "zebra", "right": ["shop/get_order"]}


@pytest.mark.parametrize(("request_", "exit_code"), [(ANSWERED, 0), (MISSED, 1)])
def test_somebody_elses_set_is_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], request_: object, exit_code: int
) -> None:
    tools, requests = tmp_path / "tools.json", tmp_path / "requests.json"
    padding = [{"server": "pad", "tool": f"{n}", "description": "x" * 400} for n in range(40)]
    tools.write_text(json.dumps({"tools": TOOLS["tools"] + padding}))
    requests.write_text(json.dumps([request_]))
    assert main(["--tools", str(tools), "--requests", str(requests)]) == exit_code
    assert ("**missed**" in capsys.readouterr().out) == bool(exit_code)


def test_five_hundred_deferred_tools_cost_less_than_three_percent() -> None:
    tools = dict(list(load_tools().items())[:500])
    shown, deferred = defer(tools, budget=20_000)
    assert len(deferred) == 500
    assert estimate_tools({**shown, **STANDING}) <= estimate_tools(tools) * SHARE / 100
