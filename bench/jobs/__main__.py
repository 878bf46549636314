"""`make jobs`: do every job with every program, and write docs/results/comparison.md."""

import argparse
import subprocess
import sys
from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

from tests.models import FakeModel
from tests.peers import install

from bench import ground
from bench.jobs import page
from bench.jobs.page import Answer
from bench.jobs.table import JOBS, PROGRAMS, Job
from bench.jobs.world import Done, Site, World, open_model

ROUNDS = 5


def main(words: Sequence[str]) -> int:
    options = _options(words)
    jobs = [job for job in JOBS if not options.jobs or job.key in options.jobs]
    try:
        programs = _prepare()
    except (ground.Missing, install.CannotInstall) as error:
        sys.stderr.write(f"jobs: {error}\n")
        return 1
    with Site().running() as site, open_model() as model:
        made_of = Ground(programs, site, model)
        answers = {job.key: _do(job, made_of, options.rounds) for job in jobs}
    behind = [line for job in jobs for line in page.find_behind(job, answers[job.key])]
    print("\n".join(behind) or "mooring is ahead or level on each")
    if not options.jobs:
        page.PAGE.write_text(page.write(JOBS, answers, _versions(programs)))
    return 1 if behind else 0


def _options(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m bench.jobs", description=__doc__)
    keys = [job.key for job in JOBS]
    parser.add_argument("jobs", nargs="*", metavar="JOB", help=f"only these, and write no page: {', '.join(keys)}")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="how often each command is timed")
    options = parser.parse_args(words)
    if unknown := set(options.jobs) - set(keys):
        parser.error(f"no such job: {', '.join(sorted(unknown))}")
    return options


def _tell(text: str) -> None:
    print(text, file=sys.stderr)


def _prepare() -> dict[str, str]:
    """The programs by name. Raises: Missing, CannotInstall."""
    install.install(_tell, {"npm", "tools"})
    install.install_backends(_tell)
    ground.build_node()
    ground.build_python("fastmcp")
    return {
        "mooring": install.mooring(),
        "mcporter": str(ground.NODE / "node_modules/.bin/mcporter"),
        "fastmcp": str(ground.CACHE / "fastmcp/bin/fastmcp"),
        "claude": install.tool("claude"),
        "codex": install.tool("codex"),
        # Nobody is compared with it: a conversation goes on with it.
        "opencode": install.tool("opencode", "programs"),
    }


class Ground(NamedTuple):
    """What every home is made of."""

    programs: Mapping[str, str]
    site: Site
    model: FakeModel


def _do(job: Job, made_of: Ground, rounds: int) -> dict[str, Answer]:
    """What each program that can do the job answers; in turns, so that a busy moment is nobody's own."""
    able = [program for program in PROGRAMS if program in job.commands]
    worlds = {program: _make_world(job, program, made_of) for program in able}
    for program in able:  # once before, so that each has compiled and remembered what it does
        worlds[program].run(job.commands[program])
    runs: dict[str, list[Done]] = {program: [] for program in able}
    shown: dict[str, tuple[bool, ...]] = {}
    for _ in range(rounds):
        for program in able:
            world = worlds[program] = _make_world(job, program, made_of) if job.anew else worlds[program]
            done = world.run(job.commands[program])
            runs[program].append(done)
            shown[program] = tuple(fact.is_shown(world, done) for fact in job.facts)
    answers = {program: _answer(worlds[program], runs[program], shown[program]) for program in able}
    print(page.as_text(job, answers), flush=True)
    return answers


def _make_world(job: Job, program: str, made_of: Ground) -> World:
    folder, everything = ground.CACHE / "jobs" / job.key / program, install.node("server-everything")
    world = World(folder, made_of.programs, everything, made_of.site, made_of.model)
    job.lay_out(world, program)
    return world


def _answer(world: World, runs: Sequence[Done], shown: tuple[bool, ...]) -> Answer:
    last = runs[-1]
    seconds = median(run.seconds for run in runs)
    return Answer(seconds, shown, last.code, world.shorten(last.out), world.shorten(last.err))


def _versions(programs: Mapping[str, str]) -> dict[str, str]:
    return {name: _first_line([path, "--version"]) for name, path in programs.items()}


def _first_line(words: Sequence[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return done.stdout.strip().partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
