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

    # The very same name may be known as something else: to suggest it again would help nobody.
    return get_close_matches(name, [other for other in known if other != name], most)


def suggest_key(key: str, known: Iterable[str]) -> str:
    """Which key of a file was meant, or else which there are."""
    known = list(known)
    near = nearest(key, known, 1) or [other for other in known if other.casefold() == key.casefold()]
    return f"did you mean `{near[0]}`?" if near else f"the keys are: {', '.join(known)}."


def find_slip(typed: str, known: Iterable[str]) -> str | None:
    """The only known word that differs by one slip of the fingers: a letter left out, added, swapped or replaced."""
    near = [word for word in known if _is_slip(typed.casefold(), word.casefold())]
    return near[0] if len(near) == 1 else None


_SHORT = 3
"""Words of so few letters differ by one letter from others that mean something else: `cmd` and `cwd`."""


def _is_slip(typed: str, word: str) -> bool:
    if abs(len(typed) - len(word)) > 1:
        return False
    alike = [one == other for one, other in zip(typed, word, strict=False)]
    same = alike.index(False) if False in alike else len(alike)
    rest, wanted = typed[same:], word[same:]
    if len(rest) > len(wanted):
        return rest[1:] == wanted
    if len(rest) < len(wanted):
        return rest == wanted[1:]
    is_swapped = rest[:2] == wanted[1::-1] and rest[2:] == wanted[2:]
    return is_swapped or (rest[1:] == wanted[1:] and len(word) > _SHORT)
