"""`mooring completion SHELL`: prints the script that makes a shell complete names."""

import click
from click.shell_completion import get_completion_class

from mooring.cli.base import Globals

_HOW = {
    "bash": 'eval "$(mooring completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(mooring completion zsh)"   # in ~/.zshrc',
    "fish": "mooring completion fish > ~/.config/fish/completions/mooring.fish",
}

# click's own script for bash goes by the words as bash splits them: `a=1` and `demo://clock` are three words to it, of
# which the last is replaced. This one passes the line on, as fish does, and leaves out of each answer what bash keeps.
_BASH = """\
_mooring_completion() {
    local line="${COMP_LINE:0:COMP_POINT}" current kept completion value
    [[ -n $line ]] || line="${COMP_WORDS[*]:0:COMP_CWORD+1}"
    current="${line##*[[:space:]]}"
    [[ $COMP_WORDBREAKS == *=*:* || $COMP_WORDBREAKS == *:*=* ]] && kept="${current%"${current##*[=:]}"}"
    COMPREPLY=()
    while IFS= read -r completion; do
        value="${completion#*,}"
        value="${value%%$'\\t'*}"
        case $completion in
            dir,*) compopt -o dirnames ;;
            file,*) compopt -o default ;;
            *) COMPREPLY+=("${value#"$kept"}") ;;
        esac
    done < <(env COMP_WORDS="$line" COMP_CWORD="$current" _MOORING_COMPLETE=fish_complete "$1" 2>/dev/null)
    [[ ${COMPREPLY[0]} == *[=./] ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o nosort -F _mooring_completion mooring
"""

# What ends in `=` or a dot goes on: no blank is put behind it.
_ZSH_ADD = "compadd -U -V unsorted -a completions"
_ZSH_ADD_PARTS = """local -a parts=(${(M)completions:#*[=.]}) whole=(${completions:#*[=.]})
        (( $#parts )) && compadd -U -S '' -V unsorted -a parts
        (( $#whole )) && compadd -U -V unsorted -a whole"""


def run(options: Globals, shell: str) -> None:
    """Print completion for bash, zsh or fish."""
    click.echo(f"# {_HOW[shell]}\n{_make_script(shell)}")


def _make_script(shell: str) -> str:
    if shell == "bash":
        return _BASH
    found = get_completion_class(shell)
    if found is None:  # pragma: no cover  # the choice above allows only what click knows
        raise click.UsageError(f"{shell} is not known.")
    script = found.source_template % {
        "complete_func": "_mooring_completion",
        "complete_var": "_MOORING_COMPLETE",
        "prog_name": "mooring",
    }
    return script.replace(_ZSH_ADD, _ZSH_ADD_PARTS)
