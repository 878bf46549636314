"""What earlier connections left on record: the last failure of a server, and tools that are not what was approved."""

from collections.abc import Collection, Iterator, Mapping
from time import time

from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.core.protocol.failure import CheckStage, Failure
from mooring.display.text import address_server, advise_on_held_back, describe_held_back, quote_argument
from mooring.inventory.admit import Admitted
from mooring.permissions import pins
from mooring.servers.cache import recall
from mooring.servers.records import Remembered
from mooring.verbs.config.known import Programs
from mooring.verbs.doctor.definitions import report_problem
from mooring.verbs.doctor.fixes import lead_with_command, suggest_retry
from mooring.verbs.doctor.report import Finding


def check_failures(
    admitted: Admitted, remembered: Mapping[str, Remembered], where: Paths, tried: Collection[str]
) -> Iterator[Finding]:
    """Servers that could not be connected the last time, unless they were `tried` again just now."""
    programs = Programs(where, admitted.settings["env"])
    for name, record in remembered.items():
        config = admitted.wanted[name].config
        # Without its program it cannot but fail: that is a finding of its own.
        if record.failure is None or name in tried or programs.find_missing(config, admitted.root):
            continue
        what = address_server(name, record.failure.describe(time()))
        fix = _suggest_fix(config, record.failure, where)
        stage = find_recorded_stage(record.failure)
        evidence = describe_evidence(record.failure.exit_code, record.failure.status)
        yield Finding(name, what, config.origin.path, None, fix, True, stage, evidence)


def _suggest_fix(config: ServerConfig, failure: Failure, where: Paths) -> str:
    login = f"mooring mcp login {quote_argument(config.name)}"
    # At its end the error has our own words; what the server said is before them.
    if failure.login and failure.error.endswith(login):
        return login
    from mooring.verbs.doctor.failure_fixes import rebuild_error, suggest_failure_fix  # it loads what speaks HTTP

    return suggest_failure_fix(config, rebuild_error(failure), where)


def find_recorded_stage(failure: Failure) -> CheckStage:
    """The stage that was not passed."""
    # Earlier versions did not write it down.
    return failure.stage or ("auth" if failure.login else "protocol")


def describe_evidence(exit_code: int | None, status: int | None) -> tuple[str, ...]:
    """An exit code and an HTTP status in words, as far as there are any."""
    code = () if exit_code is None else (f"exit code {exit_code}",)
    return code if status is None else (*code, f"HTTP status {status}")


def check_held_tools(admitted: Admitted, where: Paths) -> Iterator[Finding]:
    """Find tools that are not what was approved, according to what the servers listed last."""
    wanted = admitted.wanted
    for name, offer in recall(wanted.values(), where).items():
        held, problem = pins.check_tools(where, wanted[name], offer.tools.items)
        # A damaged record holds every tool back: that is the thing to fix, not each tool.
        if problem is not None:
            yield report_problem(problem, where)
        elif held:
            what = f"It has {describe_held_back(len(held.names))}"
            fix = lead_with_command(advise_on_held_back(name), suggest_retry(name))
            yield Finding(name, what, None, None, fix, False)
