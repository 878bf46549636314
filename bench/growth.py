"""Ten times the work: the same command in two homes, one of which holds ten times as much as the other."""

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from bench.contenders import DRIVERS, MOORING
from bench.drive import Broken, Samples
from bench.ground import SERVER
from bench.listing import write
from bench.shell import run_once, time_commands

SIZES = {"tenth": 1, "ours": 10}
"""How many times the smallest size each contender has to do."""


def measure_servers(contenders: Sequence[str], rounds: int) -> Samples:
    """All tools of 100 and of 1,000 servers, as they are remembered."""
    return _in_homes(lambda home, times: _configure(home, 100 * times, tools=10), ["tools"], contenders, rounds)


def measure_listing(contenders: Sequence[str], rounds: int) -> Samples:
    """100 and 1,000 servers, none of them started."""
    return _in_homes(lambda home, times: _configure(home, 100 * times, tools=10), ["mcp", "list"], contenders, rounds)


def measure_tools(contenders: Sequence[str], rounds: int) -> Samples:
    """What 1,000 and 10,000 tools cost a model."""
    words = ["tools", "--cost"]
    return _in_homes(lambda home, times: _configure(home, 100, tools=10 * times), words, contenders, rounds)


def measure_names(contenders: Sequence[str], rounds: int) -> Samples:
    """A call of a server that goes by 100 and by 1,000 names."""
    words = ["call", "server-1.echo", "text=hello"]
    return _in_homes(lambda home, times: _configure(home, 100 * times, alike=True), words, contenders, rounds)


def measure_files(contenders: Sequence[str], rounds: int) -> Samples:
    """30 and 300 files of five servers each, named on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        commands = {}
        for key in contenders:
            files = [Path(folder, "files", f"{number}.json") for number in range(30 * SIZES[key])]
            for file in files:
                write(file, {"mcpServers": {f"{file.stem}-{n}": _entry(5, f"{file.stem}-{n}") for n in range(5)}})
            options = [f"--config={file}" for file in files]
            commands[key] = [str(MOORING), *options, "mcp", "list"]
        return time_commands(commands, rounds, Path(folder), {"HOME": folder, "PATH": os.environ["PATH"]})


def measure_lines(contenders: Sequence[str], rounds: int) -> Samples:
    """2,000 and 20,000 lines in the log of calls, all of them shown."""
    return _in_homes(_log_calls, ["log", "-n", "1000000"], contenders, rounds)


def measure_first_use(contenders: Sequence[str], rounds: int) -> Samples:
    """20 and 200 servers of 100 tools through one host, each called, one after another."""
    script = [sys.executable, str(DRIVERS / "first_use.py"), str(SERVER)]
    commands = {key: [*script, str(20 * SIZES[key]), "100"] for key in contenders}
    return time_commands(commands, rounds, Path.cwd(), {"PATH": os.environ["PATH"]})


def _in_homes(
    lay_out: Callable[[Path, int], None], words: Sequence[str], contenders: Sequence[str], rounds: int
) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder, "project")
        (project / ".git").mkdir(parents=True)
        commands = {}
        for key in contenders:
            home = Path(folder, key)
            lay_out(home, SIZES[key])
            commands[key] = ["env", f"HOME={home}", str(MOORING), *words]
        return time_commands(commands, rounds, project, {"PATH": os.environ["PATH"]})


def _configure(home: Path, servers: int, tools: int = 5, alike: bool = False) -> None:
    entries = {f"server-{n}": _entry(tools, "" if alike else str(n)) for n in range(servers)}
    write(home / ".config/mooring/mcp.json", {"mcpServers": entries})


def _entry(tools: int, mark: str) -> Mapping[str, object]:
    # The last word only makes it another program than that of any other server.
    return {"command": str(SERVER), "args": [str(tools), "0", mark]}


def _log_calls(home: Path, times: int) -> None:
    """A log of calls, made of the line that one call leaves."""
    _configure(home, 2)
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    run_once("a call", [str(MOORING), "call", "server-1.echo", "text=hello"], home, env)
    log = home / ".local/state/mooring/audit.jsonl"
    line = log.read_bytes()
    if json.loads(line)["tool"] != "echo":
        raise Broken(f"the log of calls is not what it was: {line!r}")
    log.write_bytes(line * 2000 * times)
