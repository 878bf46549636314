"""What can be said of definitions without starting anything: their files, approvals, variables and programs."""

from collections.abc import Iterator, Mapping, Sequence

from mooring.core.definitions.config import Broken, Http, ServerConfig, Stdio, find_input_variables, suggest_args
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.problem import Problem
from mooring.core.protocol.failure import CheckStage
from mooring.discovery.documents import LET_IN
from mooring.discovery.formats.mooring import FORMAT as OWN
from mooring.display.text import quote_argument, safe
from mooring.inventory.admit import Admitted
from mooring.inventory.approval import find_replaced, list_definitions, list_undecided
from mooring.inventory.load import IF_TRUSTED, Inventory
from mooring.permissions import rules
from mooring.servers.launch.environment import default_search_path
from mooring.servers.launch.isolate import explain_isolation
from mooring.servers.launch.target import UNRESOLVED, resolve_target
from mooring.verbs.config.get import MissingVariable, find_missing_variables
from mooring.verbs.config.known import STOPS
from mooring.verbs.config.list import list_needed_inputs
from mooring.verbs.config.secrets import name_secret
from mooring.verbs.doctor.fixes import lead_with_command, make_fix, suggest_edit, suggest_editor, suggest_retry
from mooring.verbs.doctor.programs import suggest_program
from mooring.verbs.doctor.report import Finding
from mooring.verbs.use.advice import can_edit


def check_files(inventory: Inventory, where: Paths) -> Iterator[Finding]:
    """What is wrong with files, and with the records that Mooring writes."""
    for problem in inventory.problems:
        yield report_problem(problem, where, _find_entry(inventory, problem))
    for problem in rules.find_problems(inventory.settings, where, inventory.root):
        yield report_problem(problem, where)


def report_problem(problem: Problem, where: Paths, config: ServerConfig | Broken | None = None) -> Finding:
    """A problem as something to fix; `config` is the definition that it is about, if it is about one."""
    fix = _suggest_edit(problem, where, config)
    is_unhealthy = problem.level != "note"
    stage: CheckStage | None = "file" if problem.level == "error" and problem.server else None
    return Finding(problem.server, problem.message, problem.path, problem.line, fix, is_unhealthy, stage)


def _find_entry(inventory: Inventory, problem: Problem) -> ServerConfig | Broken | None:
    for choice in inventory.choices if problem.server else ():
        for definition in list_definitions(choice):
            if (definition.name, definition.origin.path) == (problem.server, problem.path):
                return definition.config
    return None


def _suggest_edit(problem: Problem, where: Paths, config: ServerConfig | Broken | None) -> str:
    # Nobody edits the files in the state folder: Mooring writes them.
    if problem.path is None or problem.path.startswith(f"{where.state}/"):
        return lead_with_command(problem.hint, suggest_retry(problem.server))
    # An editor would be refused, too.
    if problem.hint.startswith(LET_IN):
        return problem.hint.removeprefix(LET_IN)
    if problem.hint.startswith(IF_TRUSTED):
        return make_fix(problem.hint.removeprefix(IF_TRUSTED), IF_TRUSTED.removesuffix(": "))
    edit = suggest_editor(problem.path) if config is None else suggest_edit(config)
    return lead_with_command(problem.hint, edit)


def check_approvals(inventory: Inventory) -> Iterator[Finding]:
    """Servers of the project that nobody has decided about as they are now."""
    for definition in list_undecided(inventory):
        changed = inventory.standing(definition) == "changed"
        what = "changed since you decided about it" if changed else "comes from the project and is not approved"
        replaced = find_replaced(inventory, definition)
        if replaced is not None:
            what += f"; it would replace your own server of that name, from {replaced.path or 'the command line'}"
        name = quote_argument(definition.name)
        fix = make_fix(f"mooring mcp approve {name}", f"to refuse it: mooring mcp reject {name}")
        # The person's own server stays in force until they decide: nothing stops it.
        stage: CheckStage | None = None if replaced else "approval"
        yield Finding(definition.name, f"It {what}", definition.origin.path, None, fix, False, stage)


