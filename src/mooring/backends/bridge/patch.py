"""The files that a patch in the form of Codex changes, as far as every program that takes the form agrees about them.

Programs differ in what they forgive: OpenCode takes a header without a blank after its colon, an indented end, and
lines before the beginning. So a patch is understood only if each line of it is one that none of them reads otherwise.
"""

import re
from typing import Final

from msgspec import Struct

_BEGIN: Final = "*** Begin Patch"
_END: Final = "*** End Patch"
_END_OF_FILE: Final = "*** End of File"
_HEADER: Final = re.compile(r"\*\*\* (Add|Delete|Update) File: (\S|\S.*\S)")
_MOVE: Final = re.compile(r"\*\*\* Move to: (\S|\S.*\S)")
_UNPRINTED: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]")
_LOOSE: Final = re.compile(r"(?:File|Move to)\s*:([^\n]*)", re.IGNORECASE)
_LINES_OF: Final = {"Add": ("+",), "Delete": (), "Update": ("+", "-", " ", "@@")}
"""How the lines below each header begin."""


class PatchFiles(Struct, frozen=True):
    paths: tuple[str, ...]
    """Each file that it writes, removes or moves, as it is written. Of a patch that isn't understood: each that it may
    mean, so that what is denied stays denied."""
    is_understood: bool


def find_patched_files(patch: str) -> PatchFiles:
    paths = _read_strictly(patch.removesuffix("\n").split("\n"))
    if paths is not None:
        return PatchFiles(tuple(dict.fromkeys(paths)), True)
    guessed = (_UNPRINTED.sub("", found).strip() for found in _LOOSE.findall(patch))
    return PatchFiles(tuple(dict.fromkeys(filter(None, guessed))), False)


def _read_strictly(lines: list[str]) -> list[str] | None:
    """The paths of a patch that can be read in one way only; `None` if it can't."""
    if len(lines) < 3 or lines[0] != _BEGIN or lines[-1] != _END:
        return None
    paths: list[str] = []
    verb, may_move = "", False
    for line in lines[1:-1]:
        header, move = _HEADER.fullmatch(line), _MOVE.fullmatch(line)
        if header is not None:
            verb, path = header[1], header[2]
        elif move is not None and may_move:
            path = move[1]
        elif verb and _is_body(line, verb):
            may_move = False
            continue
        else:
            return None
        if _UNPRINTED.search(path):
            return None
        may_move = header is not None and verb == "Update"
        paths.append(path)
    return paths or None


def _is_body(line: str, verb: str) -> bool:
    """Whether a line is part of what a header is about, to every program."""
    if verb == "Update" and line in ("", _END_OF_FILE):
        return True
    # Some take a header or a mark for one that is indented.
    is_mark = not line.startswith(("+", "-")) and line.lstrip().startswith("***")
    return not is_mark and line.startswith(_LINES_OF[verb])
