"""The page that compares the programs, job by job."""

import platform
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from bench.ground import ROOT
from bench.jobs.table import PROGRAMS, Job

PAGE = ROOT / "docs" / "results" / "comparison.md"
LINES, WIDTH = 10, 150
"""How much of an answer the page quotes."""
NAMES = {
    "mooring": "Mooring",
    "mcporter": "mcporter",
    "fastmcp": "fastmcp",
    "claude": "`claude mcp`",
    "codex": "`codex mcp`",
}
SLOWER = 1.25
"""How many times as long is no longer level: less is within what one run differs from another."""
HEAD = """# Fifteen jobs, five programs

What people do with MCP servers at a command line, done with Mooring, [mcporter](https://github.com/steipete/mcporter),
`fastmcp`, `claude mcp` and `codex mcp`. `make jobs` does all of it for real and writes this page.

Each cell has the number of commands typed, the seconds they took, and how many of the facts that we would want to know
were in the answer; what is missing is listed below, with what each program printed. *Cannot* means that the program has
no command for it: Claude Code and Codex call tools in a conversation only. Models are a fake one on loopback.

Every program has a home of its own, with the same servers in the file that it reads, and did each job once before it
was timed. The server is server-everything from npm. The programs run as in a script: nobody can be asked.
"""


class Answer(NamedTuple):
    """What a program made of a job."""

    seconds: float
    shown: tuple[bool, ...]
    code: int | None
    out: str
    err: str


Answers = Mapping[str, Answer]


def write(jobs: Sequence[Job], answers: Mapping[str, Answers], versions: Mapping[str, str]) -> str:
    parts = [HEAD, _describe_ground(versions), _summarize(jobs, answers)]
    parts += [_describe(job, answers[job.key]) for job in jobs]
    return "\n".join(parts)


def find_behind(job: Job, answers: Answers) -> list[str]:
    """Where another program has more of the facts, or all of them sooner."""
    ours = answers["mooring"]
    lines = []
    for program, theirs in answers.items():
        if sum(theirs.shown) > sum(ours.shown):
            lines.append(f"{job.key}: {program} has {sum(theirs.shown)} facts, mooring {sum(ours.shown)}")
        elif sum(theirs.shown) == sum(ours.shown) and ours.seconds > theirs.seconds * SLOWER:
            lines.append(f"{job.key}: {program} takes {theirs.seconds:.1f} s, mooring {ours.seconds:.1f} s")
    return lines


def as_text(job: Job, answers: Answers) -> str:
    cells = (f"  {program:9} {_cell(job, program, answers)}" for program in PROGRAMS)
    return "\n".join([job.title, *cells])


def _describe_ground(versions: Mapping[str, str]) -> str:
    said = ", ".join(version if name in version.lower() else f"{name} {version}" for name, version in versions.items())
    return f"Measured {time.strftime('%Y-%m-%d', time.gmtime())} on {platform.machine()}: {said}.\n"


def _summarize(jobs: Iterable[Job], answers: Mapping[str, Answers]) -> str:
    rows = [["job", *(NAMES[program] for program in PROGRAMS)], ["---"] * (len(PROGRAMS) + 1)]
    for job in jobs:
        cells = [_cell(job, program, answers[job.key]) for program in PROGRAMS]
        rows.append([f"[{job.title}](#{_anchor(job.title)})", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n"


def _cell(job: Job, program: str, answers: Answers) -> str:
    answer = answers.get(program)
    if answer is None:
        return "cannot"
    return f"{len(job.commands[program])} typed · {answer.seconds:.1f} s · {sum(answer.shown)} of {len(job.facts)}"


def _describe(job: Job, answers: Answers) -> str:
    lines = [f"## {job.title}", ""]
    if job.about:
        lines += [job.about, ""]
    for program, answer in answers.items():
        missing = [fact.text for fact, shown in zip(job.facts, answer.shown, strict=True) if not shown]
        lines += [
            f"{NAMES[program]}: {_judge(missing, len(job.facts))}",
            "",
            *_quote(job.commands[program], answer),
            "",
        ]
    unable = [NAMES[program] for program in PROGRAMS if program not in answers]
    if unable:
        lines += [f"Cannot: {', '.join(unable)}.", ""]
    return "\n".join(lines)


def _judge(missing: Sequence[str], facts: int) -> str:
    if not missing:
        return "has all of it."
    return f"has {facts - len(missing)} of {facts}; not: {'; '.join(missing)}."


def _quote(commands: Sequence[str], answer: Answer) -> list[str]:
    lines = [line.rstrip() for line in f"{answer.out}\n{answer.err}".splitlines() if line.strip()]
    if len(lines) > LINES:
        lines = [*lines[: LINES - 3], f"… {len(lines) - LINES + 1} more lines …", *lines[-2:]]
    cut = [line if len(line) <= WIDTH else f"{line[:WIDTH]}…" for line in lines]
    ending = "stopped after a minute" if answer.code is None else f"exit code {answer.code}"
    typed = [f"$ {command}" for command in commands]
    return ["```console", *typed, *cut, f"[{ending}, {answer.seconds:.1f} s]", "```"]


def _anchor(title: str) -> str:
    return "".join(char for char in title.lower().replace(" ", "-") if char.isalnum() or char == "-")
