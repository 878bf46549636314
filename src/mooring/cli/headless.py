"""`mooring chat -p`: one turn without a person, for scripts and other programs."""

import os
import select
import stat
import sys
from collections.abc import Callable, Sequence

from msgspec import json
from msgspec.structs import replace

from mooring.agents.sessions.connection import hold_record
from mooring.cli.adhoc import make_configured_setup
from mooring.cli.base import UNHEALTHY, Globals, echo, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.cli.ticker import Ticker
from mooring.cli.warn import STARTUP_ERROR, print_warnings, warn
from mooring.core.conversation.event import (
    ConversationEvent,
    NameTaken,
    ToolFinished,
    ToolStarted,
    TurnDone,
    TurnFailed,
    encode_event,
    encode_first_version,
)
from mooring.core.conversation.verdict import CommandPermissions, Mode
from mooring.core.protocol.units import MIB
from mooring.display.lines import describe_taken_name
from mooring.display.text import end_sentence, name_server, safe, safe_text
from mooring.errors import ConfigError
from mooring.verbs.agent.choose_backend import (
    SessionStart,
    describe_handover,
    describe_lost_mode,
    find_continued,
    restore_mode,
)
from mooring.verbs.agent.headless import (
    HeadlessAnswer,
    MissingServers,
    OutputFormat,
    TypedPrompt,
    make_interrupted_answer,
    run_headless,
)
from mooring.verbs.agent.options import ConversationOptions
from mooring.verbs.use.deadline import Deadline
from mooring.verbs.use.opening import Setup, open_for_clients

LARGEST_CONTEXT = 10 * MIB
STREAMS = ("stream-json", "stream-json-1")
PATIENCE = 3.0
"""Seconds to wait for the first byte on stdin: some programs leave it open and never write anything."""


def run_prompt(
    options: Globals, permissions: CommandPermissions, chosen: ConversationOptions, typed: str, output: OutputFormat
) -> int:
    """Have one turn taken and print what became of it; the exit code."""
    prompt = _add_context(typed)
    setup = make_configured_setup(options, None)
    # One connection for all of it: a conversation that goes on is looked up before it is opened.
    with hold_record(setup.workspace.where):
        return _run(options, permissions, chosen, prompt, setup, output)


def _run(
    options: Globals,
    permissions: CommandPermissions,
    chosen: ConversationOptions,
    prompt: TypedPrompt,
    setup: Setup,
    output: OutputFormat,
) -> int:
    continued = find_continued(chosen.backend, chosen.session, setup.workspace)
    if continued is not None:
        chosen = replace(chosen, session=SessionStart(continued.id))
    # What would be asked is denied, even in a terminal: a script must do the same wherever it runs.
    setup = replace(setup, permissions=restore_mode(continued, permissions), ask=None)
    handover = describe_handover(continued, chosen.backend)
    if handover and not options.quiet:
        say(safe(handover), err=True)
    ends: list[TurnDone] = []
    shown: list[HeadlessAnswer] = []

    def warn_of_mode(now: Mode) -> None:
        lost = describe_lost_mode(continued, permissions.mode, now)
        if lost and not options.quiet:
            say(f"Warning: {lost}", err=True)

    with Ticker(options, "the model") as ticker:
        listen = _choose_listener(ticker, output)

        def listen_for_end(event: ConversationEvent) -> None:
            if isinstance(event, TurnDone) and event.parent is None:
                ends.append(event)
            listen(event)

        def show_answer(answer: HeadlessAnswer) -> None:
            ticker.clear()
            shown.append(answer)
            _show_answer(options, answer, output)

        try:
            answer = run_until_interrupted(
                _run_turn(options, setup, chosen, prompt, listen_for_end, warn_of_mode, show_answer, ticker)
            )
        except KeyboardInterrupt:
            # Whoever reads JSON waits for one object, however the turn ends.
            if output == "json" and not shown:
                show_answer(make_interrupted_answer(ends[-1] if ends else None))
            raise
    return UNHEALTHY if answer.is_error else 0


