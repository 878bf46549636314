"""`mooring mcp test SERVER`: connects to a server and prints each step."""

from time import perf_counter
from typing import Any

from msgspec import Struct

from mooring.cli.adhoc import label_server, make_configured_setup, make_setup, require_words, run_with_host
from mooring.cli.base import OK, Globals, print_json, print_lines, tell
from mooring.cli.failure import exit_code, explain
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.errors import ConfigError, MooringError, ServerError, TimedOut
from mooring.verbs.use.advice import advise_on_failure, lacks_token
from mooring.verbs.use.evidence import describe_failed_connection
from mooring.verbs.use.opening import Setup
from mooring.verbs.use.test import Found, TrialStep, show_step, test


def run(options: Globals, words: tuple[str, ...], **server: Any) -> int:
    """Connect to a server step by step and show what fails."""
    setup = make_setup(options, server)
    name, *more = require_words(setup, words)
    if more:
        raise ConfigError("Name one server.")
    trial = try_server(options, setup, name, label_server(server, name))
    if options.json:
        print_json(trial.data)
    return trial.code


class Trial(Struct):
    """How it went: the exit code, and the data for `--json`."""

    code: int
    data: dict[str, Any]


def try_server(options: Globals, setup: Setup, name: str, label: str) -> Trial:
    """Connect to a server and print each step, then what failed and what may help."""
    began = perf_counter()
    where = setup.workspace.where
    steps: list[TrialStep] = []

    def show(step: TrialStep) -> None:
        ticker.clear()
        steps.append(step)
        if not options.json:
            print_lines(options, [show_step(step)])
        # The definition is read at once; what takes a minute is a program that is installed first.
        ticker.wait_on()

    try:
        with Ticker(options, label) as ticker:
            found = run_with_host(
                setup,
                lambda host, deadline: test(host, name, show, deadline, where=where, began=began),
                named=name,
            )
    except ServerError as error:
        _explain_failure(options, setup, name, error)
        return Trial(exit_code(error), _make_data(name, steps, None, error))
    warn(options, failed={}, held={name: found.held} if found.held else {})
    return Trial(OK, _make_data(name, steps, found, None))


def try_configured(options: Globals, name: str) -> Trial:
    """Connect to a server that was just written, and print how that went."""
    return try_server(options, make_configured_setup(options, None), name, name)


def _explain_failure(options: Globals, setup: Setup, name: str, error: ServerError) -> None:
    tell(describe_failed_connection(name, error))
    explain(error)
    advice = _advise_adhoc(error) if setup.adhoc_name else _advise(options, setup, name, error)
    if advice:
        tell(advice)


def _make_data(name: str, steps: list[TrialStep], found: Found | None, error: MooringError | None) -> dict[str, Any]:
    return {"name": name, "ok": error is None, "error": error and str(error), "steps": steps, "server": found}


def _advise(options: Globals, setup: Setup, name: str, error: ServerError) -> str:
    """What a person may do about a configured server that failed; empty if nothing comes to mind."""
    config = options.inventory().find(name).definition.config
    advice = advise_on_failure(config, error, setup.workspace.where)
    if isinstance(error, TimedOut):
        return f"{advice.removesuffix('.')}, or try with --timeout."
    return advice


def _advise_adhoc(error: ServerError) -> str:
    """What a person may do about a server they named by its command or address."""
    if isinstance(error, TimedOut):
        return "It may need longer: try with --timeout."
    if lacks_token(error):
        return "Give it a token: -H 'Authorization: Bearer …'."
    return ""
