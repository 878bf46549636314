"""Which name was meant: the exact one, the only one that differs in case alone, or else the closest ones."""

from collections.abc import Collection, Iterable

from mooring.errors import UnknownServer


def find_server(name: str, known: Collection[str]) -> str:
    """The server of that name among those that are known.

    Raises:
        UnknownServer: there is none, or the case would have to decide between several.
    """
    if name in known:
        return name
    alike = [other for other in known if other.casefold() == name.casefold()]
    if len(alike) == 1:
        return alike[0]
    raise UnknownServer(name, alike or nearest(name, known))


def nearest(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The names that come closest, the closest first; none where nothing is close."""
    from difflib import get_close_matches  # only on the way to an error

    return get_close_matches(name, list(known), most)


def suggest_key(key: str, known: Iterable[str]) -> str:
    """Which key of a file was meant, or else which there are."""
    known = list(known)
    near = nearest(key, known, 1) or [other for other in known if other.casefold() == key.casefold()]
    return f"did you mean `{near[0]}`?" if near else f"the keys are: {', '.join(known)}."
