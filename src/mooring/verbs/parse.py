"""Parses the words behind a verb where no shell's parser does, by the same row."""

from collections.abc import Container, Sequence
from getopt import gnu_getopt
from typing import Any

from mooring.errors import ConfigError
from mooring.verbs.verb import Flag, Option, Verb, find_arguments, find_key, find_options, list_names

_ADDRESSES = ("http://", "https://")


def parse_words(verb: Verb, args: Sequence[str]) -> dict[str, Any]:
    """The values of all that a verb takes in a chat, by their keys.

    Raises:
        GetoptError: an option is unknown, or lacks its value.
        ConfigError: a value is none of its option's choices.
    """
    options = find_options(verb, "chat")
    by_name = {name: option for option in options for name in list_names(option)}
    valued = {name for name, option in by_name.items() if isinstance(option, Option)}
    short = "".join(f"{name[1]}{':' * (name in valued)}" for name in by_name if not name.startswith("--"))
    long = [f"{name[2:]}{'=' * (name in valued)}" for name in by_name if name.startswith("--")]
    has_command = any(argument.raw for argument in find_arguments(verb))
    typed, words = gnu_getopt(end_options(args, valued) if has_command else list(args), short, long)
    values: dict[str, Any] = {find_key(option): _find_default(option) for option in options}
    for name, text in typed:
        _put(values, by_name[name], name, text)
    return {**values, **_name_words(verb, words)}


def _find_default(option: Option | Flag) -> Any:
    if isinstance(option, Flag):
        return False
    return () if option.many else option.default


def _put(values: dict[str, Any], option: Option | Flag, name: str, text: str) -> None:
    key = find_key(option)
    if isinstance(option, Flag):
        values[key] = True
        return
    if option.choices and text not in option.choices:
        raise ConfigError(f"{name} takes {' or '.join(option.choices)}, not {text}.")
    values[key] = (*values[key], text) if option.many else text


def _name_words(verb: Verb, words: Sequence[str]) -> dict[str, Any]:
    first, *others = find_arguments(verb)
    if others:
        return {first.key: words[0] if words else "", others[0].key: tuple(words[1:])}
    # The name of a server may have blanks in it.
    return {first.key: tuple(words) if first.many else " ".join(words)}


def end_options(args: Sequence[str], valued: Container[str]) -> list[str]:
    """The words with `--` put before the server's command: `add NAME npx -y package` leaves `-y` to npx.

    `valued` are the options that take the next word as their value.
    """
    names = 0
    skip = False
    for index, word in enumerate(args):
        if word == "--":
            break
        if skip or word.startswith("-"):
            skip = not skip and word in valued
            continue
        names += 1
        # An address takes no words of its own, so options may follow it.
        if names == 2 and not is_address(word):
            return [*args[:index], "--", *args[index:]]
    return list(args)


def is_address(word: str) -> bool:
    """Whether a word is the address of a server, and no command."""
    return word.lower().startswith(_ADDRESSES)
