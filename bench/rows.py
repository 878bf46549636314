"""The promises: each row is a piece of work, who does it, what is measured, and what was promised of it."""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeAlias

from tests.models import FakeModel

from bench import growth, listing, prompts
from bench.agents import SCRIPT, start_model
from bench.contenders import CONTENDERS, DRIVERS, FASTMCP, MCPM, MCPORTER, MOORING
from bench.drive import QUIET, Samples, drive
from bench.ground import NODE, ROOT, SERVER, python_of
from bench.screen import measure as screen
from bench.shell import time_commands

Measure: TypeAlias = Callable[[Sequence[str], int], Samples]
"""Measures these contenders in so many rounds."""


@dataclass(frozen=True)
class Figure:
    """A column."""

    key: str
    heading: str
    unit: str
    best: Callable[[Sequence[float]], float] = min
    shown: str = ".3g"


@dataclass(frozen=True)
class Goal:
    """What was promised of our figure: a limit to it, or to how many times that of another contender it is."""

    says: str
    figure: str
    limit: float
    against: str | None = None
    whose: str = ""
    """The contender whose figure it is, if not ours."""
    is_least: bool = False
    """Whether the figure must reach the limit; otherwise it must not pass it."""

    def is_met(self, middle: float, best: float) -> bool:
        """Whether the median and the best of rounds are within the limit."""
        return min(middle, best) >= self.limit if self.is_least else max(middle, best) <= self.limit

    def reached(
        self, samples: Samples, us: str, best: Callable[[Sequence[float]], float]
    ) -> tuple[float, float] | None:
        """The ratio or value by medians and by the best of rounds; nothing if the other one did not take part."""
        ours = samples[self.whose or us][self.figure]
        if self.against is None:
            return median(ours), best(ours)
        if self.against not in samples:
            return None
        theirs = samples[self.against][self.figure]
        return median(ours) / median(theirs), best(ours) / best(theirs)


@dataclass(frozen=True)
class Row:
    key: str
    title: str
    contenders: tuple[str, ...]
    figures: tuple[Figure, ...]
    measure: Measure
    rounds: int
    goals: tuple[Goal, ...] = ()
    note: str = ""
    us: str = "ours"
    """Whose figures the goals are about, and what the others are compared with."""

    def figure(self, key: str) -> Figure:
        return next(figure for figure in self.figures if figure.key == key)


# --- how rows are measured ----------------------------------------------------------------------------------------

SECONDS = 0.4
"""About how long the calls of one round take, whoever makes them."""
LONG = 1.5
"""The same where calls are put on record, which a thread does once a second."""


def _job(**job: Any) -> Measure:
    def measure(contenders: Sequence[str], rounds: int) -> Samples:
        return drive({key: CONTENDERS[key].driver for key in contenders}, job, rounds)

    return measure


def _up(servers: int, tools: int, delay: int = 0) -> Measure:
    commands = [[str(SERVER), str(tools), str(delay)]] * servers
    return _job(job="listed", servers=commands, tools=servers * tools)


def _over_http(path: str, **job: Any) -> Measure:
    def measure(contenders: Sequence[str], rounds: int) -> Samples:
        with _listening() as origin:
            return _job(**job, server=origin + path)(contenders, rounds)

    return measure


