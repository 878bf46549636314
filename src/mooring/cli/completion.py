"""`mooring completion SHELL`: prints the script that makes a shell complete names."""

import click
from click.shell_completion import get_completion_class

from mooring.cli.base import Command

_HOW = {
    "bash": 'eval "$(mooring completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(mooring completion zsh)"   # in ~/.zshrc',
    "fish": "mooring completion fish > ~/.config/fish/completions/mooring.fish",
}


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(list(_HOW)))
def command(shell: str) -> None:
    """Print the completion script of a shell; server names are completed too.

    \b
    bash:  eval "$(mooring completion bash)"
    zsh:   eval "$(mooring completion zsh)"
    fish:  mooring completion fish > ~/.config/fish/completions/mooring.fish
    """
    found = get_completion_class(shell)
    if found is None:  # pragma: no cover  # the choice above allows only what click knows
        raise click.UsageError(f"{shell} is not known.")
    script = found.source_template % {
        "complete_func": "_mooring_completion",
        "complete_var": "_MOORING_COMPLETE",
        "prog_name": "mooring",
    }
    click.echo(f"# {_HOW[shell]}\n{script}")
