"""The command `mooring`: its table of commands, and how an error becomes a sentence and an exit code."""

import errno
import os
import sys
from io import TextIOWrapper

import click

from mooring.cli.base import INTERRUPTED, OK, UNHEALTHY, USAGE, Globals, LazyGroup, Table, current, on_a_terminal
from mooring.cli.failure import exit_code, explain, tell
from mooring.display.text import safe
from mooring.errors import MooringError

TABLE: Table = {
    "chat": ("mooring.cli.chat:command", "Talk to all servers: pick a tool, fill in what it needs."),
    "mcp": ("mooring.cli.mcp.group:group", "See and judge the configured MCP servers."),
    "tools": ("mooring.cli.tools:command", "The tools of all servers, or of one."),
    "call": ("mooring.cli.call:command", "Call a tool."),
    "resources": ("mooring.cli.resources:command", "The resources of all servers, or of one."),
    "read": ("mooring.cli.read:command", "Read a resource."),
    "prompts": ("mooring.cli.prompts:command", "The prompts of all servers, or of one."),
    "prompt": ("mooring.cli.prompt:command", "Fill in a prompt and show its messages."),
    "watch": ("mooring.cli.watch:command", "Tell of each change of a resource, or of what a tool answers."),
    "logs": ("mooring.cli.logs:command", "What a server wrote."),
    "log": ("mooring.cli.log:command", "The log of calls: what was called, who let it, how it ended."),
    "settings": ("mooring.cli.settings:command", "Show each setting with its origin."),
    "completion": ("mooring.cli.completion:command", "Print completion for bash, zsh or fish."),
}

HELP = """Every MCP server you have configured, in any coding tool, from one place.

Without a command, mooring opens the chat on a terminal, and shows the list of servers anywhere else."""


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version  # costs more than everything else here together

        click.echo(f"mooring {version('mooring')}")
        ctx.exit()


@click.pass_context
def _without_a_command(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is not None:
        return
    if on_a_terminal() and not current(ctx).json:
        from mooring.cli.chat import show as chat  # loads the host

        chat(current(ctx))
    else:
        from mooring.cli.mcp.list import show

        show(current(ctx))


class _Gone(Exception):
    """The reader of our output went away, as `head` does."""


class _Root(LazyGroup):
    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # click would call it a failure
            raise _Gone from None


app = _Root(
    "mooring",
    table=TABLE,
    callback=_without_a_command,
    invoke_without_command=True,
    help=HELP,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(
            ["--version"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=_version,
            help="Show the version and exit.",
        )
    ],
)


def run(args: list[str], begun: object = None) -> int:
    """Run the command line and say how it ended; `begun` is a guard for the servers it may start."""
    _open_closed_streams()
    try:
        code = app.main(args, prog_name="mooring", standalone_mode=False, color=_color(), obj=Globals(begun=begun))
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        tell(f"mooring: {safe(error.format_message())}")
        return error.exit_code
    except MooringError as error:
        tell(f"mooring: {safe(str(error))}")
        explain(error)
        return exit_code(error)
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except (_Gone, BrokenPipeError):
        # Keep the interpreter from complaining when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        # What files do is handled where they are read: here it is our own output, or a limit of the system.
        what = "The output could not be written" if error.errno == errno.ENOSPC else "The system refused"
        tell(f"mooring: {what}: {error.strerror}.")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNHEALTHY
    except Exception as error:
        tell(f"mooring: this is a fault of mooring itself: {type(error).__name__}: {safe(str(error))}")
        tell("  Please report it; MOORING_TRACE=1 shows where it happened.")
        if os.environ.get("MOORING_TRACE"):
            raise
        return UNHEALTHY
    return code if isinstance(code, int) else OK


def _open_closed_streams() -> None:
    """There is somewhere to write to, also with stdout or stderr closed (`>&-`), and no character it cannot take."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # lives as long as the process
        if isinstance(stream := getattr(sys, name), TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _color() -> bool | None:
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
