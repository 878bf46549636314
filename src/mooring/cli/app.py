"""The command `mooring`: its table of commands, and the top at which an error becomes a sentence and an exit code."""

import os
import sys
from io import TextIOWrapper

import click

from mooring.cli import INTERRUPTED
from mooring.cli.base import OK, USAGE, Globals, find_width, get_globals, is_on_terminal
from mooring.cli.build import VerbsGroup
from mooring.cli.failure import describe_failure, print_failure, print_failure_data
from mooring.display.text import describe_unread
from mooring.errors import MooringError, UnknownServer
from mooring.verbs.rows import ROWS

HELP = """Every MCP server you have configured, in any coding tool, from one place.

Without a command, mooring opens the chat on a terminal, and shows the list of servers anywhere else."""


def _print_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    # A shell that completes a line parses it, too, and wants nothing printed.
    if not wanted or ctx.resilient_parsing:
        return
    from importlib.metadata import version  # takes longer to load than everything else here together

    click.echo(f"mooring {version('mooring')}")
    ctx.exit()


@click.pass_context
def _run_without_command(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is not None:
        return
    # Each is loaded only if it is what runs: the chat brings the host with it.
    if is_on_terminal() and not get_globals(ctx).json:
        from mooring.cli.chat import show_chat

        show_chat(get_globals(ctx))
    else:
        from mooring.cli.mcp.list import show_listing

        show_listing(get_globals(ctx))


class _ReaderGone(Exception):
    """The reader of our output went away, as `head` does."""


class _RootGroup(VerbsGroup):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Under another name, because click turns a broken pipe into exit code 1.
            raise _ReaderGone from None


app = _RootGroup(
    "mooring",
    ROWS,
    callback=_run_without_command,
    invoke_without_command=True,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_print_version,
            help="Show the version and exit.",
        )
    ],
)


def run(args: list[str], begun: object = None) -> int:
    """Run the command line and return its exit code; `begun` is a guard for the servers it may start."""
    _open_closed_streams()
    options = Globals(begun=begun)
    try:
        code = app.main(
            args,
            prog_name="mooring",
            standalone_mode=False,
            color=_choose_color(),
            obj=options,
            terminal_width=_choose_help_width(),
        )
        sys.stdout.flush()
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except (_ReaderGone, BrokenPipeError):
        _discard_output()
        return OK
    except Exception as error:  # noqa: BLE001  # whatever it is, a person gets a sentence
        # What cannot be parsed ends before its options are read.
        is_data = options.json or "--json" in args
        if isinstance(error, UnknownServer):
            error.unread = _find_unread(options)
        return _fail(error, is_data=is_data)
    return code if isinstance(code, int) else OK


def _fail(error: Exception, *, is_data: bool) -> int:
    """Say why the command ended, and return its exit code."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError) and not is_data:
        error.show()
        return USAGE
    failure = describe_failure(error)
    if is_data:
        print_failure_data(failure)
    else:
        print_failure(failure)
    if isinstance(error, OSError):
        _discard_output()
    is_fault = not isinstance(error, click.ClickException | MooringError | OSError)
    if is_fault and os.environ.get("MOORING_TRACE"):
        raise error
    return failure.code


def _find_unread(options: Globals) -> str:
    """Which configuration files could not be read: a server whose name is unknown may be in one of them."""
    try:
        inventory = options.inventory(remember=False)
    except MooringError:
        return ""
    unread = [problem for problem in inventory.problems if problem.hides_servers]
    return describe_unread(unread, options.workspace().where.home)


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


def _choose_help_width() -> int | None:
    """The width of help in a terminal that is narrower than click believes any to be; `None` lets click choose."""
    cells = find_width()
    return cells if cells is not None and cells < _NARROW else None


_NARROW = 52


def _choose_color() -> bool | None:
    """`False` for no color, `None` to let click find out whether there is a terminal."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return None
