"""A result of 50 MB: the model gets its ends, the file has all of it, and memory stays within its bound."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from support import Home

SIZE = 50_000_000
BOUND = 3 * SIZE
"""The line as it came, its text, and room to work: never more copies than that."""

PROGRAM = """
import asyncio, json, resource, sys
import mooring

SERVERS = {"teller": {"command": sys.executable, "args": ["-S", *sys.argv[1:3]]}}


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def main():
    limits = mooring.Limits(line=64 * 1024 * 1024)
    async with mooring.open(servers=SERVERS, policy="allow", limits=limits) as host:
        await host.ready()
        async with host.registry() as tools:
            await tools.call("mcp__teller__flood", {"bytes": 200_000})
            before = peak()
            outcome = await tools.call("mcp__teller__flood", {"bytes": int(sys.argv[3])})
            print(json.dumps({"grown": peak() - before, "file": outcome.file, "text": len(outcome.text)}))


asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is in other units elsewhere")
def test_a_result_of_50_mb_is_whole_in_its_file_and_memory_is_bounded(home: Home, tmp_path: Path) -> None:
    (tmp_path / "teller.json").write_text("{}")
    words = [str(Path(__file__).parent / "teller.py"), str(tmp_path / "teller.json"), str(SIZE)]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=50
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    print(f"memory grew by {found['grown'] / 1e6:.0f} MB for a result of {SIZE / 1e6:.0f} MB")  # noqa: T201
    assert found["grown"] < BOUND
    assert found["text"] < 101_000
    assert sha256(Path(found["file"]).read_bytes()).digest() == sha256(b"x" * SIZE).digest()
