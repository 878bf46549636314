"""How the rows about the screen are measured: a real program at a pseudo-terminal, with real keys."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import quantiles

from bench.contenders import MOORING
from bench.drive import Samples, keep, turns
from bench.ground import ROOT, SERVER
from bench.prompts import KEYS
from bench.screen.record import LAST_WORDS, LONG, MODEL, SHORT, store_conversation
from bench.screen.terminal import CELLS, FOCUS_GAINED, FOCUS_LOST, Terminal

CHAT = ("chat",)
SIGN = "❯"
"""Stands before the input."""
GREETING = "mooring ·"
"""What the chat says first: everything is loaded by then."""
THREE_WIDGETS = (sys.executable, "-m", "bench.screen.three_widgets")
WATCHED = (sys.executable, "-m", "bench.screen.watched")
EMPTY_INPUT, OPEN_ALL = "\x15", "\x0f"
LETTERS = [chr(number) for number in range(ord("А"), ord("я") + 1)]
"""That nothing but what was typed has: a key is drawn as soon as its letter is."""
KEY_PAUSE = 0.02
TYPED_SECONDS = 1.0
"""How long is typed into a program that has nothing more to load."""
TIMES = 10
PART, PARTS = 10.0, 6
"""Seconds of a part of the turn that goes on for a minute, and how many parts it has."""
IDLE_SECONDS = 10.0


@dataclass(frozen=True)
class Ground:
    """A home with a model and a server, and a project to stand in."""

    home: Path

    @property
    def project(self) -> Path:
        return self.home / "project"

    def open(self, *command: str, **env: str) -> Terminal:
        own = {"HOME": str(self.home), "PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **KEYS}
        return Terminal(command, self.project, {**own, "ANTHROPIC_BASE_URL": "http://127.0.0.1:9", **env})

    def open_chat(self, *words: str) -> Terminal:
        return self.open(str(MOORING), *CHAT, *words)


@contextmanager
def lay_out() -> Iterator[Ground]:
    with tempfile.TemporaryDirectory() as folder:
        ground = Ground(Path(folder))
        (ground.project / ".git").mkdir(parents=True)
        config = ground.home / ".config/mooring"
        config.mkdir(parents=True)
        (config / "settings.json").write_text(json.dumps({"model": MODEL}))
        servers = {"bench": {"command": str(SERVER), "args": ["5"]}}
        (config / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
        yield ground


def _in_turns(
    measures: Mapping[str, Callable[[], Mapping[str, float]]], contenders: Sequence[str], rounds: int
) -> Samples:
    samples: Samples = {name: {} for name in contenders}
    for name in turns(list(contenders), rounds):
        keep(samples[name], measures[name]())
    return samples


# --- the start ----------------------------------------------------------------------------------------------------


def measure_start(contenders: Sequence[str], rounds: int) -> Samples:
    """From the start to the first frame with an input, and how soon keys are drawn from then on."""
    with lay_out() as ground:
        measures = {
            "screen": partial(_measure_start, partial(ground.open_chat), SIGN, GREETING),
            "three-widgets": partial(_measure_start, partial(ground.open, *THREE_WIDGETS), "ready", ""),
        }
        for name in contenders:
            measures[name]()
        return _in_turns(measures, contenders, rounds)


def _measure_start(open_program: Callable[[], Terminal], mark: str, loaded: str) -> dict[str, float]:
    with open_program() as terminal:
        drawn = terminal.wait_for(mark)
        cpu = terminal.cpu
        typed = list(_type_until_loaded(terminal, loaded))
        # The 19th of 19 cuts: nineteen in twenty keys are drawn sooner.
        return {"wall": (drawn - terminal.began) * 1e3, "cpu": cpu * 1e3, "typed": quantiles(typed, n=20)[-1] * 1e3}


def _type_until_loaded(terminal: Terminal, loaded: str) -> Iterator[float]:
    """Type letters one after another until the program says this; how long each of them took to be drawn."""
    until = time.perf_counter() + TYPED_SECONDS
    for letter in LETTERS:
        pressed = time.perf_counter()
        terminal.press(letter)
        yield terminal.wait_for(letter) - pressed
        terminal.watch(KEY_PAUSE)
        if loaded.encode() in terminal.drawn if loaded else time.perf_counter() > until:
            return


# --- a long transcript --------------------------------------------------------------------------------------------


def measure_length(contenders: Sequence[str], rounds: int) -> Samples:
    """A conversation that goes on: what keys, resizes and the focus cost, with all cards closed and opened."""
    with lay_out() as ground:
        sizes = {"screen-long": LONG, "screen-short": SHORT}
        measures = {
            name: partial(_measure_length, ground, store_conversation(ground.home, ground.project, size))
            for name, size in sizes.items()
        }
        samples = _in_turns(measures, contenders, rounds)
    for figures in samples.values():
        few = samples["screen-short"]["memory"]
        figures["more"] = [many - less for many, less in zip(figures["memory"], few, strict=True)]
    return samples


def _measure_length(ground: Ground, session: str) -> dict[str, float]:
    with ground.open_chat("--resume", session) as terminal:
        shown = terminal.wait_for(LAST_WORDS)
        terminal.wait_for("Continuing")
        terminal.settle(1.0)
        figures = {"wall": (shown - terminal.began) * 1e3, **_measure_acts(terminal, "")}
        terminal.press(EMPTY_INPUT + OPEN_ALL)
        terminal.settle()
        return {**figures, **_measure_acts(terminal, "-opened"), "memory": terminal.memory}


def _measure_acts(terminal: Terminal, suffix: str) -> dict[str, float]:
    acts: dict[str, Callable[[int], None]] = {
        "key": lambda number: _type(terminal, LETTERS[number]),
        "resize": lambda number: _resize(terminal, CELLS - 1 - number % 2),
        "focus": lambda number: _leave_and_return(terminal),
    }
    figures = {f"{name}{suffix}": _measure_cpu(terminal, act) for name, act in acts.items()}
    terminal.resize(CELLS)
    terminal.settle()
    return figures


def _measure_cpu(terminal: Terminal, act: Callable[[int], None]) -> float:
    before = terminal.cpu
    for number in range(TIMES):
        terminal.forget()
        act(number)
        terminal.settle()
    return (terminal.cpu - before) / TIMES * 1e3


def _type(terminal: Terminal, letter: str) -> None:
    terminal.press(letter)
    terminal.wait_for(letter)


def _resize(terminal: Terminal, cells: int) -> None:
    terminal.resize(cells)
    terminal.wait_for_frame()


def _leave_and_return(terminal: Terminal) -> None:
    terminal.press(FOCUS_LOST)
    terminal.settle()
    terminal.press(FOCUS_GAINED)


# --- nothing to do ------------------------------------------------------------------------------------------------


def measure_idle(contenders: Sequence[str], rounds: int) -> Samples:
    """Ten seconds in which nobody types and no model is at work."""
    with lay_out() as ground:
        return _in_turns({"screen": partial(_measure_idle, ground)}, contenders, rounds)


def _measure_idle(ground: Ground) -> dict[str, float]:
    with ground.open_chat() as terminal:
        terminal.wait_for(GREETING)
        terminal.settle(3.0)
        terminal.forget()
        before = terminal.cpu
        terminal.watch(IDLE_SECONDS)
        return {"cpu": (terminal.cpu - before) * 1e3, "bytes": float(len(terminal.drawn))}


# --- a turn of a minute -------------------------------------------------------------------------------------------


def measure_stream(contenders: Sequence[str], rounds: int) -> Samples:
    """A reply that goes on for a minute, fed at the conversation and from a model."""
    with lay_out() as ground, _speaking() as url:
        measures = {
            "screen-fed": partial(_measure_stream, ground, {"FED_SECONDS": str(PART * PARTS + 5)}),
            "screen-model": partial(_measure_stream, ground, {"ANTHROPIC_BASE_URL": url}),
        }
        return _in_turns(measures, contenders, rounds)


@contextmanager
def _speaking() -> Iterator[str]:
    """A model that says the text: its address."""
    command = [sys.executable, "-m", "bench.screen.model"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as model:
        assert model.stdout is not None
        try:
            yield model.stdout.readline().strip()
        finally:
            model.terminate()


def _measure_stream(ground: Ground, env: Mapping[str, str]) -> dict[str, float]:
    pauses = ground.home / "pauses"
    with ground.open(*WATCHED, str(pauses), *CHAT, **env) as terminal:
        terminal.wait_for(GREETING)
        terminal.settle()
        terminal.press("Tell me about the harbor\r")
        terminal.forget()
        terminal.wait_for("The harbor")
        began = time.perf_counter()
        parts = [_watch_part(terminal) for _ in range(PARTS)]
        seconds = sum(each["seconds"] for each in parts)
        return {
            "frames": sum(each["frames"] for each in parts) / seconds,
            "cores": sum(each["cpu"] for each in parts) / seconds,
            "growth": parts[-1]["cpu"] / parts[0]["cpu"],
            "pause": _read_longest_pause(pauses, began) * 1e3,
            "memory": terminal.memory,
        }


def _watch_part(terminal: Terminal) -> dict[str, float]:
    before, began = terminal.cpu, time.perf_counter()
    terminal.forget()
    terminal.watch(PART)
    took = time.perf_counter() - began
    return {"cpu": terminal.cpu - before, "frames": float(len(terminal.frames)), "seconds": took}


def _read_longest_pause(file: Path, since: float) -> float:
    """The longest pause of the collector since then, in seconds; nothing if it never had to work."""
    pauses = [tuple(map(float, line.split())) for line in file.read_text().splitlines()]
    return max((took for at, took in pauses if at >= since), default=0.0)
