"""`mooring completion`: the script that makes a shell complete words, and what it is offered."""

import re
from typing import Any

import click
from click.shell_completion import CompletionItem, get_completion_class

from mooring.cli.base import Globals, get_globals
from mooring.errors import MooringError
from mooring.verbs.complete import OFFERS, TypedWord

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


# A completed name lands on the person's command line: one that a shell would read as more than a word is left out.
_ONE_WORD = r"[\w.:@/+-][\w.:@/+=-]*"


def complete_word(kind: str, ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[Any]:
    """What a word can become, of what a row calls `kind`."""
    is_adhoc = bool(ctx.params.get("server") or ctx.params.get("url"))
    words = ctx.params.get(parameter.name or "") or ()
    try:
        workspace = get_globals(ctx).workspace()
        found = OFFERS[kind](TypedWord(incomplete, workspace, list(words), str(ctx.params.get("tool") or ""), is_adhoc))
    except MooringError:  # a message would end up in the middle of the line that is being typed
        return []
    offered = [word for word in found if re.fullmatch(_ONE_WORD, word)]
    # What is no tool is a file.
    return offered or ([CompletionItem(incomplete, type="file")] if kind == "source" else [])
