"""`doctor`: which files were read, what is wrong, and the command that fixes each thing."""

from collections.abc import Iterator, Mapping
from time import time

from msgspec import Struct

from mooring.actions.get import MissingVariable, find_missing_variables
from mooring.actions.known import Programs
from mooring.actions.list import list_needed_inputs
from mooring.core.command import suggest_args
from mooring.core.config import ServerConfig, Stdio, find_input_variables
from mooring.core.problem import Problem
from mooring.core.verdict import Rule
from mooring.core.where import Where
from mooring.display.text import advise_on_held_back, describe_held_back, quote_argument, safe
from mooring.errors import FileError
from mooring.files import check_writable
from mooring.inventory.admit import admit
from mooring.inventory.approval import find_replaced, list_undecided
from mooring.inventory.load import Inventory
from mooring.permissions import pins, rules
from mooring.permissions.rule import find_idle_denies
from mooring.servers.cache import recall
from mooring.servers.launch.environment import default_search_path
from mooring.servers.launch.explain import explain_isolation
from mooring.servers.launch.target import UNRESOLVED, resolve_target
from mooring.servers.records import look_up


class Finding(Struct, frozen=True):
    """One thing to fix."""

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


def diagnose(inventory: Inventory, where: Where) -> Report:
    """Examine everything that is configured, without starting anything."""
    problems = (*inventory.problems, *rules.find_problems(inventory.settings, where, inventory.root))
    findings = (
        *_check_storage(where),
        *(_report_problem(problem, where) for problem in problems),
        *_check_servers(inventory, where),
        *_check_starts(inventory, where),
        *_check_failures(inventory, where),
        *_check_approvals(inventory),
        *_check_denies(inventory),
        *_check_held_tools(inventory, where),
    )
    return Report(inventory.files, len(inventory.choices), findings)


def _check_storage(where: Where) -> Iterator[Finding]:
    """See that what has to be remembered can be written."""
    kept = {
        where.state: "approvals, rules and the log of calls",
        pins.find_folder(where): "which tools were approved",
        where.cache: "what servers offered",
    }
    reported: set[str] = set()
    for folder, what in kept.items():
        try:
            check_writable(folder)
        except FileError as error:
            # One folder that is full or read-only may be above several.
            if error.path not in reported:
                reported.add(error.path)
                message = f"Nothing can be stored there, so that {what} are lost: {error.reason}"
                yield Finding(None, message, error.path, None, "make room, or make the folder writable", True)


def _report_problem(problem: Problem, where: Where) -> Finding:
    fix = _suggest_fix(problem, where)
    is_unhealthy = problem.level != "note"
    return Finding(problem.server, problem.message, problem.path, problem.line, fix, is_unhealthy)


def _suggest_fix(problem: Problem, where: Where) -> str:
    # Nobody edits the files in the state folder: Mooring writes them.
    if problem.path is None or problem.path.startswith(f"{where.state}/"):
        return problem.hint
    place = f"edit {problem.path}"
    return f"{problem.hint} ({place})" if problem.hint else place


def _check_servers(inventory: Inventory, where: Where) -> Iterator[Finding]:
    """Look for the command and the variables of each server that could be started."""
    # Programs are looked for where a start would look for them, which is not always PATH alone.
    path = default_search_path(where, inventory.settings["env"])
    for choice in inventory.choices:
        config = choice.definition.config
        if isinstance(config, ServerConfig) and config.enabled and choice.approved:
            yield from _check_command(config, inventory.root, where, path)
            yield from _check_variables(config, where.env)
            yield from _check_inputs(config)


def _check_command(config: ServerConfig, root: str, where: Where, path: str) -> Iterator[Finding]:
    if not isinstance(config.connection, Stdio):
        return
    # A command with placeholders is known only at its start.
    command = config.connection.command.plain
    if command is None:
        return
    if resolve_target(config.connection, root, where, path) == UNRESOLVED:
        split = suggest_args(command)
        what = (
            "The command has its arguments in the same text" if split else f"The command {safe(command)} is not on PATH"
        )
        fix = safe(split) or _suggest_install(command)
        yield Finding(config.name, what, config.origin.path, None, fix, True)


_INSTALL = {
    "npx": "install Node.js, which brings npx",
    "node": "install Node.js",
    "bunx": "install Bun",
    "uvx": "pip install uv",
    "uv": "pip install uv",
    "docker": "install Docker",
    "podman": "install Podman",
}


