"""Every row can be run, completed and typed wherever it is offered."""

from collections.abc import Iterator
from importlib import import_module
from inspect import signature
from typing import get_args

import pytest

from mooring.chat.mcp.verbs import ACTIONS as CHAT_ACTIONS
from mooring.chat.mcp.verbs import VERBS
from mooring.cli.app import ACTIONS
from mooring.discovery.targets import WriteScope
from mooring.settings import MODES
from mooring.verbs.complete import OFFERS, PATHS
from mooring.verbs.config.describe import TRANSPORTS
from mooring.verbs.rows import ROWS
from mooring.verbs.verb import Flag, Option, Verb, VerbArgument, VerbGroup, find_key, find_options, load_action

CHOICES = {"mode": set(MODES), "scope": set(get_args(WriteScope))}


def list_verbs() -> Iterator[tuple[str, Verb]]:
    for row in ROWS:
        if isinstance(row, VerbGroup):
            yield from ((f"{row.name} {verb.name}", verb) for verb in row.load())
        else:
            yield row.name, row


SHARED = {path: verb for path, verb in list_verbs() if verb.action}


def test_every_row_has_an_action_of_its_own_or_in_the_shell_and_every_action_a_row() -> None:
    assert ACTIONS.keys() | SHARED.keys() == dict(list_verbs()).keys()
    assert not ACTIONS.keys() & SHARED.keys()


def test_every_row_of_the_chat_has_an_action_there_or_of_its_own() -> None:
    assert {name for name, verb in VERBS.items() if not verb.action} <= CHAT_ACTIONS.keys() <= VERBS.keys()


@pytest.mark.parametrize("path", SHARED)
def test_the_action_of_a_row_takes_what_the_row_offers(path: str) -> None:
    verb = SHARED[path]
    _, *taken = signature(load_action(verb)).parameters
    options = find_options(verb, "shell")
    offered = [each.key if isinstance(each, VerbArgument) else find_key(each) for each in verb.parameters
               if isinstance(each, VerbArgument) or each in options]  # fmt: skip
    assert taken == offered


@pytest.mark.parametrize("place", list(ACTIONS.values()))
def test_what_the_tables_name_exists(place: str) -> None:
    module, _, function = place.partition(":")
    assert callable(getattr(import_module(f"mooring.cli.{module}"), function))


@pytest.mark.parametrize(("path", "verb"), list(list_verbs()), ids=[path for path, _ in list_verbs()])
def test_a_row_offers_what_its_action_takes(path: str, verb: Verb) -> None:
    for option in verb.parameters:
        if isinstance(option, VerbArgument | Option) and option.complete:
            assert option.complete in {*OFFERS, *PATHS}
        if isinstance(option, Option) and find_key(option) in CHOICES and option.choices:
            assert set(option.choices) == CHOICES[find_key(option)]
        if isinstance(option, VerbArgument):
            # What stands in for an argument is an option of the same row.
            spellings = {each.spelling for each in verb.parameters if isinstance(each, Option | Flag)}
            assert set(option.unless.split()) <= spellings


def test_the_row_of_add_knows_the_transports_of_its_action() -> None:
    row = dict(list_verbs())["mcp add"]
    assert {option.choices for option in find_options(row, "shell") if isinstance(option, Option)} >= {TRANSPORTS}
