"""Parses the words behind a verb by its row, for every face."""

from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple

from mooring.core.text.suggestions import find_slip, nearest
from mooring.errors import ConfigError
from mooring.verbs.verb import (
    Flag,
    Option,
    Verb,
    VerbArgument,
    find_arguments,
    find_key,
    find_options,
    list_names,
    spell_value,
)

_ADDRESSES = ("http://", "https://")


class UsageError(ConfigError):
    """Words that were typed are missing, wrong or too many."""


class WrongValue(UsageError):
    """A value is none that its option or argument takes; the message says which are."""


class TypedOption(NamedTuple):
    """An option as it was typed."""

    option: Option | Flag
    name: str
    text: str
    """Its value; empty for a flag."""
    is_late: bool = False
    """It stood behind a word that is no option, such as the name of a tool."""


def parse_words(verb: Verb, args: Sequence[str]) -> dict[str, Any]:
    """The values of all that a verb takes in a chat, by their keys. Raises: UsageError."""
    options = find_options(verb, "chat")
    has_command = any(argument.raw for argument in find_arguments(verb))
    typed, words = split_options(end_options(args, options) if has_command else args, options)
    return {**read_values(options, typed), **_join_words(verb, words)}


def _join_words(verb: Verb, words: Sequence[str]) -> dict[str, Any]:
    first, *others = find_arguments(verb)
    if others:
        return {first.key: words[0] if words else "", others[0].key: tuple(words[1:])}
    # The name of a server may have blanks in it.
    return {first.key: tuple(words) if first.many else " ".join(words)}


def split_options(
    args: Iterable[str], options: Iterable[Option | Flag], *, until_word: bool = False, names_arguments: bool = False
) -> tuple[list[TypedOption], list[str]]:
    """The options among the words, and the words that are none.

    With `until_word`, only options before the first other word are looked for. With `names_arguments`, `--name value`
    is the word `name=value` if there is no such option. Raises: UsageError.
    """
    by_name = {name: option for option in options for name in list_spellings(option)}
    typed: list[TypedOption] = []
    words: list[str] = []
    named: list[str] = []
    left = deque(args)
    while left:
        word = left.popleft()
        if word == "--":
            words.extend(left)
            break
        if word == "-" or not word.startswith("-"):
            words.append(word)
            if until_word:
                words.extend(left)
                break
        elif names_arguments and word.startswith("--") and word.partition("=")[0] not in by_name:
            named.append(_name_argument(word, by_name, left))
        else:
            is_late = bool(words)
            typed.extend(option._replace(is_late=is_late) for option in _read_option(word, by_name, left))
    # Behind what they belong to: the name of a tool may come after them.
    return typed, [*words, *named]


def _name_argument(word: str, by_name: Mapping[str, Option | Flag], left: deque[str]) -> str:
    """`--name value` or `--name=value` as `name=value`; a name alone is a switch that is on.

    Raises: UsageError if it is an option of ours with a letter wrong.
    """
    name, has_value, value = word.removeprefix("--").partition("=")
    slip = find_slip(name, [own.removeprefix("--") for own in by_name if own.startswith("--")])
    if slip is not None:
        raise UsageError(f"There is no option --{name}.", f"Did you mean --{slip}? For an argument: {name}=…")
    if has_value:
        return f"{name}={value}"
    is_alone = not left or left[0].startswith("--")
    return f"{name}=true" if is_alone else f"{name}={left.popleft()}"


def list_spellings(option: Option | Flag) -> list[str]:
    """All names of an option, also the one that says the opposite."""
    off = [option.off] if isinstance(option, Flag) and option.off else []
    return [*list_names(option), *off]


def _read_option(word: str, by_name: Mapping[str, Option | Flag], left: deque[str]) -> Iterator[TypedOption]:
    """What one word says: an option, or several of one letter each."""
    if not word.startswith("--"):
        yield from _read_letters(word, by_name, left)
        return
    name, has_value, value = word.partition("=")
    option = _find_option(name, by_name)
    if isinstance(option, Option) and not has_value:
        value = _find_value(name, left)
    elif isinstance(option, Flag) and has_value:
        raise UsageError(f"{name} takes no value.")
    yield TypedOption(option, name, value)


def _read_letters(word: str, by_name: Mapping[str, Option | Flag], left: deque[str]) -> Iterator[TypedOption]:
    for index, letter in enumerate(word[1:], 1):
        name = f"-{letter}"
        option = _find_option(name, by_name)
        if isinstance(option, Option):
            # The rest of the word is its value.
            yield TypedOption(option, name, word[index + 1 :] or _find_value(name, left))
            return
        yield TypedOption(option, name, "")


def _find_option(name: str, by_name: Mapping[str, Option | Flag]) -> Option | Flag:
    if name in by_name:
        return by_name[name]
    # Without the dashes, which make any two options look alike.
    letters = {known.lstrip("-"): known for known in by_name if len(known) > 2}
    near = nearest(name.lstrip("-"), letters, 1)
    raise UsageError(f"There is no option {name}.", f"Did you mean {letters[near[0]]}?" if near else "")


