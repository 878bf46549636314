"""The command `mooring`: its table of actions, and the top at which an error becomes a sentence and an exit code."""

import os
import sys
from collections.abc import Mapping
from io import TextIOWrapper
from typing import Any

from mooring.cli import INTERRUPTED
from mooring.cli.base import OK, UNHEALTHY, USAGE, Globals, echo, is_on_terminal, print_json, print_lines, tell
from mooring.cli.command_line import ROOT, VERSION, LineReader, ReadLine
from mooring.cli.interrupts import begin_command, run_until_interrupted
from mooring.verbs.parse import UsageError
from mooring.verbs.verb import Verb, VerbResult, load_action, load_function

ACTIONS: Mapping[str, str] = {
    "chat": "chat:run",
    "mcp list": "mcp.list:run",
    "mcp add": "mcp.write:run_add",
    "mcp add-json": "mcp.write:run_add_json",
    "mcp edit": "mcp.write:run_edit",
    "mcp remove": "mcp.write:run_remove",
    "mcp import": "mcp.write:run_import",
    "mcp export": "mcp.write:run_export",
    "mcp test": "mcp.connect:run_test",
    "mcp reload": "mcp.connect:run_reload",
    "mcp login": "mcp.connect:run_login",
    "mcp logout": "mcp.connect:run_logout",
    "mcp approve": "mcp.approve:run_approve",
    "mcp reject": "mcp.approve:run_reject",
    "mcp pins": "mcp.connect:run_pins",
    "mcp doctor": "mcp.doctor:run",
    "tools": "tools:run",
    "call": "call:run",
    "resources": "items:run_resources",
    "read": "items:run_read",
    "prompts": "items:run_prompts",
    "prompt": "items:run_prompt",
    "watch": "items:run_watch",
    "serve": "serve:run",
    "backends": "backends:run",
    "logs": "logs:run",
    "sessions show": "sessions:run_show",
    "secret set": "secret:run_set",
    "completion": "completion:run",
}
"""By verb, the module in this folder and the function that does it, where the row names no action."""


def run(args: list[str], begun: object = None) -> int:
    """Run the command line and return its exit code; `begun` is a guard for the servers it may start."""
    _open_closed_streams()
    reader = LineReader(Globals(begun=begun))
    try:
        code = _complete() if "_MOORING_COMPLETE" in os.environ else _do(reader.read(args))
        sys.stdout.flush()
    except (KeyboardInterrupt, EOFError):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of our output went away, as `head` does.
        _discard_output()
        return OK
    except Exception as error:  # noqa: BLE001  # whatever it is, a person gets a sentence
        # What cannot be parsed ends before its options are read.
        return _fail(error, reader, is_data=reader.options.json or "--json" in args)
    return code


def _do(line: ReadLine) -> int:
    if line.wants:
        return _show(line)
    if isinstance(line.row, Verb):
        code = _run_verb(line, line.row)
        return code if isinstance(code, int) else OK
    if line.row is ROOT:
        _run_without_command(line.options)
        return OK
    if line.options.json:
        raise UsageError("Missing command.")
    from mooring.cli.help import make_help

    echo(make_help(line.path, line.row), err=True)
    return USAGE


def _show(line: ReadLine) -> int:
    """Print the help of a command, or the version."""
    if line.wants == VERSION:
        from mooring.files.installation import find_version  # takes longer to load than everything else here together

        if line.options.json:
            print_json({"version": find_version()})
        else:
            echo(f"mooring {find_version()}")
    else:
        from mooring.cli.help import make_help

        echo(make_help(line.path, line.row))
    return OK


def _complete() -> int:
    from mooring.cli.completion import answer_shell  # only a shell that completes needs it

    answer_shell(os.environ)
    return OK


def _run_without_command(options: Globals) -> None:
    # Each is loaded only if it is what runs: the chat brings the host with it.
    if is_on_terminal() and not options.json:
        from mooring.cli.chat import show_chat

        begin_command()
        show_chat(options)
    else:
        from mooring.cli.mcp.list import show_listing

        begin_command()
        show_listing(options)


def _run_verb(line: ReadLine, verb: Verb) -> Any:
    # Loaded before anything runs: an interruption of the action finds all of it there.
    if not verb.action:
        action = load_function("mooring.cli", ACTIONS[" ".join(line.path)])
        begin_command()
        return action(line.options, **line.values)
    action = load_action(verb)
    begin_command()
    done = action(line.options.workspace(), **line.values)
    result: VerbResult = done if isinstance(done, VerbResult) else run_until_interrupted(done)
    if line.options.json:
        print_json(result.data)
    else:
        print_lines(line.options, result.lines)
    for note in result.notes:
        tell(note)
    return OK if result.is_healthy else UNHEALTHY


def _fail(error: Exception, reader: LineReader, *, is_data: bool) -> int:
    """Say why the command ended, and return its exit code."""
    from mooring.cli.failure import complete_error, describe_failure, print_failure, print_failure_data
    from mooring.errors import MooringError

    complete_error(error, reader)
    failure = describe_failure(error)
    if is_data:
        print_failure_data(failure)
    else:
        print_failure(failure)
    if isinstance(error, OSError):
        _discard_output()
    is_fault = not isinstance(error, MooringError | OSError)
    if is_fault and os.environ.get("MOORING_TRACE"):
        raise error
    return failure.code


def _open_closed_streams() -> None:
    """Make stdout and stderr writable, even if they are closed (`>&-`), for every character."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # lives as long as the process
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Keep the interpreter from complaining about stdout when it flushes it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
