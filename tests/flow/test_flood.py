"""A result of 50 MB: the model gets its ends, the file has all of it, and memory stays within its bound."""

import json
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from support import Home

SIZE = 50_000_000

PROGRAM = """
import asyncio, json, sys
import mooring

SERVERS = {"teller": {"command": sys.executable, "args": ["-S", *sys.argv[1:3]]}}


def peak():  # not ru_maxrss: that remembers how large the process was which started this one
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


async def main():
    limits = mooring.Limits(line=64 * 1024 * 1024)
    async with mooring.open(servers=SERVERS, policy="allow", limits=limits) as host:
        await host.ready()
        async with host.conversation() as tools:
            await tools.call("mcp__teller__flood", {"bytes": 200_000})
            before = peak()
            outcome = await tools.call("mcp__teller__flood", {"bytes": int(sys.argv[3]), "unit": sys.argv[4]})
            print(json.dumps({"grown": peak() - before, "file": outcome.file, "text": len(outcome.text)}))


asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what a process has used at most is in /proc")
@pytest.mark.parametrize(
    ("unit", "times"),
    [
        ("x", 3),  # the line as it came, its text, and room to work
        ("xxxx😀", 5),  # one character in eight bytes makes Python keep every character in four
    ],
)
def test_a_result_of_50_mb_is_whole_in_its_file_and_memory_is_bounded(
    unit: str, times: int, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "teller.json").write_text("{}")
    words = [str(Path(__file__).parent / "teller.py"), str(tmp_path / "teller.json"), str(SIZE), unit]
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words], cwd=home.cwd, env=home.env, capture_output=True, text=True, timeout=100
    )
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    print(f"memory grew by {found['grown'] / 1e6:.0f} MB for a result of {SIZE / 1e6:.0f} MB")  # noqa: T201
    assert found["grown"] < times * SIZE
    assert found["text"] < 101_000
    assert (
        sha256(Path(found["file"]).read_bytes()).digest()
        == sha256(unit.encode() * (SIZE // len(unit.encode()))).digest()
    )
