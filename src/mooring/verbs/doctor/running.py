"""Servers that run more than once at this moment, and the programs that started them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from os.path import basename
from typing import TypeAlias

from msgspec import Struct

from mooring.core.definitions.config import ServerConfig, Stdio
from mooring.core.text.secret import HIDDEN, hide_in_arguments
from mooring.display.text import quote_argument, safe
from mooring.inventory.load import Inventory
from mooring.process.table import RunningProcess
from mooring.servers.launch.runners import PythonRun, find_runner
from mooring.verbs.doctor.fixes import make_fix
from mooring.verbs.doctor.report import Finding

_SHELLS = frozenset({"sh", "bash", "zsh", "dash", "fish", "ksh", "busybox"})
_INTERPRETERS = r"(?:python|pypy|node|nodejs|bun|deno|ruby|perl|php|java|tsx|ts-node)[\d.]*"
_NODE = frozenset({"npx", "npm", "pnpm", "pnpx", "yarn", "bunx", "bun", "node"})
_UV = frozenset({"uvx", "uv", "pipx"})
_CONTAINERS = frozenset({"docker", "podman", "nerdctl"})
_FAMILIES = {program: family for family in (_NODE, _UV, _CONTAINERS) for program in family if program != "node"}
"""By launcher, the programs that its process may turn into: `npx` shows up as `npm`, `uvx` as `uv`."""
_VERBS = frozenset({"exec", "dlx", "run", "tool", "x"})
_VALUED = frozenset({
    "-p", "--package", "--from", "--with", "--python",
    "-e", "--env", "-v", "--volume", "--mount", "--name", "--network",
})  # fmt: skip
"""Options of launchers whose value is the next word: what follows it may be the package."""
_MOST_OPTIONS = 64
"""How many words may come before the package."""
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
        words = "each program starts its own; quit those that you don't need, then look again"
        fix = make_fix(f"mooring mcp doctor {quote_argument(name)}", words)
        yield Finding(name, what, None, None, fix, False, evidence=evidence)


def find_running(inventory: Inventory, processes: Iterable[RunningProcess]) -> Mapping[str, tuple[RunningServer, ...]]:
    """The running instances of each server that has any, by the first of its names."""
    table = {process.pid: process for process in processes}
    matched = _match(_list_servers(inventory), table.values())
    found: dict[str, tuple[RunningServer, ...]] = {}
    for name, pids in matched.items():
        # A launcher and the program it launched have the same words, and are one instance.
        roots = [pid for pid in sorted(pids) if pids.isdisjoint(each.pid for each in _list_ancestors(pid, table))]
        found[name] = tuple(_describe_instance(pid, table) for pid in roots)
    return found


def _join(names: Iterable[str]) -> str:
    *rest, last = names
    return f"{', '.join(rest)} and {last}" if rest else last


# --- which process is which server ----------------------------------------------------------------------------------


class _Patterns(Struct, frozen=True):
    """What to look for, by all of its words, or by the first if others are not known.

    Five thousand processes, each compared with five hundred servers, took seven seconds.
    """

    exact: dict[tuple[str, ...], list[str]]
    vague: dict[str, list[tuple[str, _Words]]]

    def add(self, server: str, words: _Words) -> None:
        known = tuple(word for word in words if word is not None)
        if len(known) == len(words):
            self.exact.setdefault(known, []).append(server)
        elif words[0] is not None:
            self.vague.setdefault(words[0], []).append((server, words))

    def find(self, words: tuple[str, ...]) -> Iterator[str]:
        yield from self.exact.get(words, ())
        yield from (server for server, pattern in self.vague.get(words[0], ()) if _fits(pattern, words))


def _fits(pattern: _Words, words: Sequence[str]) -> bool:
    is_as_long = len(words) == len(pattern)
    return is_as_long and all(expected in (None, word) for expected, word in zip(pattern, words, strict=True))


class _Servers(Struct, frozen=True):
    """What to look for: whole commands, and for each family of launchers the package and what follows it."""

    commands: _Patterns
    packages: dict[frozenset[str], _Patterns]


def _list_servers(inventory: Inventory) -> _Servers:
    servers = _Servers(_Patterns({}, {}), {family: _Patterns({}, {}) for family in (_NODE, _UV, _CONTAINERS)})
    for choice in inventory.choices:
        config = choice.definition.config
        # The other names of a server start the very same words.
        if choice.name != choice.names[0] or not isinstance(config, ServerConfig):
            continue
        if isinstance(config.connection, Stdio):
            _add_server(servers, choice.name, config.connection)
    return servers


def _add_server(servers: _Servers, name: str, program: Stdio) -> None:
    words = tuple(template.plain for template in (program.command, *program.args))
    # A bare shell or interpreter is on every machine many times, and says nothing of a server.
    if words[0] is None or (len(words) == 1 and _is_interpreter(basename(words[0]))):
        return
    for spelling in _list_spellings(words):
        servers.commands.add(name, spelling)
    family = _FAMILIES.get(basename(words[0]))
    package_at = _find_package(words)
    if family and package_at is not None:
        servers.packages[family].add(name, words[package_at:])


def _list_spellings(words: _Words) -> Iterator[_Words]:
    """The words as written, and as Mooring starts a module of Python in a project."""
    yield words
    known = [word for word in words if word is not None]
    runner = find_runner(known) if len(known) == len(words) else None
    if isinstance(runner, PythonRun):
        yield (known[0], "-P", *known[1:])
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


def _match(servers: _Servers, processes: Iterable[RunningProcess]) -> dict[str, set[int]]:
    matched: dict[str, set[int]] = {}
    for process in processes:
        for server in _find_servers(servers, process.argv):
            matched.setdefault(server, set()).add(process.pid)
    return matched


def _find_servers(servers: _Servers, argv: tuple[str, ...]) -> Iterator[str]:
    for start in dict.fromkeys((0, _find_script(argv))):
        # What is written as a path is that file; what is not may have been found anywhere.
        for program in dict.fromkeys((argv[start], basename(argv[start]))):
            yield from servers.commands.find((program, *argv[start + 1 :]))
    for family, packages in servers.packages.items():
        if basename(argv[0]) not in family:
            continue
        for start in range(1, min(len(argv), _MOST_OPTIONS)):
            yield from packages.find(argv[start:])


def _find_script(argv: Sequence[str]) -> int:
    """The position of the script that an interpreter runs; that of the program itself if it is none."""
    if not _is_interpreter(basename(argv[0])):
        return 0
    # Only that word: what comes behind may be the whole command of a server that an agent starts.
    words = enumerate(argv[1:], 1)
    return next((position for position, word in words if not word.startswith("-") and "=" not in word), 0)


def _is_interpreter(program: str) -> bool:
    return program in _SHELLS or program == "env" or re.fullmatch(_INTERPRETERS, program) is not None


# --- what it runs under ---------------------------------------------------------------------------------------------


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
    if not _is_interpreter(name):
        return name
    nameless = name if name in _SHELLS else ""
    # The value of an option could be taken for a script.
    for before, word in pairwise(hide_in_arguments(argv)):
        if before == "-m":
            return word
        if word in ("-c", "-e"):
            return nameless
        is_option = word.startswith("-") or "=" in word or HIDDEN in word
        if not is_option:
            return re.sub(r"\.(?:[cm]?js|py|ts|sh)\Z", "", basename(word))
    return nameless
