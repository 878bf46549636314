"""What a `.gitignore` says, within bounds: a repository wrote it."""

from collections.abc import Sequence

from msgspec import Struct

from mooring.agents.local.path_glob import PathGlob
from mooring.errors import FileError
from mooring.files.exact import read_exact

MAX_BYTES = 64 * 1024
MAX_RULES = 500
"""How many lines of one file are used."""


class IgnoreRule(Struct, frozen=True):
    """One line of a `.gitignore`."""

    glob: PathGlob
    depth: int
    """How many folders below the root its file is: its globs begin there."""
    folders_only: bool
    ignores: bool
    """False for a line that begins with `!`, which takes back what lines before it said."""

    def applies(self, parts: Sequence[str], is_folder: bool) -> bool:
        if self.folders_only and not is_folder:
            return False
        return self.glob.matches(parts[self.depth :])


def read_ignore_rules(folder: str, depth: int) -> tuple[IgnoreRule, ...]:
    """The rules of a folder's `.gitignore`; none if it has no usable one."""
    try:
        data = read_exact(f"{folder}/.gitignore", MAX_BYTES) or b""
    except FileError:
        return ()
    lines = data.decode(errors="replace").split("\n")[:MAX_RULES]
    rules = (_parse(line, depth) for line in lines)
    return tuple(rule for rule in rules if rule is not None)


def _parse(line: str, depth: int) -> IgnoreRule | None:
    text = line.strip()
    if not text or text.startswith("#"):
        return None
    ignores = not text.startswith("!")
    text = text.removeprefix("!").removeprefix("\\")
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    # Without a slash in it, a name is meant in every folder below.
    glob = text if "/" in text else f"**/{text}"
    return IgnoreRule(PathGlob(glob), depth, folders_only, ignores) if text else None
