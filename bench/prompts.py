"""One prompt from the shell: from the start of a program to its first request to the model, and to its end."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.models import FakeModel, ModelRequest, Say
from tests.peers import install

from bench.drive import Broken, Samples, keep, turns
from bench.ground import CACHE, HERE

REPLY = "Every line is made fast to a bollard, and the ship lies still at her berth. " * 4
"""Some sixty words."""
KEY = "key-of-nobody"
KEYS = dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), KEY)
KINDS = ("anthropic", "openai", "openai-chat", "google")
"""The four APIs."""
SCRIPT = HERE / "reply.py"
LLM = CACHE / "llm/bin/llm"


@dataclass(frozen=True)
class Program:
    """A program that answers one prompt, and what it reads to find the model."""

    command: Sequence[str]
    env: Mapping[str, str]
    lay_out: Callable[[Path, FakeModel], None] = lambda home, model: None
    has_guard: bool = False
    """Whether its only child is Mooring's guard, which asks no model and is not counted at the first request."""


class Watch:
    """Notes what a program has taken when its first request arrives."""

    def __init__(self) -> None:
        self.pid = 0
        self.with_children = True
        self.began = 0.0
        self.first: dict[str, float] = {}

    def begin(self, program: Program, pid: int, began: float) -> None:
        self.pid, self.began, self.first = pid, began, {}
        self.with_children = not program.has_guard

    def hear(self, request: ModelRequest) -> None:
        if self.first or not self.pid:
            return
        pids = [self.pid, *(_list_children(self.pid) if self.with_children else ())]
        wall = time.perf_counter() - self.began
        self.first = {"first-cpu": sum(map(_read_cpu, pids)) * 1e3, "first-wall": wall * 1e3}


def measure_prompts(programs: Mapping[str, Program], model: FakeModel, watch: Watch, rounds: int) -> Samples:
    """Each program answers a prompt in every round, after one that is not counted. Raises: Broken."""
    samples: Samples = {name: {} for name in programs}
    with tempfile.TemporaryDirectory() as folder:
        homes = {name: _make_home(Path(folder) / name, program, model) for name, program in programs.items()}
        for name, program in programs.items():
            _run_once(name, program, homes[name], watch)
        for name in turns(list(programs), rounds):
            keep(samples[name], _run_once(name, programs[name], homes[name], watch))
    return samples


def _make_home(home: Path, program: Program, model: FakeModel) -> Path:
    (home / "project").mkdir(parents=True)
    program.lay_out(home, model)
    return home


def _run_once(name: str, program: Program, home: Path, watch: Watch) -> dict[str, float]:
    env = {"HOME": str(home), "PATH": os.environ["PATH"], **program.env}
    began = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            program.command, cwd=home / "project", env=env, stdin=subprocess.DEVNULL, stdout=said, stderr=said
        )
        watch.begin(program, process.pid, began)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        took = time.perf_counter() - began
        said.seek(0)
        text = said.read().decode(errors="replace")
    if process.returncode or REPLY[:40] not in " ".join(text.split()):
        raise Broken(f"{name} exits with {process.returncode} and says:\n{text[-2000:]}")
    if not watch.first:
        raise Broken(f"{name} asked the model nothing")
    own = {"cpu": (usage.ru_utime + usage.ru_stime) * 1e3, "wall": took * 1e3, "memory": usage.ru_maxrss / 1024}
    return {**watch.first, **own}


def _read_cpu(pid: int) -> float:
    """The CPU that the threads of a process have taken so far, in seconds."""
    total = 0
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def _list_children(pid: int) -> list[int]:
    """The processes below one."""
    found: list[int] = []
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *_list_children(child)]
    return found


# --- the programs -------------------------------------------------------------------------------------------------


def list_programs(mooring: Path, model: FakeModel) -> dict[str, Program]:
    anthropic = {"ANTHROPIC_BASE_URL": model.anthropic_url, "ANTHROPIC_API_KEY": KEY}
    quiet = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}
    no_news = {
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
    }
    nodes = install.backend_programs()
    return {
        "prompt": Program(
            [str(mooring), "chat", "-p", "Hi", "-m", "anthropic:claude-sonnet-5-5"], anthropic, has_guard=True
        ),
        "claude-prompt": Program([install.tool("claude"), "-p", "Hi", "--model", "scripted"], {**anthropic, **quiet}),
        "llm-prompt": Program([str(LLM), "-m", "fake", "Hi"], {"OPENAI_API_KEY": KEY}, _lay_out_for_llm),
        "opencode-prompt": Program(
            [install.tool("opencode", "programs"), "run", "Hi"],
            {**no_news, "PATH": f"{nodes}{os.pathsep}{os.environ['PATH']}"},
            _lay_out_for_opencode,
        ),
    }


def _lay_out_for_llm(home: Path, model: FakeModel) -> None:
    folder = home / ".config/io.datasette.llm"
    folder.mkdir(parents=True)
    # JSON is YAML too.
    entry = {"model_id": "fake", "model_name": "scripted", "api_base": model.openai_url}
    (folder / "extra-openai-models.yaml").write_text(json.dumps([entry]))


def _lay_out_for_opencode(home: Path, model: FakeModel) -> None:
    options = {"baseURL": model.openai_url, "apiKey": KEY}
    fake = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": {}}}
    folder = home / ".config/opencode"
    folder.mkdir(parents=True)
    settings = {"model": "fake/scripted", "small_model": "fake/scripted", "provider": {"fake": fake}}
    (folder / "opencode.json").write_text(json.dumps(settings))


def answer(request: ModelRequest) -> Say:
    return Say(REPLY)
