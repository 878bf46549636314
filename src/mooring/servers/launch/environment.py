"""How a program is started: its words, its environment, its folder.

The environment is given, not leaked. A person's own server inherits theirs without the names that look like secrets;
a project's gets a short list of harmless ones. Both get what their definition names. What was kept back is known, so
that a failed start can say it.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from time import monotonic

from msgspec import Struct

from mooring.core.secret import is_secret, list_secrets, redact
from mooring.core.where import Where


class Omission(Struct, frozen=True):
    """A part of a definition that could not be filled in, so that the server goes without it."""

    where: str
    """Its key, such as `env.TOKEN`."""
    reason: str
    """Why, to be read after the key; it never holds a value."""

    def __str__(self) -> str:
        return f"{self.where} was left out: it {self.reason}."


class Launch(Struct, frozen=True):
    """Everything needed to start a program, and the names of the variables it was not given."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: str
    withheld: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    """Values that were given and must not be shown, whoever repeats them."""
    omitted: tuple[Omission, ...] = ()

    def redact(self, text: str) -> str:
        """What the program wrote, without the secrets it was given."""
        return redact(text, self.secrets)

    def __repr__(self) -> str:
        return f"<Launch {self.redact(self.argv[0])!r} in {self.redact(self.cwd)}>"


def launch(
    argv: Sequence[str],
    where: Where,
    cwd: str,
    *,
    own: bool,
    env: Mapping[str, str] | None = None,
    pass_env: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
) -> Launch:
    """How to start a program for a person (`own`) or for a project, in a folder.

    `settings` is what the person's settings add for every program; the definition's own `env` counts before it.
    """
    added = settings or {}
    inherited = {
        name: value for name, value in where.env.items() if (not is_secret(name, value) if own else _listed(name))
    }
    passed = {name: where.env[name] for name in pass_env if name in where.env and name not in added}
    named = {**added, **passed, **(env or {})}
    given = {**inherited, **named}
    given["PATH"] = search_path(given.get("PATH", os.defpath), where.home)
    withheld = tuple(sorted(name for name in where.env if name not in given))
    secrets = list_secrets(value for name, value in named.items() if is_secret(name, value))
    return Launch(tuple(argv), given, cwd, withheld, secrets)


# --- which names are given ----------------------------------------------------------------------------------

_LIST = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TEMP", "TMP", "TZ",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
        "XDG_RUNTIME_DIR", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "COMSPEC",
    }
)  # fmt: skip


def _is_inherited(name: str, value: str, own: bool) -> bool:
    return not is_secret(name, value) if own else _listed(name)


def _listed(name: str) -> bool:
    return name in _LIST or name.startswith("LC_")


# --- where programs are found -------------------------------------------------------------------------------

_MANAGED = (
    ".local/bin", ".volta/bin", ".local/share/mise/shims", ".asdf/shims", ".pyenv/shims", ".bun/bin", ".deno/bin",
    ".cargo/bin", ".local/share/pnpm", ".nix-profile/bin",
)  # fmt: skip
FRESH = 2.0
"""For so many seconds what was found there counts."""
_SHARED = ("/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin")


def usual_path(where: Where, settings: Mapping[str, str]) -> str:
    """The search path of whatever is started and names no other."""
    return search_path(settings.get("PATH") or where.env.get("PATH", os.defpath), where.home)


def search_path(path: str, home: str) -> str:
    """The search path, and after it the places of version managers: a GUI or an agent may not have them on its own."""
    known = [folder for folder in path.split(os.pathsep) if folder]
    extra = [folder for folder in _found(home, int(monotonic() / FRESH)) if folder not in known]
    return os.pathsep.join([*known, *extra])


@lru_cache(8)
def _found(home: str, moment: int) -> tuple[str, ...]:
    """Those that are there at this moment: many servers that start at once look only once."""
    return tuple(filter(os.path.isdir, _extra(home)))


def _extra(home: str) -> Iterator[str]:
    yield from (os.path.join(home, folder) for folder in _MANAGED)
    yield from sorted(_nvm(os.path.join(home, ".nvm/versions/node")), key=_version, reverse=True)
    yield from _SHARED


def _nvm(folder: str) -> Iterator[str]:
    try:
        yield from (os.path.join(folder, name, "bin") for name in os.listdir(folder))
    except OSError:
        return


def _version(path: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", os.path.basename(os.path.dirname(path)))]
