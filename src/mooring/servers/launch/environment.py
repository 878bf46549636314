"""How a program is started: its arguments, its environment, its folder.

A person's own server inherits their environment without the names that look like secrets: their shell holds tokens for
services that have nothing to do with this server. A project's server comes with a repository that anyone may have
written, so it gets only a short list of harmless names. Both get what their definition names. What was withheld is
recorded, so that a failed start can name it.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from time import monotonic

from msgspec import Struct

from mooring.core.definitions.paths import Paths
from mooring.core.text.secret import find_in_arguments, is_secret, list_secrets, redact
from mooring.process.surroundings import ProgramSurroundings, drop_relative_folders, surround


class OmittedEntry(Struct, frozen=True):
    """An entry of a definition that has no value, so that the server starts without it."""

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
    """Values it was given that must never be shown."""
    omitted: tuple[OmittedEntry, ...] = ()
    defined_in: str = ""
    """The file with its definition, as a person writes its path; empty if it is in none."""
    chosen: frozenset[str] = frozenset()
    """The variables that are as its definition has them, or as the person has who typed it."""

    @property
    def surroundings(self) -> ProgramSurroundings:
        return surround(self.env, self.cwd, self.chosen)

    def redact(self, text: str) -> str:
        """The text without the secrets that the program was given."""
        return redact(text, self.secrets)

    def __repr__(self) -> str:
        return f"<Launch {self.redact(self.argv[0])!r} in {self.redact(self.cwd)}>"


def make_launch(
    argv: Sequence[str],
    where: Paths,
    cwd: str,
    *,
    own: bool,
    env: Mapping[str, str] | None = None,
    pass_env: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    secrets: Iterable[str] = (),
    typed: bool = False,
) -> Launch:
    """How to start a program for a person (`own`) or for a project, in a folder.

    What the person `typed` themselves keeps their search path as it is, relative folders too.

    `settings` is what the person's settings add for every program; the definition's own `env` wins over it. `secrets`
    are values in it that are known to be secret; what looks like one besides is found here.
    """
    added = settings or {}
    inherited = {name: value for name, value in where.env.items() if _is_inherited(name, value, own)}
    passed = {name: where.env[name] for name in pass_env if name in where.env and name not in added}
    named = {**added, **passed, **(env or {})}
    given = {**inherited, **named}
    chosen = frozenset(given if typed else env or ())
    given["PATH"] = search_path(given.get("PATH", os.defpath), where.home, chosen="PATH" in chosen)
    withheld = tuple(sorted(name for name in where.env if name not in given))
    named_secrets = (value for name, value in named.items() if is_secret(name, value))
    hidden = list_secrets((*secrets, *named_secrets, *find_in_arguments(argv[1:])))
    return Launch(tuple(argv), given, cwd, withheld, hidden, chosen=chosen)


# --- which variables are inherited --------------------------------------------------------------------------

# What a program needs to run at all: where to find things, the language, and the certificates of a company's network.
_HARMLESS_NAMES = frozenset(
    {
        "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "TERM", "TMPDIR", "TEMP", "TMP", "TZ",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
        "XDG_RUNTIME_DIR", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PATHEXT", "COMSPEC",
    }
)  # fmt: skip


def _is_inherited(name: str, value: str, own: bool) -> bool:
    if own:
        return not is_secret(name, value)
    return name in _HARMLESS_NAMES or name.startswith("LC_")


# --- which variables decide what runs -------------------------------------------------------------------------

# Variables that can replace a program, or make it load other code or load it from elsewhere. Names are compared in
# capitals: npm and every proxy variable are read in either case, and Windows knows no difference at all.
_STEERING = "|".join(
    (
        # Where programs, libraries, settings and plugins are found, in any language.
        r"PATH$|HOME$|_PRELOAD$|(?:OPTS|OPTIONS|FLAGS|MODULES|PLUGINS)$|^XDG_|^USERPROFILE$|^(?:LOCAL)?APPDATA$",
        r"^(?:LD|DYLD)_|^GLIBC_TUNABLES$|^OPENSSL_|^AWS_(?:CONFIG|SHARED_CREDENTIALS)_FILE$|^(?:KUBE|CLOUDSDK_)CONFIG$",
        # Shells, and programs that other programs start.
        r"^BASH_ENV$|^BASH_FUNC_|^ENV$|^ZDOTDIR$|^BASHOPTS$|^PROMPT_COMMAND$|^PS4$|^IFS$|^SHELL$|^COMSPEC$|^PATHEXT$",
        r"ASKPASS$|^(?:VISUAL|EDITOR|PAGER|BROWSER|MANPAGER)$|^LESS(?:OPEN|CLOSE)$",
        r"^GIT_(?!AUTHOR_|COMMITTER_|TOKEN$)",
        # Package managers and runtimes. NODE_ENV is in every other `.env` and loads nothing.
        r"^(?:NPM_CONFIG|YARN|PNPM|COREPACK|BUN|DENO|ELECTRON)_|^NODE_(?!ENV$)",
        r"^PYTHON|^VIRTUAL_ENV$|^(?:UV|PIP|PIPX|PDM|POETRY|CONDA|MAMBA|HATCH)_",
        r"^PERL|^RUBY|^(?:GEM|BUNDLE)_|^PHP|^COMPOSER|^(?:LUA|JULIA|ERL|R)_|^CARGO_|^RUST(?:C|UP)",
        r"^_?JAVA_|^JDK_|^(?:DOTNET|COREHOST|CORECLR|COR|COMPLUS|NUGET)_|^ASPNETCORE_HOSTINGSTARTUPASSEMBLIES$",
        r"^GO(?:PROXY|ROOT|SUMDB|NOSUMDB|NOSUMCHECK|PRIVATE|INSECURE|ENV|TOOLCHAIN|VCS|BIN)$",
        r"^(?:DOCKER|CONTAINERS?|PODMAN|COMPOSE)_",
        # Whom downloads come from, and who may pretend to be them.
        r"_PROXY$|^SSL_CERT_|CA_BUNDLE$|CA_CERTS$",
    )
)


def may_replace_program(name: str) -> bool:
    """Whether a variable of that name can replace a program, or change what it loads."""
    return re.search(_STEERING, name.upper()) is not None


def is_search_path(name: str) -> bool:
    """Whether a variable of that name says where commands are found."""
    return name.upper() == "PATH"


# --- where programs are found -------------------------------------------------------------------------------

_VERSION_MANAGERS = (
    ".local/bin", ".volta/bin", ".local/share/mise/shims", ".asdf/shims", ".pyenv/shims", ".bun/bin", ".deno/bin",
    ".cargo/bin", ".local/share/pnpm", ".nix-profile/bin",
)  # fmt: skip
_SYSTEM_FOLDERS = ("/usr/local/bin", "/opt/homebrew/bin", "/usr/bin", "/bin")
FOLDERS_TRUSTED_FOR = 2.0
"""Seconds for which the folders that were found are not looked for again."""


def default_search_path(where: Paths, settings: Mapping[str, str]) -> str:
    """The search path of whatever is started and has no PATH of its own."""
    return search_path(settings.get("PATH") or where.env.get("PATH", os.defpath), where.home)


def search_path(path: str, home: str, *, chosen: bool = False) -> str:
    """The search path without relative folders, unless it was `chosen`, and after it the folders of version managers.

    Those are added to PATH by a shell's startup files, which a GUI or an agent that starts us has not read.
    """
    kept = path if chosen else drop_relative_folders(path)
    known = [folder for folder in kept.split(os.pathsep) if folder]
    found = _existing_folders(home, int(monotonic() / FOLDERS_TRUSTED_FOR))
    extra = [folder for folder in found if folder not in known]
    return os.pathsep.join([*known, *extra])


# Many servers that start at the same time look only once; `moment` lets the answer expire.
@lru_cache(8)
def _existing_folders(home: str, moment: int) -> tuple[str, ...]:
    return tuple(filter(os.path.isdir, _candidate_folders(home)))


def _candidate_folders(home: str) -> Iterator[str]:
    for folder in _VERSION_MANAGERS:
        yield os.path.join(home, folder)
    # nvm has no shims, only a folder for each version: the newest comes first.
    yield from sorted(_nvm_folders(os.path.join(home, ".nvm/versions/node")), key=_version_of, reverse=True)
    yield from _SYSTEM_FOLDERS


def _nvm_folders(folder: str) -> list[str]:
    try:
        return [os.path.join(folder, name, "bin") for name in os.listdir(folder)]
    except OSError:
        return []


def _version_of(path: str) -> list[int]:
    """The numbers in `…/v22.1.0/bin`."""
    return [int(part) for part in re.findall(r"\d+", os.path.basename(os.path.dirname(path)))]
