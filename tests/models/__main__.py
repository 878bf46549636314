"""A fake model as a program, for agents that are programs too: `python -m tests.models --script FILE`.

The script is JSON (a list of replies, or an object of such lists by a word in the first user message) or Python (a
function `reply(request)`, or a variable `script`). The addresses are printed as one line of JSON when it listens; it
runs until it is told to end. With `--record FILE`, each request is a line of JSON there.
"""

import argparse
import asyncio
import runpy
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from tests.models.record import ModelRequest
from tests.models.script import Part, Script
from tests.models.server import FakeModel

Replies = list[Part | list[Part]]


def main(words: Sequence[str]) -> int:
    options = _parse(words)
    asyncio.run(_serve(load_script(options.script), options))
    return 0


def load_script(file: Path) -> Script:
    if file.suffix == ".py":
        found = runpy.run_path(str(file))
        script: Script = found.get("reply") or found["script"]
        return script
    return msgspec.json.decode(file.read_bytes(), type=Replies | dict[str, Replies])


def _parse(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.models", description="A fake model on loopback.")
    parser.add_argument("--script", type=Path, required=True, help="replies as JSON, or a Python file")
    parser.add_argument("--record", type=Path, help="write each request here, as lines of JSON")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--key", help="the only API key to accept")
    parser.add_argument("--window", type=int, help="how many tokens fit into a request")
    parser.add_argument("--models", nargs="+", default=["scripted"], help="the models to list")
    return parser.parse_args(words)


async def _serve(script: Script, options: argparse.Namespace) -> None:
    ended = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    model = FakeModel(
        script, models=options.models, key=options.key, window=options.window, port=options.port, skip_asides=True,
        on_request=lambda request: _record(options.record, request),
    )  # fmt: skip
    async with model:
        addresses = {"anthropic": model.anthropic_url, "openai": model.openai_url, "gemini": model.gemini_url}
        sys.stdout.write(msgspec.json.encode(addresses).decode() + "\n")
        sys.stdout.flush()
        await ended.wait()


def _record(file: Path | None, request: ModelRequest) -> None:
    if file is not None:
        with file.open("ab") as out:
            out.write(msgspec.json.encode(request) + b"\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
