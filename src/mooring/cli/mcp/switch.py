"""`mooring mcp enable NAME` and `mooring mcp disable NAME`: turn a server on or off for good."""

from typing import Any

from mooring.cli.base import OK, UNHEALTHY, Globals, print_json, say
from mooring.cli.failure import tell
from mooring.verbs.config.switch import Switched, advise_on_switch, describe_switch, switch


def run_enable(options: Globals, name: str, scope: Any) -> int:
    """Turn a server on for good."""
    return _run(options, name, scope, True)


def run_disable(options: Globals, name: str, scope: Any) -> int:
    """Turn a server off for good."""
    return _run(options, name, scope, False)


def _run(options: Globals, name: str, scope: Any, on: bool) -> int:
    result = switch(options.workspace(), name, on, scope)
    if options.json:
        print_json({"switched": result})
    else:
        _describe(result, on, options.workspace().where.home)
    return OK if result.enabled == on else UNHEALTHY


def _describe(result: Switched, on: bool, home: str) -> None:
    text = describe_switch(result, on, home)
    # A server that did not become what was asked is no data.
    say(text, err=result.enabled != on)
    advice = advise_on_switch(result) if on else ""
    if advice:
        tell(advice)
