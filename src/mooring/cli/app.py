"""The command `mooring`: its table of commands, and how an error becomes a sentence and an exit code."""

import os
import sys

import click

from mooring.cli.base import INTERRUPTED, OK, UNHEALTHY, USAGE, LazyGroup, Table, current
from mooring.errors import MooringError
from mooring.render import safe

TABLE: Table = {
    "mcp": ("mooring.cli.mcp:group", "See and judge the configured MCP servers."),
    "settings": ("mooring.cli.settings:command", "Show each setting with its origin."),
    "completion": ("mooring.cli.completion:command", "Print completion for bash, zsh or fish."),
}

HELP = """Every MCP server you have configured, in any coding tool, from one place.

Without a command, mooring shows the list of servers."""


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from importlib.metadata import version  # costs more than everything else here together

        click.echo(f"mooring {version('mooring')}")
        ctx.exit()


@click.pass_context
def _without_a_command(ctx: click.Context) -> None:
    if ctx.invoked_subcommand is None:
        from mooring.cli.list import show

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


def run(args: list[str]) -> int:
    """Run the command line and say how it ended."""
    _open_closed_streams()
    try:
        code = app.main(args, prog_name="mooring", standalone_mode=False, color=_color())
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        return USAGE
    except click.ClickException as error:
        click.echo(f"mooring: {safe(error.format_message())}", err=True)
        return error.exit_code
    except MooringError as error:
        click.echo(f"mooring: {safe(str(error))}", err=True)
        return USAGE
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except (_Gone, BrokenPipeError):
        # Keep the interpreter from complaining when it flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        # What files do is handled where they are read; here only our own output can fail, as on a full disk.
        click.echo(f"mooring: The output could not be written: {error.strerror}.", err=True)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UNHEALTHY
    return code if isinstance(code, int) else OK


def _open_closed_streams() -> None:
    """Started with stdout or stderr closed (`>&-`), there is still somewhere to write to."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115  # lives as long as the process


def _color() -> bool | None:
    return False if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb" else None
