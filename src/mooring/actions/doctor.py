"""`doctor`: what was read, what is wrong, and the command that mends each thing."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from mooring.actions.approve import pending
from mooring.actions.get import missing
from mooring.core.config import ServerConfig, Stdio
from mooring.core.problem import Problem
from mooring.core.where import Where
from mooring.display.text import advise_on_held_back, describe_held_back, quote_argument, safe
from mooring.inventory.admit import admit
from mooring.inventory.load import Inventory
from mooring.permissions import pins, rules
from mooring.servers.cache import recall
from mooring.servers.launch.environment import default_search_path
from mooring.servers.launch.target import UNRESOLVED, resolve_target


class Finding(Struct, frozen=True):
    """One thing to mend."""

    server: str | None
    what: str
    path: str | None
    line: int | None
    fix: str
    unhealthy: bool


class Report(Struct, frozen=True):
    """The state of everything configured."""

    files: tuple[str, ...]
    servers: int
    findings: tuple[Finding, ...]

    @property
    def healthy(self) -> bool:
        return not any(finding.unhealthy for finding in self.findings)


def doctor(inventory: Inventory, where: Where) -> Report:
    """Look everything over without starting anything."""
    problems = (*inventory.problems, *rules.find_problems(inventory.settings, where, inventory.root))
    findings = (
        *(_from_problem(problem, where) for problem in problems),
        *_servers(inventory, where),
        *_approvals(inventory),
        *_held(inventory, where),
    )
    return Report(inventory.files, len(inventory.choices), findings)


def _from_problem(problem: Problem, where: Where) -> Finding:
    ours = problem.path is None or problem.path.startswith(f"{where.state}/")  # nobody edits these
    place = "" if ours else f"edit {problem.path}"
    fix = f"{problem.hint} ({place})" if problem.hint and place else problem.hint or place
    return Finding(problem.server, problem.message, problem.path, problem.line, fix, problem.level != "note")


def _servers(inventory: Inventory, where: Where) -> Iterator[Finding]:
    path = default_search_path(where, inventory.settings["env"])
    for choice in inventory.choices:
        config = choice.definition.config
        if isinstance(config, ServerConfig) and config.enabled and choice.approved:
            yield from _command(config, inventory.root, where, path)
            yield from _variables(config, where.env)


def _command(config: ServerConfig, root: str, where: Where, path: str) -> Iterator[Finding]:
    if not isinstance(config.connection, Stdio):
        return
    command = config.connection.command.plain
    if command is not None and resolve_target(config.connection, root, where, path) == UNRESOLVED:
        what = f"The command {safe(command)} is not on PATH"
        yield Finding(config.name, what, config.origin.path, None, _install(command), True)


_INSTALL = {
    "npx": "install Node.js, which brings npx",
    "node": "install Node.js",
    "bunx": "install Bun",
    "uvx": "pip install uv",
    "uv": "pip install uv",
    "docker": "install Docker",
    "podman": "install Podman",
}


def _install(command: str) -> str:
    return _INSTALL.get(command, f"install {safe(command)}, or write its full path into the entry")


def _variables(config: ServerConfig, env: Mapping[str, str]) -> Iterator[Finding]:
    for lack in missing(config, env):
        name = lack.variable
        what = (
            f"{lack.where} needs the variable {name}, which is not set"
            if name
            else f"{lack.where} names a variable that is not set"
        )
        fix = f"export {name}=…" if name and name.isidentifier() else "set the variable it names"
        yield Finding(config.name, f"{what}; it {lack.effect}", config.origin.path, None, fix, True)


def _approvals(inventory: Inventory) -> Iterator[Finding]:
    for definition in pending(inventory):
        changed = inventory.standing(definition) == "changed"
        what = "changed since you decided about it" if changed else "comes from the project and is not approved"
        fix = f"mooring mcp approve {quote_argument(definition.name)}"
        yield Finding(definition.name, f"It {what}", definition.origin.path, None, fix, False)


def _held(inventory: Inventory, where: Where) -> Iterator[Finding]:
    """Tools that are not what was approved, as far as servers are remembered."""
    wanted = admit(inventory).wanted
    for name, offer in recall(wanted.values(), where).items():
        held, problem = pins.check_tools(where, wanted[name], offer.tools.items)
        if problem is not None:
            yield _from_problem(problem, where)
        elif held:
            yield Finding(
                name, f"It has {describe_held_back(len(held.names))}", None, None, advise_on_held_back(name), False
            )
