"""A rule's pattern over what a local tool would touch: a command, a path or a host.

| tool | pattern | covers |
|---|---|---|
| `Bash` | `git *` | commands that begin with `git `, if nothing in them can start a second command |
| `Bash` | `git:*` | the same, and `git` alone |
| `Read`, `Edit`, … | `./src/**`, `src/**` | what is below that folder of the project |
| | `*.md` | files of that name anywhere in the project |
| | `~/notes/**`, `/srv/data/**`, `//srv/data/**` | what is below that folder of the home, or of the machine |
| `WebFetch` | `domain:example.com`, `domain:*.example.com` | that host; hosts below it; on their default ports |
| | `domain:example.com:8080` | that host on that port |
| | `origin:https://example.com` | that scheme, host and port |

As everywhere, an allow errs on the side of asking and a deny on the side of refusing: an allow is compared to the
letter with where the path really leads, a deny also with the path as it was written, with each part of a command line,
and with hosts below a domain.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from mooring.core.conversation.verdict import LocalAccess
from mooring.core.text.glob import Glob, folded, literal

MAX_COMMAND = 64 * 1024
"""A longer command is covered by no allow, and touched by every deny."""
# Whatever can begin another command, write to a file, or be replaced by something that the pattern never saw. `$` as a
# whole: `${x@P}` runs what is in a variable. A control character has no business in a command.
_OPERATORS = r"[;&|<>`$\x00-\x1f\x7f]"
_SEPARATORS = r"[;&|<>`$(){}\n\r]+"
_QUOTES = r"['\"\\]"
_KEYS = r"^(?:command|file_path|notebook_path|path|pattern|url|query)="


def is_plain_command(command: str) -> bool:
    """Whether a command line is one command: nothing in it starts another, redirects it, or is expanded."""
    return len(command) <= MAX_COMMAND and re.search(_OPERATORS, command) is None


class AccessPattern:
    """The pattern of a rule, ready to be compared with what local tools would touch."""

    def __init__(self, text: str) -> None:
        # Rules about other tools may name the argument: `command=git *`. Here there is only one to name.
        self._text = re.sub(_KEYS, "", text)
        self._path_globs: dict[tuple[str, str], _PathGlobs] = {}
        """By the project and the home: a search compares thousands of files in the same one."""

    def covers(self, access: LocalAccess) -> bool:
        """Whether an allow with this pattern certainly covers it."""
        match access.kind:
            case "command":
                return is_plain_command(access.subject) and self._covers_command(access.subject.strip())
            case "path":
                return any(glob.matches(access.subject) is True for glob in self._compile_paths(access).exact)
            case "domain":
                return self._covers_origin(access) or self._covers_host(access.subject)
            case "text":
                return Glob(self._text).matches(access.subject) is True
            case "nothing":
                return False

    def touches(self, access: LocalAccess) -> bool:
        """Whether a deny or an ask with this pattern may be meant for it."""
        match access.kind:
            case "command":
                return len(access.subject) > MAX_COMMAND or self._touches_command(access.subject)
            case "path":
                return self._touches_path(access)
            case "domain":
                return self._touches_host(access)
            case "text":
                return _may_match(self._text, access.subject)
            case "nothing":
                return False

    # --- commands -------------------------------------------------------------------------------------------------

    def _covers_command(self, command: str) -> bool:
        return any(Glob(glob).matches(command) is True for glob in self._command_globs())

    def _command_globs(self) -> tuple[str, ...]:
        """The globs that the pattern stands for; Claude Code writes `git:*` for `git` with anything behind it."""
        prefix = self._text.removesuffix(":*")
        if prefix == self._text:
            return (self._text,)
        return (prefix, f"{prefix} *")

    def _touches_command(self, command: str) -> bool:
        lines = dict.fromkeys(_list_parts(command))
        return any(_may_match(glob, line) for glob in self._command_globs() for line in lines)

    # --- paths ----------------------------------------------------------------------------------------------------

    def _touches_path(self, access: LocalAccess) -> bool:
        paths = [folded(path) for path in (access.subject, *access.spellings)]
        loose = self._compile_paths(access).loose
        return any(glob.matches(path) is not False for glob in loose for path in paths)

    def _compile_paths(self, access: LocalAccess) -> "_PathGlobs":
        key = (access.project, access.home)
        if key not in self._path_globs:
            exact = tuple(_list_path_globs(self._text, access))
            broad = (*exact, *_list_broad_globs(self._text, access))
            # Whoever denies a folder means what is in it.
            loose = (*broad, *(f"{glob}/*" for glob in broad))
            self._path_globs[key] = _PathGlobs(
                tuple(map(Glob, exact)), tuple(Glob(glob, loosely=True) for glob in dict.fromkeys(loose))
            )
        return self._path_globs[key]

    # --- hosts ----------------------------------------------------------------------------------------------------

    def _covers_origin(self, access: LocalAccess) -> bool:
        return self._text.startswith("origin:") and any(
            Glob(self._text).matches(spelling) is True
            for spelling in access.spellings
            if spelling.startswith("origin:")
        )

    def _covers_host(self, place: str) -> bool:
        domain = self._text.removeprefix("domain:").lower()
        host, port = _split_port(place)
        wanted, wanted_port = _split_port(domain)
        # A glob over whole addresses would let a path such as `/x.example.com` pass for the host.
        is_domain = self._text.startswith("domain:")
        # Without a port, a rule means those that every browser uses: another one is another program.
        return is_domain and port == wanted_port and Glob(wanted).matches(host) is True

    def _touches_host(self, access: LocalAccess) -> bool:
        domain = self._text.removeprefix("domain:")
        if domain == self._text:
            return any(_may_match(self._text, spelling) for spelling in (access.subject, *access.spellings))
        places = (access.subject, _split_port(access.subject)[0])
        return any(_may_match(glob, place) for glob in (domain, f"*.{domain}") for place in places)


class _PathGlobs(Struct, frozen=True):
    """The globs over absolute paths that a pattern stands for: for an allow, and for a deny."""

    exact: tuple[Glob, ...]
    loose: tuple[Glob, ...]


def _split_port(place: str) -> tuple[str, str]:
    """A host and its port, which is empty if it is not written."""
    host, _, port = place.rpartition(":")
    # An address of version 6 has colons of its own; with a port it is in brackets.
    has_port = port.isdecimal() and (":" not in host or host.endswith("]"))
    return (host.strip("[]"), port) if has_port else (place, "")


def _may_match(glob: str, text: str) -> bool:
    return Glob(glob, loosely=True).matches(folded(text).strip()) is not False


def _list_parts(command: str) -> Iterator[str]:
    """A command line as a deny sees it: whole, each command in it, and both without quotes."""
    for line in (command, re.sub(_QUOTES, "", command)):
        yield line
        yield from re.split(_SEPARATORS, line)


def _list_path_globs(pattern: str, access: LocalAccess) -> Iterator[str]:
    """The globs over absolute paths that a pattern stands for."""
    project, home = literal(access.project), literal(access.home)
    if pattern in ("~", "~/") or pattern.startswith("~/"):
        yield from _list_forms(f"{home}/{pattern[2:]}")
    elif pattern.startswith("/"):
        yield from _list_forms(f"/{pattern.lstrip('/')}")
    elif "/" in pattern.strip("/"):
        yield from _list_forms(f"{project}/{pattern.removeprefix('./')}")
    else:
        # A bare name is meant in every folder, as in a `.gitignore`.
        yield from _list_forms(f"{project}/{pattern}")
        yield from _list_forms(f"{project}/*/{pattern}")


def _list_broad_globs(pattern: str, access: LocalAccess) -> Iterator[str]:
    """What a deny may mean besides: the name anywhere, and a path inside the project, as Claude Code reads `/x`."""
    if pattern.startswith("/"):
        yield from _list_forms(f"{literal(access.project)}/{pattern.lstrip('/')}")
    elif not pattern.startswith("~"):
        yield from _list_forms(f"*/{pattern.removeprefix('./')}")


def _list_forms(glob: str) -> Iterator[str]:
    """A glob, and what else it means: `a/**/b` also `a/b`, `a/**` also `a` itself, and `a/` everything in it."""
    glob = f"{glob}**" if glob.endswith("/") else glob
    yield glob
    if "/**/" in glob:
        yield glob.replace("/**/", "/")
    if glob.endswith("/**"):
        yield glob.removesuffix("/**") or "/"
