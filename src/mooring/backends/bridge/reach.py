"""Where a path or a glob that was written for another program can lead, whichever way that program reads it."""

import re
from collections.abc import Iterator
from typing import Final

MOST_SPELLINGS: Final = 64
"""How many paths the braces of one glob may stand for. More are not looked at, and so not understood."""
_ODD: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]|://")
_WILD: Final = re.compile(r"[*?\[]")
_BRACES: Final = re.compile(r"\{([^{}]*)\}")
_EXTENDED: Final = re.compile(r"[?*+@!]\(|\\")
"""Extended globs, and escapes: what they stand for differs between libraries."""
_DOTS: Final = re.compile(r"(?=.*\[)[.\[\]!^?-]+")
"""A part of a glob that brackets could make `..`."""


def is_plain_path(path: str) -> bool:
    """Whether every program reads a path in the same way: none trims it, takes it apart or takes it for an address."""
    return bool(path) and path == path.strip() and _ODD.search(path) is None


def list_readings(path: str) -> list[str]:
    """Each path that a program may mean. Some put the home folder in the place of `~`, and some don't."""
    return [path, f"./{path}"] if path.startswith("~") else [path]


def find_glob_starts(pattern: str) -> list[str] | None:
    """The folders outside of the searched one in which a glob may look; `None` if that can't be told.

    A glob without `..`, `~` or a slash at its beginning stays where it is.
    """
    if not pattern.strip():
        return []
    if not is_plain_path(pattern) or _EXTENDED.search(pattern):
        return None
    spellings = list(_spell_out(pattern.removeprefix("!")))
    if len(spellings) > MOST_SPELLINGS:
        return None
    starts = [_find_start(spelling) for spelling in spellings]
    if None in starts:
        return None
    return list(dict.fromkeys(start for start in starts if start))


def _spell_out(pattern: str) -> Iterator[str]:
    """Every glob without braces that one with braces stands for, up to one more than are looked at."""
    pending, found = [pattern], 0
    while pending and found <= MOST_SPELLINGS and len(pending) <= MOST_SPELLINGS:
        spelling = pending.pop()
        braces = _BRACES.search(spelling)
        if braces is None:
            found += 1
            yield spelling
            continue
        head, tail = spelling[: braces.start()], spelling[braces.end() :]
        pending += [f"{head}{choice}{tail}" for choice in braces[1].split(",")]
    yield from pending


def _find_start(pattern: str) -> str | None:
    """Where a glob without braces begins, if it leads out; empty if it doesn't, `None` if that can't be told."""
    if "{" in pattern or "}" in pattern:
        return None
    parts = pattern.split("/")
    wild = next((place for place, part in enumerate(parts) if _WILD.search(part)), len(parts))
    fixed, rest = parts[:wild], parts[wild:]
    if any(part == ".." or _DOTS.fullmatch(part) for part in rest):
        # What a wildcard stands for may be a link, and then `..` leads anywhere.
        return None
    if pattern.startswith(("/", "~")) or ".." in fixed:
        return "/".join(fixed) or ("/" if pattern.startswith("/") else "")
    return ""