@contextmanager
def _listening() -> Iterator[str]:
    """The server over HTTP, one process for all: its origin."""
    command = [str(SERVER), "http", "5"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{server.stdout.readline().strip()}"


def _turns(turns: int) -> Measure:
    def measure(contenders: Sequence[str], rounds: int) -> Samples:
        with start_model(SCRIPT) as urls:
            return _job(job="turns", model_url=urls["openai"], server=[str(SERVER), "5"], turns=turns)(
                contenders, rounds
            )

    return measure


def _replies(messages: int, times: int) -> Measure:
    def measure(contenders: Sequence[str], rounds: int) -> Samples:
        with start_model(prompts.SCRIPT) as urls:
            env = {
                "ANTHROPIC_BASE_URL": urls["anthropic"], "OPENAI_BASE_URL": urls["openai"],
                "GEMINI_BASE_URL": urls["gemini"], **prompts.KEYS,
            }  # fmt: skip
            job: dict[str, Any] = {"env": env, "messages": messages, "times": times}
            return _job(job="replies", kinds=list(prompts.KINDS), **job)(contenders, rounds)

    return measure


def _segments(contenders: Sequence[str], rounds: int) -> Samples:
    command = [sys.executable, "-m", "bench.segments"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as model:
        assert model.stdout is not None
        env = {"ANTHROPIC_BASE_URL": model.stdout.readline().strip(), **prompts.KEYS}
        try:
            return _job(job="segments", env=env, messages=0, times=20, kinds=["anthropic"])(contenders, rounds)
        finally:
            model.terminate()


def _prompt(contenders: Sequence[str], rounds: int) -> Samples:
    watch = prompts.Watch()
    with FakeModel(prompts.answer, skip_asides=True, on_request=watch.hear) as model:
        programs = prompts.list_programs(MOORING, model)
        return prompts.measure_prompts({key: programs[key] for key in contenders}, model, watch, rounds)


def _one_shot(contenders: Sequence[str], rounds: int) -> Samples:
    server = f"{SERVER} 5"
    commands: Mapping[str, Sequence[str]] = {
        "ours": [str(MOORING), "call", "--server", server, "echo", "text=hello"],
        "mcporter": [str(MCPORTER), "call", "--stdio", server, "echo", "text=hello"],
        "node": ["node", str(NODE / "once_node.mjs"), *server.split()],
        "mcp": [python_of("mcp"), str(DRIVERS / "once_mcp.py"), *server.split()],
        "python": [str(MOORING.parent / "python"), "-c", "pass"],
    }
    return _in_a_home(commands, contenders, rounds)


def _http_one_shot(contenders: Sequence[str], rounds: int) -> Samples:
    with _listening() as origin:
        url = f"{origin}/mcp"
        commands: Mapping[str, Sequence[str]] = {
            "ours": [str(MOORING), "call", "--url", url, "echo", "text=hello"],
            "mcporter": [str(MCPORTER), "call", "--http-url", url, "--allow-http", "echo", "text=hello"],
            "node": ["node", str(NODE / "once_node.mjs"), url],
            "mcp": [python_of("mcp"), str(DRIVERS / "once_mcp.py"), url],
            "python": [str(MOORING.parent / "python"), "-c", "pass"],
        }
        return _in_a_home(commands, contenders, rounds)


def _configured_call(contenders: Sequence[str], rounds: int) -> Samples:
    config, words = "../mcporter.json", ["echo", "text=hello"]
    commands: Mapping[str, Sequence[str]] = {
        "ours": [str(MOORING), "call", "server-0.echo", "text=hello"],
        "mcporter": [str(MCPORTER), "--config", config, "call", "server-0.echo", "text=hello"],
        "fastmcp-cli": [str(FASTMCP), "call", config, *words],
        "python": [str(MOORING.parent / "python"), "-c", "pass"],
    }
    return _in_a_home_with(1, commands, contenders, rounds)


def _configured_tools(contenders: Sequence[str], rounds: int) -> Samples:
    config = "../mcporter.json"
    commands: Mapping[str, Sequence[str]] = {
        "ours": [str(MOORING), "tools"],
        "ours-refresh": [str(MOORING), "tools", "--refresh"],
        "mcporter": [str(MCPORTER), "--config", config, "list"],
        "fastmcp-cli": [str(FASTMCP), "list", config],
        "python": [str(MOORING.parent / "python"), "-c", "pass"],
    }
    return _in_a_home_with(5, commands, contenders, rounds)


def _in_a_home_with(
    servers: int, commands: Mapping[str, Sequence[str]], contenders: Sequence[str], rounds: int
) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        cwd, env = listing.lay_out_alike(Path(folder), SERVER, servers)
        return time_commands({key: commands[key] for key in contenders}, rounds, cwd, {**env, **QUIET})


def _list(contenders: Sequence[str], rounds: int) -> Samples:
    commands: Mapping[str, Sequence[str]] = {
        "ours": [str(MOORING), "mcp", "list"],
        "mcporter": [str(MCPORTER), "--config", "../mcporter.json", "list"],
        "mcporter-config": [str(MCPORTER), "--config", "../mcporter.json", "config", "list"],
        "mcpm": ["env", "HOME=../mcpm", str(MCPM), "ls"],
        "python": [str(MOORING.parent / "python"), "-c", "pass"],
    }
    return _in_a_home(commands, contenders, rounds)


def _in_a_home(commands: Mapping[str, Sequence[str]], contenders: Sequence[str], rounds: int) -> Samples:
    with tempfile.TemporaryDirectory() as folder:
        cwd, env = listing.lay_out(Path(folder))
        listing.lay_out_for_mcporter(Path(folder), SERVER)
        listing.lay_out_for_mcpm(Path(folder))
        return time_commands({key: commands[key] for key in contenders}, rounds, cwd, env)


# --- the rows -----------------------------------------------------------------------------------------------------

LIBRARIES = ("ours", "node", "mcp", "mcp-use", "fastmcp", "langchain")
GUARD = "One guard process serves all servers of a program; `mooring call` starts it while it imports."
HOST = (
    "`Host.call` of `mooring.open`, by a tool's name: through the gate and into the log of calls, whose thread is "
    "included. For comparison, `Session.call_tool` of `mooring.connect`."
)
AGENTS = (
    "One conversation of 30 turns: a prompt, a call of a stdio server by the agent's own client, an answer. The model "
    "is a program on the loopback that answers at once over chat completions; every agent streams. *Its model alone* "
    "makes the two requests of each turn without an agent and without the call."
)
STARTERS = ("ours", "begun", *LIBRARIES[1:])
OVER_HTTP = ("ours", "node", "mcp", "fastmcp")
CPU = Figure("cpu", "CPU per call", "µs")
P50 = Figure("p50", "p50", "µs")
RATE = Figure("rate", "calls/s", "", best=max, shown=",.0f")
WALL = Figure("wall", "wall", "ms")
UP = (WALL, Figure("cpu", "CPU", "ms"), Figure("close", "then to close", "ms"))

GROWING = ("ours", "tenth")
GROWS = (Goal("at most ten times the CPU, within 20 %, for ten times as much", "cpu", 12.0, "tenth"),)
BY_API = tuple(Figure(kind, kind, "ms") for kind in prompts.KINDS)
COMMAND = (Figure("cpu", "CPU", "ms"), WALL)

ROWS = (
    Row(
        "sequential",
        "One stdio call after another, 100 bytes",
        LIBRARIES,
        (CPU, P50),
        _job(job="sequential", server=[str(SERVER), "5"], seconds=SECONDS),
        rounds=11,
        goals=(
            Goal("at most 1/9 of the CPU of `mcp`", "cpu", 1 / 9, "mcp"),
            Goal("p50 at or under the Node SDK's", "p50", 1.0, "node"),
        ),
    ),
    Row(
        "flight",
        "100 stdio calls in flight, 100 bytes",
        LIBRARIES,
        (CPU, RATE),
        _job(job="flight", server=[str(SERVER), "5"], seconds=SECONDS, workers=100),
        rounds=11,
        goals=(Goal("at most 1/35 of the CPU of `mcp`", "cpu", 1 / 35, "mcp"),),
    ),
    Row(
        "connect-5",
        "Connect and list, 5 tools",
        STARTERS,
        UP,
        _up(1, 5),
        rounds=21,
        note=GUARD,
    ),
    Row(
        "connect-500",
        "Connect and list, 500 tools",
        STARTERS,
        UP,
        _up(1, 500),
        rounds=11,
        note=GUARD,
    ),
    Row(
        "servers-50",
        "50 stdio servers up, 500 tools listed",
        ("ours", "begun", "bare", *LIBRARIES[1:]),
        (*UP, Figure("memory", "memory", "MB")),
        _up(50, 10),
        rounds=9,
        goals=(
            Goal("at most twice plain subprocesses, guard included", "wall", 2.0, "bare"),
            Goal("at most 60 MB, guard included", "memory", 60.0),
        ),
        note="Each library in its usual way; langchain-mcp-adapters keeps no server running.",
    ),
    Row(
        "slow-20",
        "20 servers that take 300 ms to start",
        ("ours", "bare", *LIBRARIES[1:]),
        UP,
        _up(20, 5, delay=300),
        rounds=5,
        goals=(Goal("at most 400 ms, guard included", "wall", 400.0),),
    ),
    Row(
        "host-sequential",
        "One stdio call after another through a host",
        ("host", "ours", "mcp"),
        (CPU, P50),
        _job(job="sequential", server=[str(SERVER), "5"], seconds=LONG),
        rounds=7,
        goals=(Goal("at most 1/7 of the CPU of `mcp`", "cpu", 1 / 7, "mcp"),),
        note=HOST,
        us="host",
    ),
    Row(
        "host-flight",
        "100 stdio calls in flight through a host",
        ("host", "ours", "mcp"),
        (CPU, RATE),
        _job(job="flight", server=[str(SERVER), "5"], seconds=LONG, workers=100),
        rounds=7,
        goals=(Goal("at most 1/20 of the CPU of `mcp`", "cpu", 1 / 20, "mcp"),),
        note=HOST,
        us="host",
    ),
    Row(
        "host-50",
        "50 stdio servers up, 500 tools listed, through a host",
        ("host", "ours", "bare", "mcp"),
        (*UP, Figure("memory", "memory", "MB")),
        _up(50, 10),
        rounds=9,
        goals=(
            Goal("at most twice plain subprocesses, guard included", "wall", 2.0, "bare"),
            Goal("at most 60 MB, guard included", "memory", 60.0),
        ),
        note="From `mooring.open` with nothing known of any server; closing writes all 500 tools to disk.",
        us="host",
    ),
    Row(
        "host-slow-20",
        "20 servers that take 300 ms to start, through a host",
        ("host", "ours", "bare"),
        UP,
        _up(20, 5, delay=300),
        rounds=5,
        goals=(Goal("at most 400 ms, guard included", "wall", 400.0),),
        us="host",
    ),
    Row(
        "http",
        "One HTTP call after another, 100 bytes",
        OVER_HTTP,
        (CPU, P50),
        _over_http("/mcp", job="sequential", seconds=SECONDS),
        rounds=11,
        goals=(Goal("at most 1/7 of the CPU of `mcp`", "cpu", 1 / 7, "mcp"),),
        note="With a session, started by the handshake; every answer is JSON.",
    ),
    Row(
        "http-stateless",
        "One HTTP call after another, no session",
        ("ours", "mcp", "fastmcp"),
        (CPU, P50),
        _over_http("/stateless", job="sequential", seconds=SECONDS),
        rounds=11,
        note="Revision 2026-07-28: every request identifies its client. The Node SDK does not support it.",
    ),
    Row(
        "http-events",
        "One HTTP call after another, answered by events",
        OVER_HTTP,
        (CPU, P50),
        _over_http("/events", job="sequential", seconds=SECONDS),
        rounds=11,
        note="Each answer is a stream with one event, as servers made with the SDKs send it.",
    ),
    Row(
        "http-flight",
        "100 HTTP calls in flight, 100 bytes",
        OVER_HTTP,
        (CPU, RATE),
        _over_http("/mcp", job="flight", seconds=SECONDS, workers=100),
        rounds=11,
    ),
    Row(
        "agent-turns",
        "30 turns of an agent, a call in each",
        ("agent", "requests", "pydantic-ai", "openai-agents", "langchain-agent"),
        (Figure("cpu", "CPU per turn", "ms"), Figure("wall", "wall per turn", "ms")),
        _turns(30),
        rounds=3,
        goals=(
            Goal("less CPU than Pydantic AI's agent", "cpu", 1.0, "pydantic-ai"),
            Goal("less CPU than the runner of the OpenAI Agents SDK", "cpu", 1.0, "openai-agents"),
            Goal("less CPU than LangChain's `create_agent`", "cpu", 1.0, "langchain-agent"),
        ),
        note=AGENTS,
        us="agent",
    ),
    Row(
        "prompt",
        "One prompt from the shell, answered by a model",
        ("prompt", "claude-prompt", "opencode-prompt", "llm-prompt"),
        (
            Figure("first-cpu", "CPU to the first request", "ms"),
            Figure("cpu", "CPU", "ms"),
            Figure("first-wall", "wall to the first request", "ms"),
            WALL,
            Figure("memory", "memory", "MB"),
        ),
        _prompt,
        rounds=7,
        goals=(
            Goal("at most 0.5 s of CPU to the first request", "first-cpu", 500.0),
            Goal("at most 75 MB", "memory", 75.0),
            Goal("less CPU than `claude -p`", "cpu", 1.0, "claude-prompt"),
            Goal("less CPU than `opencode run`", "cpu", 1.0, "opencode-prompt"),
            Goal("less CPU than `llm`", "cpu", 1.0, "llm-prompt"),
        ),
        note="The model is a program on the loopback that says sixty words. Each program has a home of its own without "
        "servers and the model's key in its environment. CPU to the first request leaves out Mooring's guard.",
        us="prompt",
    ),
    Row(
        "replies",
        "One reply of a model: sixty words and a call",
        ("replies",),
        BY_API,
        _replies(0, 40),
        rounds=7,
        goals=tuple(Goal(f"at most 2 ms of CPU, {kind}", kind, 2.0) for kind in prompts.KINDS),
        note="By the name of the API: `anthropic` is Messages, `openai` Responses, `openai-chat` Chat Completions, "
        "`google` Gemini. The model is a program on the loopback.",
        us="replies",
    ),
    Row(
        "replies-long",
        "The same after 1,000 messages",
        ("replies",),
        BY_API,
        _replies(1000, 10),
        rounds=7,
        goals=tuple(Goal(f"at most 10 ms of CPU, {kind}", kind, 10.0) for kind in prompts.KINDS),
        us="replies",
    ),
    Row(
        "segments",
        "A reply in 80 segments",
        ("replies", "replies-bare"),
        (Figure("anthropic", "CPU per reply", "ms"),),
        _segments,
        rounds=7,
        goals=(Goal("at most 1.3 times an empty loop over aiohttp's pieces", "anthropic", 1.3, "replies-bare"),),
        note="Each event of the reply is sent by itself, half a millisecond after the one before.",
        us="replies",
    ),
    Row(
        "one-shot",
        "One call from the shell",
        ("ours", "node", "mcporter", "mcp", "python"),
        (WALL, Figure("cpu", "CPU", "ms")),
        _one_shot,
        rounds=15,
        goals=(
            Goal("at most 0.33 of `mcporter call`", "wall", 0.33, "mcporter"),
            Goal("at most 1/6 of an `mcp` script", "wall", 1 / 6, "mcp"),
        ),
        note="`mooring call` and `mcporter call`; for the SDKs the shortest script that does the same.",
    ),
    Row(
        "http-one-shot",
        "One call from the shell, over HTTP",
        ("ours", "node", "mcporter", "mcp", "python"),
        (WALL, Figure("cpu", "CPU", "ms")),
        _http_one_shot,
        rounds=15,
        goals=(Goal("at most 0.8 of `mcporter call`", "wall", 0.8, "mcporter"),),
        note="`mooring call --url URL` and `mcporter call --http-url URL`; for the SDKs the shortest script that does "
        "the same.",
    ),
    Row(
        "configured-call",
        "One call of a configured server from the shell",
        ("ours", "mcporter", "fastmcp-cli", "python"),
        (WALL, Figure("cpu", "CPU", "ms")),
        _configured_call,
        rounds=21,
        goals=(Goal("at most 0.4 of `mcporter call`", "wall", 0.4, "mcporter"),),
        note="`mooring call NAME.TOOL`, `mcporter call NAME.TOOL`, `fastmcp call FILE TOOL`.",
    ),
    Row(
        "configured-tools",
        "The tools of 5 configured servers from the shell",
        ("ours", "ours-refresh", "mcporter", "fastmcp-cli", "python"),
        (WALL, Figure("cpu", "CPU", "ms")),
        _configured_tools,
        rounds=21,
        goals=(Goal("at most 0.4 of `mcporter list`", "wall", 0.4, "mcporter"),),
        note="Mooring remembers what servers offered; with `--refresh` it starts all of them, as the others do each "
        "time.",
    ),
    Row(
        "list",
        "List 50 configured servers",
        ("ours", "mcporter", "mcporter-config", "mcpm", "python"),
        (WALL, Figure("cpu", "CPU", "ms")),
        _list,
        rounds=21,
        goals=(
            Goal("at most 6.6 × `python -c pass`", "wall", 6.6, "python"),
            Goal("at most 1/4 of `mcporter list`", "wall", 1 / 4, "mcporter"),
        ),
        note="Mooring reads 10 files of 9 formats and starts nothing; `mcporter list` reads one file and starts them "
        "all; `mcporter config list` and `mcpm ls` read one file each and start nothing. mcpm has no command that "
        "calls a tool.",
    ),
    Row(
        "growth-servers",
        "The tools of 1,000 configured servers, 10 each",
        GROWING,
        COMMAND,
        growth.measure_servers,
        rounds=5,
        goals=GROWS,
        note="`mooring tools`, with everything remembered.",
    ),
    Row(
        "growth-list",
        "List 1,000 configured servers",
        GROWING,
        COMMAND,
        growth.measure_listing,
        rounds=5,
        goals=GROWS,
        note="`mooring mcp list`, which starts nothing.",
    ),
    Row(
        "growth-tools",
        "What 10,000 tools cost a model",
        GROWING,
        COMMAND,
        growth.measure_tools,
        rounds=5,
        goals=GROWS,
        note="`mooring tools --cost` for 100 servers, with everything remembered.",
    ),
    Row(
        "growth-first-use",
        "First use of 200 servers of 100 tools, one after another",
        GROWING,
        COMMAND,
        growth.measure_first_use,
        rounds=5,
        goals=GROWS,
        note="`Host.call` of `mooring.open`, with nothing known of any server; the servers' own CPU is included.",
    ),
    Row(
        "growth-names",
        "One call of a server that goes by 1,000 names",
        GROWING,
        COMMAND,
        growth.measure_names,
        rounds=5,
        goals=GROWS,
        note="`mooring call NAME.TOOL`: one definition under all of the names, so that one program is started.",
    ),
    Row(
        "growth-files",
        "List the servers of 300 files, 5 each",
        GROWING,
        COMMAND,
        growth.measure_files,
        rounds=5,
        goals=GROWS,
        note="`mooring mcp list` with a `--config` for each file.",
    ),
    Row(
        "growth-lines",
        "20,000 lines of the log of calls",
        GROWING,
        COMMAND,
        growth.measure_lines,
        rounds=5,
        goals=GROWS,
        note="`mooring log`, which prints all of them.",
    ),
    Row(
        "screen-start",
        "First draw of the screen",
        ("screen", "three-widgets"),
        (
            Figure("wall", "first draw", "ms"),
            Figure("cpu", "CPU until then", "ms"),
            Figure("typed", "a key is drawn, p95", "ms"),
        ),
        screen.measure_start,
        rounds=9,
        goals=(
            Goal("at most twice the time of three widgets", "wall", 2.0, "three-widgets"),
            Goal("at most twice their CPU", "cpu", 2.0, "three-widgets"),
            Goal("a key is drawn within 100 ms while libraries load", "typed", 100.0),
        ),
        note="`mooring chat` with a model in the settings and one server, and a program of Textual's own "
        "`Static`, `Input` and `Static`. Keys are typed one after another from the first draw on, until the chat has "
        "loaded all it needs and says what there is.",
        us="screen",
    ),
    Row(
        "screen-length",
        "A conversation that goes on, on the screen",
        ("screen-long", "screen-short"),
        (
            Figure("wall", "its end is drawn", "ms"),
            Figure("key", "a key", "ms"),
            Figure("resize", "a resize", "ms"),
            Figure("focus", "focus lost and gained", "ms"),
            Figure("key-opened", "cards opened: a key", "ms"),
            Figure("resize-opened", "a resize", "ms"),
            Figure("focus-opened", "focus", "ms"),
            Figure("memory", "memory", "MB"),
            Figure("more", "more than the short one", "MB"),
        ),
        screen.measure_length,
        rounds=3,
        goals=(
            *(
                Goal(f"at most twice the CPU for {words}", key, 2.0, "screen-short")
                for key, words in (
                    ("key", "a key"),
                    ("resize", "a resize"),
                    ("focus", "focus lost and gained"),
                    ("key-opened", "a key, all cards opened"),
                    ("resize-opened", "a resize, all cards opened"),
                    ("focus-opened", "focus lost and gained, all cards opened"),
                )
            ),
            Goal("at most 40 MB more", "more", 40.0),
        ),
        note="`mooring chat --resume ID`, from the start of the program to the last words of the "
        "conversation; then the CPU of each act, with all that it has drawn.",
        us="screen-long",
    ),
    Row(
        "screen-idle",
        "Ten seconds in which nobody types",
        ("screen",),
        (Figure("cpu", "CPU", "ms"), Figure("bytes", "drawn", "bytes")),
        screen.measure_idle,
        rounds=3,
        goals=(Goal("at most 10 ms of CPU", "cpu", 10.0), Goal("nothing is drawn", "bytes", 0.0)),
        note="The chat with a server connected, without its guard.",
        us="screen",
    ),
    Row(
        "screen-stream",
        "A reply of a minute, 2,000 pieces of four bytes in a second",
        ("screen-fed", "screen-model"),
        (
            Figure("frames", "frames/s", "", best=max),
            Figure("cores", "cores", ""),
            Figure("growth", "last ten seconds to first ten", "times"),
            Figure("pause", "longest pause of the collector", "ms"),
            Figure("memory", "memory in the end", "MB"),
        ),
        screen.measure_stream,
        rounds=2,
        goals=(
            Goal("at least 30 frames/s", "frames", 30.0, is_least=True),
            Goal("at most 0.6 of a core", "cores", 0.6),
            Goal("the last ten seconds at most 1.2 times the first", "growth", 1.2),
            Goal("no pause of the collector above 50 ms", "pause", 50.0),
            Goal("at most 120 MB with a model at work", "memory", 120.0, whose="screen-model"),
            Goal("no pause of the collector above 50 ms, with a model", "pause", 50.0, whose="screen-model"),
        ),
        note="At 120 × 40 cells. Every five seconds of the text have a block of code of 500 lines and a table of 200 "
        "rows. Frames are counted by the sequences that end them.",
        us="screen-fed",
    ),
)  # fmt: skip
