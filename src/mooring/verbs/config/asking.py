"""Asks a person for one detail of a server until the answer can be used."""

from collections.abc import Callable
from typing import TypeVar

from mooring.core.conversation.question import Ask, ServerDetail, Yes
from mooring.errors import ConfigError

T = TypeVar("T")


class GivenUp(Exception):
    """There was no answer."""


async def ask_until(
    ask: Ask,
    server: str,
    label: str,
    check: Callable[[str], T],
    notes: tuple[str, ...] = (),
    default: str | None = None,
    options: tuple[str, ...] = (),
    *,
    secret: bool = False,
    block: bool = False,
) -> T:
    """What `check` makes of the answer; asked again, with what was wrong, until it accepts one. Raises: GivenUp."""
    while True:
        answer = await ask(ServerDetail(server, label, notes, default, options, secret, block))
        if not isinstance(answer, Yes):
            raise GivenUp
        try:
            return check(str(answer.content or "").strip())
        except ConfigError as error:
            notes = (str(error),)


def pick(options: tuple[T, ...]) -> Callable[[str], T]:
    """A check that accepts one of these, or the beginning of one."""

    def check(text: str) -> T:
        fitting = [option for option in options if text and str(option).startswith(text.lower())]
        exact = [option for option in options if option == text]
        for option in (*exact, *fitting):
            return option
        raise ConfigError(f"Type one of these: {', '.join(map(str, options))}.")

    return check
