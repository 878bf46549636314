"""`mooring mcp test`, `reload`, `login`, `logout` and `pins`: what needs a server that answers."""

import os
from time import perf_counter
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from mooring.auth.browser import has_browser, open_page
from mooring.cli.adhoc import label_server, make_configured_setup, make_setup, require_words, run_with_host
from mooring.cli.base import OK, UNHEALTHY, Globals, print_columns, print_json, print_lines, say, tell
from mooring.cli.failure import describe_failure, exit_code, explain, print_failure, print_failure_data
from mooring.cli.ticker import Ticker
from mooring.cli.warn import warn
from mooring.core.conversation.question import Answer, ChangedTools, Login, No, Question, Yes
from mooring.display.lines import describe_question
from mooring.display.text import advise_on_held_back, count_noun, describe_held_back, quote_argument, safe
from mooring.errors import ConfigError, ServerError, TimedOut
from mooring.host.host import Host
from mooring.verbs.config.pins import NONE_PINNED, PinnedServer, approve_tools, describe_pin, list_pinned
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.parse import UsageError
from mooring.verbs.use.advice import advise_on_failure, lacks_token
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.evidence import describe_failed_connection
from mooring.verbs.use.login import LoginReport, describe_login, describe_logout, explain_logout, login, logout
from mooring.verbs.use.opening import Setup, make_http_config
from mooring.verbs.use.reload import ServerChange, reload
from mooring.verbs.use.test import Found, TrialStep, show_step, test


def run_test(options: Globals, words: tuple[str, ...], **server: Any) -> int:
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
    found: Found | None = None
    code, reason = OK, None

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
                setup, lambda host, deadline: test(host, name, show, deadline, where=where, began=began), named=name
            )
        warn(options, failed={}, held={name: found.held} if found.held else {})
    except ServerError as error:
        code, reason = exit_code(error), str(error)
        _explain_failure(options, setup, name, error)
    return Trial(code, {"name": name, "ok": reason is None, "error": reason, "steps": steps, "server": found})


def try_configured(options: Globals, name: str) -> Trial:
    """Connect to a server that was just written, and print how that went."""
    return try_server(options, make_configured_setup(options, None), name, name)


def _explain_failure(options: Globals, setup: Setup, name: str, error: ServerError) -> None:
    tell(describe_failed_connection(name, error))
    explain(error)
    advice = _advise_adhoc(error) if setup.adhoc_name else _advise(options, setup, name, error)
    if advice:
        tell(advice)


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


def run_reload(options: Globals, name: str | None, timeout: float | None) -> int:
    setup = make_configured_setup(options, timeout)
    with Ticker(options, name or "the servers"):
        report = run_with_host(setup, lambda host, deadline: reload(host, deadline, name), named=name)
    failed = {change.name: change.error for change in report.changes if change.error is not None}
    if options.json:
        print_json({"servers": report.changes})
    else:
        connected = [change for change in report.changes if change.error is None]
        print_columns([(safe(change.name), _describe_change(change)) for change in connected])
        if not report.changes and not options.quiet:
            say("No server can be started here; see: mooring mcp list", err=True)
    warn(options, failed=failed, problems=report.problems, waiting=report.waiting)
    if not options.quiet:
        for change in report.changes:
            if change.held:
                say(f"{safe(change.name)}: {advise_on_held_back(change.name)}", err=True)
    return UNHEALTHY if failed else OK


def _describe_change(change: ServerChange) -> str:
    count = count_noun(change.tools or 0, "tool")
    held = f"; {describe_held_back(change.held)}" if change.held else ""
    if not change.known:
        return f"{count}, not known before{held}"
    kinds = (("new", change.added), ("gone", change.removed), ("changed", change.changed))
    parts = [f"{len(names)} {word}: {safe(', '.join(names))}" for word, names in kinds if names]
    if not parts:
        # Unchanged since the last list is not unchanged since the approval.
        return f"{count}{held or ', unchanged'}"
    return f"{count}; {'; '.join(parts)}{held}"


