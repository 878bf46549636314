"""How a connection ended, as far as it is known."""

from msgspec import Struct


class Ending(Struct, frozen=True):
    """What is known of a server that went away: its exit code, its last lines, what it had not been given."""

    cause: str = ""
    exit_code: int | None = None
    stderr: tuple[str, ...] = ()
    withheld: tuple[str, ...] = ()
