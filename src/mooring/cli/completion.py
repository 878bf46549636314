"""`mooring completion`: the script that makes a shell complete words, and what it is offered."""

import re
import shlex
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from mooring.cli.base import Globals, echo
from mooring.cli.command_line import GLOBALS, ROOT, WORDS_FOR_OPTIONS, LineReader, add_show, find_row
from mooring.cli.help import list_own_options
from mooring.errors import MooringError
from mooring.verbs.complete import OFFERS, PATHS, TypedWord
from mooring.verbs.parse import deal_words, list_spellings, read_values, split_options
from mooring.verbs.verb import Flag, Option, Verb, VerbArgument, VerbGroup, find_arguments, find_key

_HOW = {
    "bash": 'eval "$(mooring completion bash)"   # in ~/.bashrc',
    "zsh": 'eval "$(mooring completion zsh)"   # in ~/.zshrc',
    "fish": "mooring completion fish > ~/.config/fish/completions/mooring.fish",
}

# Bash splits `a=1` and `demo://clock` into three words each, of which the last is replaced. So the whole line is passed
# on, as fish does it, and what bash keeps is left out of each answer.
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
            *) printf -v value %q "${value#"$kept"}"; COMPREPLY+=("$value") ;;
        esac
    done < <(env COMP_WORDS="$line" COMP_CWORD="$current" _MOORING_COMPLETE=fish_complete "$1" 2>/dev/null)
    [[ ${COMPREPLY[0]} == *[=./] ]] && compopt -o nospace 2>/dev/null
    return 0
}

complete -o nosort -F _mooring_completion mooring
"""

# What ends in `=` or a dot goes on: no blank is put behind it.
_ZSH = """\
#compdef mooring