def run_login(
    options: Globals,
    name: str | None,
    url: str | None,
    scopes: tuple[str, ...],
    no_browser: bool,
    timeout: float | None,
) -> int:
    setup = _make_setup(options, name, url, timeout)
    server = name or setup.adhoc_name
    browser = not no_browser and has_browser(os.environ)
    words = [scope for text in scopes for scope in text.split()]
    setup = replace(setup, ask=_Asker(setup, options))
    with Ticker(options, server):
        report, error = run_with_host(
            setup, lambda host, deadline: login(host, deadline, server, scopes=words, browser=browser), named=server
        )
    _print_login(options, report)
    if error is None:
        return OK
    failure = describe_failure(error)
    if options.json:
        print_failure_data(failure)
    else:
        print_failure(failure)
    return exit_code(error)


def run_logout(options: Globals, name: str | None, url: str | None) -> None:
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
        raise UsageError("Name one server, or give its address with --url;", "see: mooring mcp list")
    setup = make_configured_setup(options, timeout)
    return setup if url is None else replace(setup, adhoc=make_http_config(url, {}))


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


def _print_login(options: Globals, report: LoginReport) -> None:
    if options.json:
        print_json(report)
    else:
        say(describe_login(report))
    for note in report.notes:
        if not options.quiet:
            say(f"Note: {safe(note)}", err=True)


def run_pins(options: Globals, server: str | None, agreed: bool, off: bool | None, refresh: bool) -> None:
    if server is None and (agreed or off is not None):
        raise UsageError("Name the server that you mean; `mooring mcp pins` shows them all.")
    if agreed and off is not None:
        raise UsageError("Choose one of --approve, --off and --on.")
    if agreed or off is not None:
        refuse_below_mooring("mooring mcp pins")
    where = options.workspace().where

    async def work(host: Host, _: Deadline) -> tuple[PinnedServer, ...]:
        if refresh:
            await host.ready(servers=[server] if server else None, refresh=True)
        if server is not None and off is not None:
            host.switch_pinning(host.find_name(server), off=off)
        rows = list_pinned(host, where, server)
        if server is None:
            return rows
        if rows[0].held and not refresh:
            # What is decided about has to be what the server lists now; if it cannot be reached, what it listed last.
            await host.ready(servers=[server], refresh=True)
            rows = list_pinned(host, where, server)
        if not agreed:
            may_ask = off is None and not options.json and rows[0].held
            return list_pinned(host, where, server) if may_ask and await host.ask_about_tools(server) else rows
        # What is being approved is shown first; stdout gets the rows as they are afterwards.
        _print_rows(rows, err=True)
        approved = approve_tools(host, server)
        say(f"Approved: {safe(', '.join(approved)) or 'nothing was held back'}.", err=True)
        return list_pinned(host, where, server)

    rows = run_with_host(make_configured_setup(options, None), work, named=server or "")
    if options.json:
        print_json({"servers": rows})
    else:
        _print_rows(rows)


def _print_rows(rows: tuple[PinnedServer, ...], err: bool = False) -> None:
    if not rows:
        say(NONE_PINNED, err=True)
    for row in rows:
        _print_row(row, err)


def _print_row(row: PinnedServer, err: bool) -> None:
    repin = " (--on pins its tools again)" if row.off else ""
    say(f"{safe(row.server)}: {describe_pin(row)}{repin}", err=err)
    if row.problem:
        say(f"  {row.problem}", "doubtful", err=err)
    if not row.held:
        return
    for line in describe_question(ChangedTools(row.server, row.held))[1:]:
        say(line, err=err)
    what = "models be told this" if all(tool.kind == "instructions" for tool in row.held) else "them be called"
    say(f"  To let {what}: mooring mcp pins --approve {quote_argument(row.server)}", err=err)
