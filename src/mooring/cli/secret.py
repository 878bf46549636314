"""`mooring secret`: stores, lists and removes secrets; a value is typed unseen or piped in, and never shown."""

import sys

from mooring.auth.store import MAX_VALUE, StoredSecret
from mooring.cli.base import Globals, are_terminals, print_json, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.core.definitions.paths import Paths
from mooring.errors import ConfigError
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.config.secrets import check_secret_name, describe_stored, store_secret

_LONGEST_LINE = 1023 if sys.platform == "darwin" else 4095
"""How many bytes of one line a terminal passes on; it drops the rest without a word."""


def run_set(options: Globals, name: str, more: tuple[str, ...]) -> None:
    if more:
        # Other users see the arguments of every process, and the shell keeps them in its history.
        raise ConfigError(
            "A secret's value is never an argument. Leave it out and you are asked for it, or pipe it in."
        )
    # What a server is started with may name it.
    refuse_below_mooring("mooring secret set")
    check_secret_name(name)
    where = options.workspace().where
    stored = run_until_interrupted(_read_and_store(where, name))
    if options.json:
        print_json({"stored": stored})
    else:
        say(describe_stored(stored, where))


async def _read_and_store(where: Paths, name: str) -> StoredSecret:
    value = await _ask_for_value(name) if are_terminals(sys.stdin) else _read_piped_value()
    return await store_secret(where, name, value)


async def _ask_for_value(name: str) -> str:
    from mooring.chat.plain.dialog import CommandTerminal, Ended

    if not are_terminals(sys.stderr):
        raise ConfigError("Nobody would see the question for the value: pipe it in, or let stderr be the terminal.")
    try:
        value = await CommandTerminal().read_line(f"Value of {name} (not shown): ", secret=True)
    except Ended:
        raise ConfigError("No value was given, so nothing was stored.") from None
    if len(value.encode()) >= _LONGEST_LINE:
        raise ConfigError(f"A terminal takes only {_LONGEST_LINE:,} bytes of a line. Pipe the value in instead.")
    return value


def _read_piped_value() -> str:
    data = sys.stdin.buffer.read(MAX_VALUE * 4 + 1)
    try:
        return data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise ConfigError("The value is not text in UTF-8, so nothing was stored.") from None
