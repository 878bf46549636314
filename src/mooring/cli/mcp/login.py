"""`mooring mcp login` and `logout`: a server that wants to know who you are."""

import os

from msgspec.structs import replace

from mooring.auth.browser import has_browser, open_page
from mooring.cli.adhoc import make_configured_setup, run_with_host
from mooring.cli.base import OK, Globals, HintedUsageError, print_json, say
from mooring.cli.failure import describe_failure, exit_code, print_failure, print_failure_data
from mooring.cli.ticker import Ticker
from mooring.core.conversation.question import Answer, Login, No, Question, Yes
from mooring.display.lines import describe_question
from mooring.display.text import safe
from mooring.verbs.use.login import (
    LoginReport,
    LoginUnused,
    describe_login,
    describe_logout,
    explain_logout,
    login,
    logout,
)
from mooring.verbs.use.opening import ServerTarget as AdhocTarget
from mooring.verbs.use.opening import Setup, make_adhoc_config


def run_login(
    options: Globals,
    name: str | None,
    url: str | None,
    scopes: tuple[str, ...],
    no_browser: bool,
    timeout: float | None,
) -> int:
    """Log in to a server in your browser."""
    setup = _make_setup(options, name, url, timeout)
    server = name or setup.adhoc_name
    browser = not no_browser and has_browser(os.environ)
    words = [scope for text in scopes for scope in text.split()]
    setup = replace(setup, ask=_Asker(setup, options))
    with Ticker(options, server):
        outcome = run_with_host(
            setup, lambda host, deadline: login(host, deadline, server, scopes=words, browser=browser), named=server
        )
    report = outcome.report if isinstance(outcome, LoginUnused) else outcome
    _print_report(options, report)
    if not isinstance(outcome, LoginUnused):
        return OK
    failure = describe_failure(outcome.error)
    if options.json:
        print_failure_data(failure)
    else:
        print_failure(failure)
    return exit_code(outcome.error)


def run_logout(options: Globals, name: str | None, url: str | None) -> None:
    """Revoke the login of a server, and remove it."""
    setup = _make_setup(options, name, url, None)
    server = name or setup.adhoc_name
    report = run_with_host(setup, lambda host, _: logout(host, server), named=server)
    if options.json:
        print_json(report)
    else:
        say(describe_logout(report))
    if report.problem and not options.quiet:
        say(explain_logout(report), err=True)


def _make_setup(options: Globals, name: str | None, url: str | None, timeout: float | None) -> Setup:
    """What to open a host on: the configured servers, or the one at an address. Raises: ConfigError."""
    if bool(name) == bool(url):
        raise HintedUsageError("Name one server, or give its address with --url;", "see: mooring mcp list")
    setup = make_configured_setup(options, timeout)
    return setup if url is None else replace(setup, adhoc=make_adhoc_config(AdhocTarget(url=url)))


class _Asker:
    """Puts questions to the person; without a terminal, a login is shown, and nothing else is answered."""

    def __init__(self, setup: Setup, options: Globals) -> None:
        self._ask = setup.ask
        self._options = options

    async def __call__(self, question: Question) -> Answer:
        if self._ask is not None:
            return await self._ask(question)
        if not isinstance(question, Login):
            return No("there is no terminal to answer in")
        self._options.clear_progress()
        for line in describe_question(question):
            say(line, err=True)
        if question.browser and not question.code:
            open_page(question.url, os.environ)
        say("Waiting for the login …", err=True)
        return Yes()


def _print_report(options: Globals, report: LoginReport) -> None:
    if options.json:
        print_json(report)
    else:
        say(describe_login(report))
    for note in report.notes:
        if not options.quiet:
            say(f"Note: {safe(note)}", err=True)