def check_starts(inventory: Inventory, where: Paths) -> Iterator[Finding]:
    """Look for the command and the variables of each server that could be started."""
    # Programs are looked for where a start would look for them, which is not always PATH alone.
    path = default_search_path(where, inventory.settings["env"])
    for config in inventory.list_startable():
        yield from _check_command(config, inventory.root, where, path)
        yield from _check_variables(config, where.env)
        yield from _check_inputs(config)


def _check_command(config: ServerConfig, root: str, where: Paths, path: str) -> Iterator[Finding]:
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
        if split and can_edit(config):
            fix = suggest_edit(config, words=tuple(command.split()))
        else:
            fix = make_fix(suggest_edit(config), safe(split)) if split else suggest_program(config, command, path)
        yield Finding(config.name, what, config.origin.path, None, fix, True, "command")


def _check_variables(config: ServerConfig, env: Mapping[str, str]) -> Iterator[Finding]:
    for missing in find_missing_variables(config, env):
        what = f"{_describe_missing(missing)}; it {missing.effect}"
        fix = suggest_export(missing.variable, config)
        yield Finding(config.name, what, config.origin.path, None, fix, True, "variables")


def _check_inputs(config: ServerConfig) -> Iterator[Finding]:
    """Name the values that only the person can give; a server that waits for one is not broken."""
    needed = list_needed_inputs(config)
    for input in needed:
        words = "asks for it in a terminal"
        options = " ".join(f"-e {name}=VALUE" for name in find_input_variables(config.connection, input))
        if options:
            words += f", and {options} gives it without one"
        retry = f"mooring tools {quote_argument(config.name)}"
        fix = make_fix(retry, words)
        if config.origin.tool != OWN.tool and config.origin.scope == "user":
            fix = make_fix(_suggest_copy(config, needed), f"keeps it for a copy of yours; {retry} {words}")
        what = f"It needs the input {safe(input)}"
        yield Finding(config.name, what, config.origin.path, None, fix, False, "variables")


def _suggest_copy(config: ServerConfig, inputs: Sequence[str]) -> str:
    """How to store what a definition of another tool asks for, which only an entry of ours can name."""
    secrets = (f"mooring secret set {quote_argument(name_secret(config.name, each))}" for each in inputs)
    copy = f"mooring mcp import -y --from {config.origin.tool} {quote_argument(config.name)}"
    return " && ".join((*secrets, copy))


def cannot_start(config: ServerConfig, env: Mapping[str, str]) -> bool:
    """Whether a value is missing without which the server is never started."""
    missing = find_missing_variables(config, env)
    return bool(list_needed_inputs(config)) or any(each.effect == STOPS for each in missing)


def lacks_type(config: ServerConfig) -> bool:
    """Whether an entry of the person's own file of Mooring has a URL and leaves open how to talk to it."""
    is_ours = config.origin.tool == OWN.tool and config.origin.scope == "user"
    return is_ours and isinstance(config.connection, Http) and config.connection.transport == "auto"


def _describe_missing(missing: MissingVariable) -> str:
    if not missing.variable:
        return f"{missing.where} names a variable that is not set"
    return f"{missing.where} needs the variable {missing.variable}, which is not set"


def suggest_export(variable: str | None, config: ServerConfig) -> str:
    """How to set a variable that a definition names."""
    # A person may copy the command: what a shell could not export, or would read as more, is not put into one.
    if variable and variable.isidentifier():
        return f"export {variable}=…"
    return make_fix(suggest_edit(config), "or set the variable that it names")


def check_isolation(inventory: Inventory, admitted: Admitted, where: Paths) -> Iterator[Finding]:
    """Find servers of the person's own that don't start in the project as written, because its code could run there."""
    path = default_search_path(where, inventory.settings["env"])
    for name, approved in admitted.wanted.items():
        note = explain_isolation(approved, where, path)
        if note is not None:
            stage: CheckStage | None = "command" if note.stops else None
            fix = make_fix(suggest_edit(approved.config), note.fix)
            yield Finding(name, note.what, approved.config.origin.path, None, fix, note.stops, stage)
