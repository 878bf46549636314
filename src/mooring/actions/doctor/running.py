"""Servers that run more than once at this moment, and the programs that started them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from os.path import basename
from typing import TypeAlias

from msgspec import Struct

from mooring.actions.doctor.report import Finding
from mooring.core.config import ServerConfig, Stdio
from mooring.display.text import safe
from mooring.inventory.load import Inventory
from mooring.process.table import RunningProcess
from mooring.servers.launch.runners import PythonRun, find_runner

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "ksh", "busybox"})
_INTERPRETERS = r"(?:python|pypy|node|nodejs|bun|deno|ruby|perl|php|java|tsx|ts-node)[\d.]*"
_NODE = frozenset({"npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "node"})
_UV = frozenset({"uvx", "uv", "pipx"})
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_FAMILIES = {program: family for family in (_NODE, _UV, _CONTAINERS) for program in family if program != "node"}
"""By launcher, the programs that its process may turn into: `npx` shows up as `npm`, `uvx` as `uv`."""
_VERBS = frozenset({"exec", "dlx", "run", "tool", "x"})
_VALUED = frozenset(
    {
        "-p",
        "--package",
        "--from",
        "--with",
        "--python",
        "-e",
        "--env",
        "-v",
        "--volume",
        "--mount",
        "--name",
        "--network",
    }
)
"""Options of launchers whose value is the next word: what follows it may be the package."""
_LAUNCHERS = _NODE | _UV | {"env", "timeout", "nice", "setsid", "nohup", "sudo"}

_Words: TypeAlias = tuple[str | None, ...]
"""The words of a command; one that is known only at its start is `None`."""


class RunningServer(Struct, frozen=True):
    """One instance of a server, and the program that it runs under."""

    pid: int
    program: str
    """The name of that program; empty if there is none any more."""
    program_pid: int = 0

    def __str__(self) -> str:
        return f"{safe(self.program)} (pid {self.program_pid})" if self.program else "a program that has ended"


def check_running(inventory: Inventory, processes: Iterable[RunningProcess]) -> Iterator[Finding]:
    """Report each server that runs more than once."""
    for name, instances in find_running(inventory, processes).items():
        if len(instances) < 2:
            continue
        what = f"It runs {len(instances)} times at this moment, under {_join(map(str, instances))}"
        evidence = (f"pids {_join(str(each.pid) for each in instances)}",)
        fix = "each program starts its own; quit those that you don't need"
        yield Finding(name, what, None, None, fix, False, evidence=evidence)


def find_running(inventory: Inventory, processes: Iterable[RunningProcess]) -> Mapping[str, tuple[RunningServer, ...]]:
    """The running instances of each server that has any, by the first of its names."""
    table = {process.pid: process for process in processes}
    matched = _match(_list_patterns(inventory), table.values())
    found: dict[str, tuple[RunningServer, ...]] = {}
    for name, pids in matched.items():
        # A launcher and the program it launched have the same words, and are one instance.
        roots = [pid for pid in sorted(pids) if not _has_ancestor_in(pid, pids, table)]
        found[name] = tuple(_describe_instance(pid, table) for pid in roots)
    return found


def _join(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


# --- which process is which server ----------------------------------------------------------------------------------


class _Pattern(Struct, frozen=True):
    """The words with which a server is started."""

    server: str
    words: _Words

    def fits(self, argv: Sequence[str], start: int) -> bool:
        """Whether the words from there on are these, the first of them without its folder."""
        rest = argv[start + 1 :]
        return len(rest) == len(self.words) - 1 and _fit(self.words[1:], rest)


class _Package(Struct, frozen=True):
    """A package that a launcher fetches and starts, and what follows it."""

    server: str
    family: frozenset[str]
    rest: _Words

    def fits(self, argv: Sequence[str], start: int) -> bool:
        rest = argv[start + 1 :]
        is_launcher = basename(argv[0]) in self.family
        return is_launcher and len(rest) == len(self.rest) and _fit(self.rest, rest)


def _fit(pattern: _Words, words: Sequence[str]) -> bool:
    return all(expected in (None, word) for expected, word in zip(pattern, words, strict=True))


class _Patterns(Struct, frozen=True):
    """What to look for, by the word that it begins with: each process is compared with few of them."""

    commands: dict[str, list[_Pattern]]
    packages: dict[str, list[_Package]]


def _list_patterns(inventory: Inventory) -> _Patterns:
    patterns = _Patterns({}, {})
    for choice in inventory.choices:
        config = choice.definition.config
        # The other names of a server start the very same words.
        if choice.name != choice.names[0] or not isinstance(config, ServerConfig):
            continue
        if isinstance(config.connection, Stdio):
            _add_patterns(patterns, choice.name, config.connection)
    return patterns


def _add_patterns(patterns: _Patterns, name: str, program: Stdio) -> None:
    words = tuple(template.plain for template in (program.command, *program.args))
    command = words[0]
    # A bare shell or interpreter is on every machine many times, and says nothing of a server.
    if command is None or (len(words) == 1 and _is_interpreter(basename(command))):
        return
    for spelling in _list_spellings(words):
        patterns.commands.setdefault(basename(command), []).append(_Pattern(name, spelling))
    family = _FAMILIES.get(basename(command))
    package_at = _find_package(words) if family else None
    if family and package_at is not None:
        package = str(words[package_at])
        patterns.packages.setdefault(package, []).append(_Package(name, family, words[package_at + 1 :]))


def _list_spellings(words: _Words) -> Iterator[_Words]:
    """The words as written, and as Mooring starts a module of Python in a project."""
    yield words
    known = [word for word in words if word is not None]
    runner = find_runner(known) if len(known) == len(words) else None
    if isinstance(runner, PythonRun):
        yield runner.without_folder


def _find_package(words: _Words) -> int | None:
    """The position of the first word behind a launcher that is neither an option nor its value."""
    before = ""
    for position, word in enumerate(words[1:], 1):
        if word is None:
            return None
        is_value = before in _VALUED
        before = word
        if not is_value and not word.startswith("-") and word not in _VERBS:
            return position
    return None


def _match(patterns: _Patterns, processes: Iterable[RunningProcess]) -> dict[str, set[int]]:
    matched: dict[str, set[int]] = {}
    for process in processes:
        for server in _find_servers(patterns, process.argv):
            matched.setdefault(server, set()).add(process.pid)
    return matched


def _find_servers(patterns: _Patterns, argv: Sequence[str]) -> Iterator[str]:
    for start, word in enumerate(argv):
        # A script is the second word or so: its interpreter is the first.
        if start == 0 or _is_interpreter(basename(argv[0])):
            candidates = patterns.commands.get(basename(word), ())
            yield from (each.server for each in candidates if each.fits(argv, start))
        yield from (each.server for each in patterns.packages.get(word, ()) if each.fits(argv, start))


def _is_interpreter(program: str) -> bool:
    return program in _SHELLS or program == "env" or re.fullmatch(_INTERPRETERS, program) is not None


# --- what it runs under ---------------------------------------------------------------------------------------------


def _has_ancestor_in(pid: int, pids: set[int], table: Mapping[int, RunningProcess]) -> bool:
    return any(ancestor.pid in pids for ancestor in _list_ancestors(pid, table))


def _list_ancestors(pid: int, table: Mapping[int, RunningProcess]) -> Iterator[RunningProcess]:
    seen = {pid}
    parent = table[pid].parent
    # Numbers are given again, and the table was not read in an instant: it could have a circle.
    while parent in table and parent not in seen:
        seen.add(parent)
        yield table[parent]
        parent = table[parent].parent


def _describe_instance(pid: int, table: Mapping[int, RunningProcess]) -> RunningServer:
    shell: RunningServer | None = None
    for ancestor in _list_ancestors(pid, table):
        name = _name_program(ancestor.argv)
        if name in _SHELLS:
            shell = shell or RunningServer(pid, name, ancestor.pid)
        elif name and name not in _LAUNCHERS and ancestor.pid != 1:
            return RunningServer(pid, name, ancestor.pid)
    return shell or RunningServer(pid, "")


def _name_program(argv: Sequence[str]) -> str:
    """What a person calls a program: `node /usr/bin/claude` is claude; empty for code without a name."""
    name = basename(argv[0]).lstrip("-")
    if name in _SHELLS or not _is_interpreter(name):
        return name
    for before, word in pairwise(argv):
        if before == "-m":
            return word
        if word in ("-c", "-e"):
            return ""
        if not word.startswith("-"):
            return re.sub(r"\.(?:[cm]?js|py|ts)\Z", "", basename(word))
    return ""