async def _run_turn(
    options: Globals,
    setup: Setup,
    chosen: ConversationOptions,
    prompt: TypedPrompt,
    listener: Callable[[ConversationEvent], None],
    warn_of_mode: Callable[[Mode], None],
    show_answer: Callable[[HeadlessAnswer], None],
    ticker: Ticker,
) -> HeadlessAnswer:
    def warn_of(missing: MissingServers) -> None:
        warn(options, failed={}, problems=missing.problems, waiting=missing.waiting)
        # Each by its name and its cause: a script that lacks a tool has nothing else to go by.
        for name, error in missing.failed.items():
            print_warnings(options, STARTUP_ERROR, [safe(name_server(name, error))], str)
        # In full, even if there are several: the agent's file is what to change, and doctor does not read it.
        for line in () if options.quiet else missing.tools:
            say(f"Warning: {line}", err=True)

    def show_waiting(servers: Sequence[str]) -> None:
        ticker.show(f"waiting for the first start of {', '.join(servers)} …" if servers else "")

    async with open_for_clients(setup, ()) as host:
        warn_of_mode(host.call_policy().mode)
        return await run_headless(
            host, Deadline(setup.timeout), chosen, prompt, listener, setup.tell, warn_of, show_waiting, show_answer
        )


def _choose_listener(ticker: Ticker, output: OutputFormat) -> Callable[[ConversationEvent], None]:
    def print_event(event: ConversationEvent) -> None:
        line = encode_event(event) if output == "stream-json" else encode_first_version(event)
        if line is not None:
            sys.stdout.buffer.write(line + b"\n")
            sys.stdout.buffer.flush()

    def show_progress(event: ConversationEvent) -> None:
        match event:
            case NameTaken(taken=taken):
                ticker.warn(describe_taken_name(taken))
            case ToolStarted():
                ticker.show(f"calling {_name_tool(event)} …")
            case ToolFinished():
                ticker.show("the model is answering …")
            case TurnFailed(error=error, retry_in=float(seconds)):
                ticker.warn(f"{end_sentence(error)} Trying again in {seconds:.0f} s.")
            case _:
                pass

    return print_event if output in STREAMS else show_progress


def _name_tool(event: ToolStarted) -> str:
    return safe(event.name if event.server is None else f"{event.server}.{event.tool}")


def _show_answer(options: Globals, answer: HeadlessAnswer, output: OutputFormat) -> None:
    match output:
        case "json":
            echo(json.encode(answer))
        case "text" if answer.text:
            # What the model says may repeat what servers said: in a terminal it could move the cursor, or worse.
            echo(safe_text(answer.text) if sys.stdout.isatty() else answer.text.encode())
        case "text" | "stream-json" | "stream-json-1":
            pass
    if output == "text" and not options.quiet:
        for denied in answer.denied:
            say(f"Denied: {safe(denied.reason)}", err=True)
    if answer.error is not None and output not in STREAMS:
        say(f"mooring: {safe(answer.error)}", err=True)


def _add_context(typed: str) -> TypedPrompt:
    """What was typed, and what is on stdin. Raises: ConfigError if that is too long, or no text."""
    prompt = TypedPrompt(typed.strip(), _read_stdin().strip())
    if not prompt.text and not prompt.context:
        raise ConfigError("The prompt is empty: write what to do behind -p, or send it to stdin.")
    return prompt


def _read_stdin() -> str:
    if sys.stdin is None or sys.stdin.isatty() or not _has_input():
        return ""
    data = sys.stdin.buffer.read(LARGEST_CONTEXT + 1)
    if len(data) > LARGEST_CONTEXT:
        raise ConfigError(
            f"What is on stdin is larger than {LARGEST_CONTEXT // MIB} MiB. Name a file in the prompt instead."
        )
    try:
        return data.decode()
    except UnicodeDecodeError:
        reason = "What is on stdin is not UTF-8 text."
    raise ConfigError(reason)


def _has_input() -> bool:
    """Whether there is anything to read; a file always has an end, a pipe may stay silent."""
    try:
        fd = sys.stdin.fileno()
    except (OSError, ValueError):  # text in memory, or closed
        return not sys.stdin.closed
    if stat.S_ISREG(os.fstat(fd).st_mode) or sys.platform == "win32":
        return True
    readable, _, _ = select.select([fd], [], [], PATIENCE)
    if not readable:
        say("Warning: nothing came on stdin; going on without it.", err=True)
    return bool(readable)
