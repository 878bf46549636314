"""What a schema no longer says once it has been adapted."""

from msgspec import Struct


class Loss(Struct, frozen=True):
    """One thing that could not be kept; `path` leads to the parameter, and is empty for the whole schema."""

    path: str
    what: str


class Losses:
    """The losses of one schema, each once, in the order they were found."""

    def __init__(self) -> None:
        self._found: dict[Loss, None] = {}

    def add(self, path: str, what: str) -> None:
        self._found[Loss(path, what)] = None

    @property
    def found(self) -> tuple[Loss, ...]:
        return tuple(self._found)


def join_path(path: str, key: str) -> str:
    """The path to a property, or to the items of a list (`[]`), of what is at `path`."""
    if key.startswith("[") or not path:
        return f"{path}{key}"
    return f"{path}.{key}"