def _suggest_install(command: str) -> str:
    return _INSTALL.get(command, f"install {safe(command)}, or write its full path into the entry")


def _check_variables(config: ServerConfig, env: Mapping[str, str]) -> Iterator[Finding]:
    for missing in find_missing_variables(config, env):
        what = f"{_describe_missing(missing)}; it {missing.effect}"
        yield Finding(config.name, what, config.origin.path, None, _suggest_export(missing.variable), True)


def _check_inputs(config: ServerConfig) -> Iterator[Finding]:
    """Name the values that only the person can give; a server that waits for one is not broken."""
    for input in list_needed_inputs(config):
        fix = f"mooring tools {quote_argument(config.name)} asks for it in a terminal"
        options = " ".join(f"-e {name}=VALUE" for name in find_input_variables(config.connection, input))
        if options:
            fix += f", and {options} gives it without one"
        yield Finding(config.name, f"It needs the input {safe(input)}", config.origin.path, None, fix, False)


def _describe_missing(missing: MissingVariable) -> str:
    if not missing.variable:
        return f"{missing.where} names a variable that is not set"
    return f"{missing.where} needs the variable {missing.variable}, which is not set"


def _suggest_export(variable: str | None) -> str:
    # A person may copy the command: what a shell could not export, or would read as more, is not put into one.
    if variable and variable.isidentifier():
        return f"export {variable}=…"
    return "set the variable it names"


def _check_starts(inventory: Inventory, where: Where) -> Iterator[Finding]:
    """Find servers of the person's own that don't start in the project as written, because its code could run there."""
    path = default_search_path(where, inventory.settings["env"])
    for name, approved in admit(inventory).wanted.items():
        note = explain_isolation(approved, where, path)
        if note is not None:
            yield Finding(name, note.what, approved.config.origin.path, None, note.fix, note.stops)


def _check_failures(inventory: Inventory, where: Where) -> Iterator[Finding]:
    """Find servers that could not be connected the last time."""
    wanted = admit(inventory).wanted
    programs = Programs(where, inventory.settings["env"])
    for name, remembered in look_up(wanted.values(), where).items():
        config = wanted[name].config
        # Without its program it cannot but fail: that is a finding of its own.
        if remembered.failure is None or programs.find_missing(config, inventory.root):
            continue
        what = remembered.failure.describe(time()).removeprefix(f"{name}: ").removeprefix(f"{name} ")
        fix = f"mooring mcp test {quote_argument(name)} tries it step by step"
        yield Finding(name, what, config.origin.path, None, fix, True)


def _check_denies(inventory: Inventory) -> Iterator[Finding]:
    """Find rules that deny tools of a server that is not known here, and may be misspelled."""
    known = [choice.name for choice in inventory.choices]
    for value in inventory.settings.every("permissions"):
        written = [Rule(rule["tool"], rule["action"]) for rule in value.value]
        for rule in find_idle_denies(written, known):
            what = f"The deny rule {safe(rule.tool)} matches no known server"
            yield Finding(None, what, value.path, None, "check the name of the server in it", False)


def _check_approvals(inventory: Inventory) -> Iterator[Finding]:
    for definition in list_undecided(inventory):
        changed = inventory.standing(definition) == "changed"
        what = "changed since you decided about it" if changed else "comes from the project and is not approved"
        replaced = find_replaced(inventory, definition)
        if replaced is not None:
            what += f"; it would replace your own server of that name, from {replaced.path or 'the command line'}"
        name = quote_argument(definition.name)
        fix = f"to look and decide: mooring mcp approve {name}; to refuse it: mooring mcp reject {name}"
        yield Finding(definition.name, f"It {what}", definition.origin.path, None, fix, False)


def _check_held_tools(inventory: Inventory, where: Where) -> Iterator[Finding]:
    """Find tools that are not what was approved, according to what the servers listed last."""
    wanted = admit(inventory).wanted
    for name, offer in recall(wanted.values(), where).items():
        held, problem = pins.check_tools(where, wanted[name], offer.tools.items)
        # A damaged record holds every tool back: that is the thing to fix, not each tool.
        if problem is not None:
            yield _report_problem(problem, where)
        elif held:
            yield Finding(
                name, f"It has {describe_held_back(len(held.names))}", None, None, advise_on_held_back(name), False
            )