_mooring_completion() {
    local -a completions described response
    (( ! $+commands[mooring] )) && return 1
    response=("${(@f)$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((CURRENT-1)) _MOORING_COMPLETE=zsh_complete mooring)}")
    for type key descr in ${response}; do
        if [[ "$type" == "plain" && "$descr" == "_" ]]; then
            completions+=("$key")
        elif [[ "$type" == "plain" ]]; then
            described+=("$key":"$descr")
        elif [[ "$type" == "file" ]]; then
            _path_files -f
        elif [[ "$type" == "dir" ]]; then
            _path_files -/
        fi
    done
    if [ -n "$described" ]; then
        _describe -V unsorted described -U
    fi
    if [ -n "$completions" ]; then
        local -a parts=(${(M)completions:#*[=.]}) whole=(${completions:#*[=.]})
        (( $#parts )) && compadd -U -S '' -V unsorted -a parts
        (( $#whole )) && compadd -U -V unsorted -a whole
    fi
}

if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _mooring_completion "$@"
else
    compdef _mooring_completion mooring
fi
"""

_FISH = """\
function _mooring_completion;
    set -l typed COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t);
    for completion in (env _MOORING_COMPLETE=fish_complete $typed mooring);
        set -l metadata (string split -m 1 "," $completion);
        if test $metadata[1] = "file";
            __fish_complete_path $metadata[2];
        else if test $metadata[1] = "dir";
            __fish_complete_directories $metadata[2];
        else if test $metadata[1] = "plain";
            echo $metadata[2];
        end;
    end;
end;

complete --no-files --command mooring --arguments "(_mooring_completion)";
"""

_SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}


class OfferedWord(NamedTuple):
    """What a word can become."""

    text: str
    help: str = ""
    kind: str = "plain"
    """`file` has the shell complete the name of a file, `dir` that of a folder."""


def run(options: Globals, shell: str) -> None:
    echo(f"# {_HOW[shell]}\n{_SCRIPTS[shell]}")


def answer_shell(variables: Mapping[str, str]) -> None:
    """Print what the word at the cursor can become, as the script of a shell reads it."""
    shell = variables["_MOORING_COMPLETE"].removesuffix("_complete")
    line = _split_line(variables.get("COMP_WORDS", ""))
    at = variables.get("COMP_CWORD", "")
    if shell == "fish":
        typed = next(iter(_split_line(at)), "")
        before = line[1:-1] if line[-1:] == [typed] else line[1:]
    else:
        index = int(at) if at.isdecimal() else len(line)
        before, typed = line[1:index], next(iter(line[index : index + 1]), "")
    for offered in _offer(before, typed):
        echo(_format_offer(shell, offered))


def _split_line(text: str) -> list[str]:
    """The words of a line that may end in the middle of one."""
    words = shlex.shlex(text, posix=True, punctuation_chars=False)
    words.whitespace_split, words.commenters = True, ""
    found: list[str] = []
    try:
        found.extend(words)
    except ValueError:  # a quotation that has not ended
        found.append(words.token)
    return found


def _format_offer(shell: str, offered: OfferedWord) -> str:
    text, described, kind = offered
    if shell == "zsh" and described:
        # A colon would end the word, where a description follows.
        text = text.replace(":", "\\:")
    if shell == "zsh":
        return f"{kind}\n{text}\n{described or '_'}"
    if shell == "fish" and described:
        return f"{kind},{text}\t{described}"
    return f"{kind},{text}"


def _offer(before: list[str], typed: str) -> Iterable[OfferedWord]:
    if typed.startswith("-") and "=" in typed:
        name, _, typed = typed.partition("=")
        before = [*before, name]
    try:
        return list(_offer_in_group(LineReader(Globals()), ROOT, before, typed))
    except MooringError:  # a message would end up in the middle of the line that is being typed
        return []


def _offer_in_group(reader: LineReader, group: VerbGroup, before: list[str], typed: str) -> Iterator[OfferedWord]:
    if group.shows and before:
        before = add_show(group, before)
    options = [*list_own_options(group), *GLOBALS]
    pending = _find_pending(before, options)
    if pending is not None and not split_options(before[:-1], options, until_word=True)[1]:
        yield from _offer_known(pending.complete, TypedWord(typed, reader.options.workspace()))
        return
    given, words = split_options(before, options, until_word=True)
    reader.store_globals(given)
    if group is ROOT and words and words[0] in WORDS_FOR_OPTIONS:
        # `mooring help mcp a`: what follows are the names of commands.
        yield from _offer_commands(ROOT, words[1:], typed) if words[0] == "help" else ()
        return
    row = find_row(group, words[0]) if words else None
    if isinstance(row, VerbGroup):
        yield from _offer_in_group(reader, row, words[1:], typed)
    elif isinstance(row, Verb):
        yield from _offer_in_verb(reader, row, words[1:], typed)
    elif not words:
        yield from _offer_start(reader, group, typed)


def _offer_commands(group: VerbGroup, before: list[str], typed: str) -> Iterator[OfferedWord]:
    """The commands in a group, or in the one that the words before name."""
    if not before:
        yield from (OfferedWord(row.name, row.summary) for row in group.load() if row.name.startswith(typed))
        return
    row = find_row(group, before[0])
    if isinstance(row, VerbGroup):
        yield from _offer_commands(row, before[1:], typed)


def _offer_start(reader: LineReader, group: VerbGroup, typed: str) -> Iterator[OfferedWord]:
    """What can come first in a group."""
    if typed.startswith("-"):
        yield from _offer_options([*list_own_options(group), *GLOBALS], typed)
        return
    yield from _offer_commands(group, [], typed)
    if group is ROOT:
        yield from (OfferedWord(word) for word in WORDS_FOR_OPTIONS if word.startswith(typed))
    if group.shows:
        yield from _offer_known(group.shows, TypedWord(typed, reader.options.workspace()))


def _offer_in_verb(reader: LineReader, verb: Verb, before: list[str], typed: str) -> Iterator[OfferedWord]:
    own = list_own_options(verb)
    options = [*own, *GLOBALS]
    pending = _find_pending(before, options)
    arguments = find_arguments(verb)
    takes_names = any(argument.named for argument in arguments)
    name = "" if pending or not takes_names else _find_named(before)
    given, words = split_options(before[:-1] if pending or name else before, options, names_arguments=takes_names)
    reader.store_globals(given)
    is_option = typed.startswith("-") and not pending and not name and "--" not in before
    if is_option:
        once = {each.option for each in given if isinstance(each.option, Flag) or not each.option.many}
        yield from _offer_options([option for option in options if option not in once], typed)
        if not takes_names or not typed.startswith("--"):
            return
        typed = typed.removeprefix("--")
    values = read_values(own, [each for each in given if each.option in own])
    dealt, _ = deal_words(arguments, words)
    following = (argument for argument in arguments if argument.many or not dealt[argument.key])
    completed = pending or next(following, None)
    if completed is None:
        return
    key = completed.key if isinstance(completed, VerbArgument) else find_key(completed)
    is_adhoc = bool(values.get("server") or values.get("url"))
    tool = "".join(dealt.get("tool", ()))
    text = f"{name}={typed}" if name else typed
    word = TypedWord(text, reader.options.workspace(), list(dealt.get(key, ())), tool, words, is_adhoc)
    if is_option:
        own_names = {spelling for option in options for spelling in list_spellings(option)}
        yield from _offer_names(completed.complete, word, own_names)
    elif name:
        yield from (OfferedWord(each.text.removeprefix(f"{name}=")) for each in _offer_known(completed.complete, word))
    elif completed.choices:
        yield from (OfferedWord(choice) for choice in completed.choices if choice.startswith(typed))
    elif completed.complete:
        yield from _offer_known(completed.complete, word)


def _find_named(before: Sequence[str]) -> str:
    """The argument whose value is being typed, as `--name value`; empty if there is none."""
    if not before or "--" in before or not before[-1].startswith("--") or "=" in before[-1]:
        return ""
    return before[-1].removeprefix("--")


def _offer_names(kind: str, typed: TypedWord, own: Container[str]) -> Iterator[OfferedWord]:
    """The arguments that can be typed as `--name value`: an option of ours with that name wins."""
    for offered in _offer_known(kind, typed):
        name = f"--{offered.text.removesuffix('=')}"
        if offered.text.endswith("=") and name not in own:
            yield OfferedWord(name)


def _find_pending(before: Sequence[str], options: Iterable[Option | Flag]) -> Option | None:
    """The option whose value is being typed."""
    if not before or "--" in before[:-1]:
        return None
    for option in options:
        if isinstance(option, Option) and before[-1] in list_spellings(option):
            return option
    return None


def _offer_options(options: Iterable[Option | Flag], typed: str) -> Iterator[OfferedWord]:
    for option in options:
        for name in list_spellings(option):
            if name.startswith(typed):
                yield OfferedWord(name, option.help)


# A completed name lands on the person's command line: one that a shell would read as more than a word is left out.
_ONE_WORD = r"[\w.:@/+-][\w.:@/+=-]*"
_RULE = r"[ -~\w]+"
"""A rule is the user's own, and each shell quotes its stars and parentheses."""


def _offer_known(kind: str, typed: TypedWord) -> Iterator[OfferedWord]:
    """What a word can become, of what a row calls `kind`."""
    if kind in PATHS:
        yield OfferedWord(typed.text, kind=PATHS[kind])
        return
    offered = [word for word in OFFERS[kind](typed) if re.fullmatch(_RULE if kind == "rule" else _ONE_WORD, word)]
    yield from map(OfferedWord, offered)
    # What is no tool is a file.
    if kind == "source" and not offered:
        yield OfferedWord(typed.text, kind="file")
