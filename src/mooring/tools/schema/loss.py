"""What a schema no longer says once it has been adapted."""

from msgspec import Struct


class Loss(Struct, frozen=True):
    """One thing that could not be kept; `path` leads to the parameter, empty where it is the whole."""

    path: str
    what: str


class Losses:
    """Losses as they are found, each once, in order."""

    def __init__(self) -> None:
        self._found: dict[Loss, None] = {}

    def add(self, path: str, what: str) -> None:
        """Keep in mind that something was lost."""
        self._found[Loss(path, what)] = None

    @property
    def found(self) -> tuple[Loss, ...]:
        """All of them."""
        return tuple(self._found)


def under(path: str, key: str) -> str:
    """The path to a property, or to the items of a list (`[]`), of what is at `path`."""
    return f"{path}{key}" if key.startswith("[") or not path else f"{path}.{key}"
