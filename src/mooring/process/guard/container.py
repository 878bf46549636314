"""The container behind a `docker run`, which is no descendant of it and would outlive it.

The host has docker write the container's id to a file; the guard reads it there once docker is gone, and removes
the container.
"""

import os

from .proc import slurp, tried

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Parts: TypeAlias = tuple[list[bytes], bytes, bool]


class Container:
    """How to remove it, the file that docker writes its id to, and whether we made that file's folder."""

    def __init__(self, remove: list[bytes], cidfile: bytes, ours: bool) -> None:
        self.parts: Parts = remove, cidfile, ours
        """All of it, as it goes over the line."""

    def errand(self) -> list[bytes] | None:
        """The command that removes the container, if there ever was one."""
        remove, cidfile, _ = self.parts
        cid = slurp(cidfile).strip()
        self.forget()
        return [*remove, cid] if cid else None

    def forget(self) -> None:
        """Remove what was made for its id."""
        _, cidfile, ours = self.parts
        if ours:
            tried(os.unlink, cidfile)
            tried(os.rmdir, os.path.dirname(cidfile))


def contained(argv: list[str]) -> tuple[list[str], Container | None]:
    """For a `docker run`: the same with a file for the container's id, and that container.

    Raises:
        OSError: there is no place for the file.
    """
    at = _run_verb(argv)
    if at is None:
        return argv, None
    remove = [os.fsencode(word) for word in [*argv[:at], "rm", "-f"]]
    given = _option("--cidfile", argv[at + 1 :])
    if given:
        return argv, Container(remove, os.fsencode(os.path.abspath(given)), False)
    folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"mooring-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    file = os.path.join(folder, "cid")
    return [*argv[: at + 1], "--cidfile", file, *argv[at + 1 :]], Container(remove, os.fsencode(file), True)


def _run_verb(argv: list[str]) -> int | None:
    """Where `run` stands in `docker [options] [container] run`, options with and without a value."""
    if not argv or os.path.basename(argv[0]) not in ("docker", "podman"):
        return None
    verbs = [at for at, word in enumerate(argv) if word == "run"]
    return next((at for at in verbs if _only_options(argv[1:at])), None)


def _only_options(words: list[str]) -> bool:
    if words and words[-1] == "container":
        words = words[:-1]
    return all(
        word.startswith("-") or (at and words[at - 1].startswith("-") and "=" not in words[at - 1])
        for at, word in enumerate(words)
    )


def _option(name: str, words: list[str]) -> str | None:
    for word, following in zip(words, [*words[1:], ""], strict=True):
        if word == name:
            return following
        if word.startswith(f"{name}="):
            return word.removeprefix(f"{name}=")
    return None