def _find_value(name: str, left: deque[str]) -> str:
    if not left:
        raise UsageError(f"{name} needs a value.")
    return left.popleft()


def read_values(options: Iterable[Option | Flag], typed: Iterable[TypedOption]) -> dict[str, Any]:
    """The value of each option, by its key, whether it was typed or not. Raises: UsageError."""
    values: dict[str, Any] = {find_key(option): _find_default(option) for option in options}
    for option, name, text, _ in typed:
        key = find_key(option)
        if isinstance(option, Flag):
            values[key] = name != option.off
        else:
            value = _read_value(option, text)
            values[key] = (*values[key], value) if option.many else value
    return values


def _find_default(option: Option | Flag) -> Any:
    if isinstance(option, Flag):
        return None if option.off else False
    return () if option.many else option.default


def name_words(arguments: Sequence[VerbArgument], words: Sequence[str]) -> dict[str, Any]:
    """The value of each argument, by its key. Raises: UsageError if one is missing, wrong or too much."""
    values: dict[str, Any] = {}
    dealt, left = deal_words(arguments, words)
    for argument in arguments:
        own = dealt[argument.key]
        if not own and argument.required:
            raise UsageError(f"Missing {_spell_missing(spell_value(argument), argument.choices)}.")
        for word in own:
            _check_choice(spell_value(argument), word, argument.choices)
        values[argument.key] = tuple(own) if argument.many else next(iter(own), argument.default)
    if left:
        raise UsageError(f"Unexpected argument {left[0]!r}.")
    return values


def deal_words(
    arguments: Iterable[VerbArgument], words: Sequence[str]
) -> tuple[dict[str, Sequence[str]], Sequence[str]]:
    """The words of each argument, by its key, as far as there are any, and the words that are too many."""
    dealt: dict[str, Sequence[str]] = {}
    for argument in arguments:
        dealt[argument.key] = words if argument.many else words[:1]
        words = words[len(dealt[argument.key]) :]
    return dealt, words


def check_required(options: Iterable[Option | Flag], values: Mapping[str, Any]) -> None:
    """Raises: UsageError if an option that has to be typed was not."""
    for option in options:
        if isinstance(option, Option) and option.required and values[find_key(option)] is None:
            name = f"{_name_option(option)} {spell_value(option)}"
            raise UsageError(f"Missing {_spell_missing(name, option.choices)}.")


def _spell_missing(name: str, choices: Sequence[str]) -> str:
    return f"{name}: {join_choices(choices)}" if choices else name


def _check_choice(name: str, text: str, choices: Sequence[str]) -> None:
    if choices and text not in choices:
        raise WrongValue(f"{name} must be {join_choices(choices)}, not {text!r}.")


def join_choices(choices: Sequence[str]) -> str:
    """`a, b or c`."""
    *first, last = choices
    return f"{', '.join(first)} or {last}" if first else last


def _name_option(option: Option) -> str:
    return max(list_names(option), key=len)


def _read_value(option: Option, text: str) -> str | int | float:
    """What was typed as what the option takes. Raises: UsageError."""
    _check_choice(_name_option(option), text, option.choices)
    if option.kind == "text":
        return text
    shown: object = text
    try:
        number = int(text) if option.kind == "integer" else float(text)
        if _is_in_range(option, number):
            return number
        shown = number if isfinite(number) and option.kind != "dollars" else text
    except ValueError:
        pass
    raise WrongValue(f"{_name_option(option)} must be {_describe_expected(option)}, not {shown!r}.")


def _is_in_range(option: Option, number: float) -> bool:
    if option.kind == "number":
        return True
    is_more = number > 0 if option.least is None else number >= option.least
    return isfinite(number) and is_more


def _describe_expected(option: Option) -> str:
    if option.kind == "number":
        return "a number"
    least = " above 0" if option.least is None else f" and at least {option.least}"
    what = {"integer": "a whole number", "seconds": "a number of seconds", "dollars": "a number of US dollars"}
    return f"{what[option.kind]}{least}"


def end_options(args: Sequence[str], options: Iterable[Option | Flag]) -> list[str]:
    """The words with `--` put before the server's command: `add NAME npx -y package` leaves `-y` to npx."""
    valued = {name for option in options if isinstance(option, Option) for name in list_names(option)}
    at = _find_command(args, valued)
    return list(args) if at is None else [*args[:at], "--", *args[at:]]


def _find_command(args: Sequence[str], valued: Container[str]) -> int | None:
    """Where the command begins; `None` if there is none, or its place is marked."""
    names = 0
    skip = False
    for index, word in enumerate(args):
        if word == "--":
            return None
        if skip or word.startswith("-"):
            skip = not skip and word in valued
            continue
        names += 1
        # An address takes no words of its own, so options may follow it.
        if names == 2 and not is_address(word):
            return index
    return None


def is_address(word: str) -> bool:
    """Whether a word is the address of a server, and no command."""
    return word.lower().startswith(_ADDRESSES)
