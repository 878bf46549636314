"""`doctor`: what was read, what is wrong, and the command that mends each thing."""

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct

from mooring import files
from mooring.actions.approve import pending
from mooring.actions.get import missing
from mooring.core.config import ServerConfig, Stdio
from mooring.core.problem import Problem
from mooring.inventory import Inventory
from mooring.render import argument, safe


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


def doctor(inventory: Inventory, env: Mapping[str, str]) -> Report:
    """Look everything over without starting anything."""
    findings = (*map(_from_problem, inventory.problems), *_servers(inventory, env), *_approvals(inventory))
    return Report(inventory.files, len(inventory.choices), findings)


def _from_problem(problem: Problem) -> Finding:
    place = f"edit {problem.path}" if problem.path else ""
    fix = f"{problem.hint} ({place})" if problem.hint and place else problem.hint or place
    return Finding(problem.server, problem.message, problem.path, problem.line, fix, problem.level != "note")


def _servers(inventory: Inventory, env: Mapping[str, str]) -> Iterator[Finding]:
    for choice in inventory.choices:
        config = choice.definition.config
        if isinstance(config, ServerConfig) and config.enabled and choice.approved:
            yield from _command(config, inventory.root, env)
            yield from _variables(config, env)


def _command(config: ServerConfig, root: str, env: Mapping[str, str]) -> Iterator[Finding]:
    if not isinstance(config.connection, Stdio):
        return
    command = config.connection.command.plain
    if command is not None and files.which(command, env.get("PATH", os.defpath), root) is None:
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
        fix = f"mooring mcp approve {argument(definition.name)}"
        yield Finding(definition.name, f"It {what}", definition.origin.path, None, fix, False)
