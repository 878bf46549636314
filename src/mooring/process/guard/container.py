"""The container behind a `docker run`, which is not a descendant of that command and would be left behind.

The host has docker write the container's id to a file. Once the command is gone, the guard reads the id and removes
the container.
"""

import os

from .proc import attempt, read_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeAlias

    Parts: TypeAlias = tuple[list[bytes], bytes, bool]


class Container:
    """How to remove a container, the file that docker writes its id to, and whether we made that file's folder."""

    def __init__(self, remove: list[bytes], cidfile: bytes, ours: bool) -> None:
        self.parts: Parts = remove, cidfile, ours
        """All of it, as it is sent to the guard."""

    def removal_command(self) -> list[bytes] | None:
        """The command that removes the container, or `None` if docker never made one. The file is gone then."""
        remove, cidfile, _ = self.parts
        cid = read_file(cidfile).strip()
        self.forget()
        return [*remove, cid] if _is_container_id(cid) else None

    def forget(self) -> None:
        """Remove the file and the folder that were made for the id."""
        _, cidfile, ours = self.parts
        if ours:
            attempt(os.unlink, cidfile)
            attempt(os.rmdir, os.path.dirname(cidfile))


def add_cidfile(argv: list[str], cwd: str) -> tuple[list[str], Container | None]:
    """For a `docker run` in a folder: the same command with a file for the container's id, and that container.

    Any other command is returned as it is, without a container. So is one whose own file exists already: docker did not
    write it for this container, and a repository could name any other container in it.

    Raises:
        OSError: the file's folder cannot be made.
    """
    run = _find_run(argv)
    if run is None:
        return argv, None
    remove = [os.fsencode(word) for word in [*argv[:run], "rm", "-f"]]
    options = argv[run + 1 :]
    configured = _option("--cidfile", options)
    if configured:
        cidfile = os.path.join(cwd, configured)
        if os.path.lexists(cidfile):
            return argv, None
        return argv, Container(remove, os.fsencode(cidfile), False)
    # docker refuses a file that exists, so it gets a new folder. The tempfile module would be slow to load.
    folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"mooring-{os.urandom(8).hex()}")
    os.mkdir(folder, 0o700)
    cidfile = os.path.join(folder, "cid")
    return [*argv[: run + 1], "--cidfile", cidfile, *options], Container(remove, os.fsencode(cidfile), True)


def _is_container_id(text: bytes) -> bool:
    """Whether docker can have written this: a name would remove whatever container has it."""
    return len(text) == 64 and not text.strip(b"0123456789abcdef")


def _find_run(argv: list[str]) -> int | None:
    """The index of `run` in `docker [options] [container] run`; `None` if this is another command."""
    if not argv or os.path.basename(argv[0]) not in ("docker", "podman"):
        return None
    for index, word in enumerate(argv):
        if word == "run" and _only_options(argv[1:index]):
            return index
    return None


def _only_options(words: list[str]) -> bool:
    """Whether these are options, with or without a value, and perhaps `container` at the end."""
    if words and words[-1] == "container":
        words = words[:-1]
    previous = ""
    for word in words:
        is_value = previous.startswith("-") and "=" not in previous
        if not word.startswith("-") and not is_value:
            return False
        previous = word
    return True


def _option(name: str, words: list[str]) -> str | None:
    """The value of an option, written as `--name value` or `--name=value`."""
    for index, word in enumerate(words):
        if word == name:
            return words[index + 1] if index + 1 < len(words) else ""
        if word.startswith(f"{name}="):
            return word.removeprefix(f"{name}=")
    return None
