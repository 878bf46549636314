"""The verbs for a person's secrets: store, list and remove them, and say which store takes them."""

import re
from collections.abc import Iterator

from mooring.auth.store import SecretStore, StoredSecret, StoreInfo, values_path
from mooring.core.definitions.paths import Paths, Workspace
from mooring.core.definitions.template import SECRET_NAME
from mooring.core.text.suggestions import nearest
from mooring.display.text import safe, short_path
from mooring.display.times import format_local
from mooring.errors import ConfigError
from mooring.verbs.config.rules import refuse_below_mooring
from mooring.verbs.verb import Shown, ShownLine, ShownTable, VerbResult


def name_secret(server: str, key: str) -> str:
    """The name under which a secret of a server is stored: the server's, and that of what it is for."""
    return re.sub(r"[^A-Za-z0-9_.-]", "_", f"{server}.{key}").lstrip(".-")[:128]


async def store_secret(where: Paths, name: str, value: str) -> StoredSecret:
    """Store a secret under a name, in the store that takes new secrets today; where it is now.

    Raises:
        ConfigError: the name or the value cannot be one.
        StoreUnavailable, FileError: the store cannot be used.
    """
    check_secret_name(name)
    return await SecretStore(where).set("secret", name, value, "preferred")


async def list_stored_secrets(where: Paths) -> tuple[StoredSecret, ...]:
    """The person's secrets by name, without their values. Raises: FileError."""
    return await SecretStore(where).list("secret")


async def list_secrets(workspace: Workspace) -> VerbResult:
    """The names of the person's secrets, and where each one is stored. Raises: FileError."""
    stored = await list_stored_secrets(workspace.where)
    return VerbResult({"secrets": stored}, _show_secrets(stored))


def _show_secrets(stored: tuple[StoredSecret, ...]) -> Iterator[Shown]:
    if not stored:
        yield ShownLine("No secrets are stored. To store one: mooring secret set NAME", is_hint=True)
        return
    rows = [(safe(each.name), each.store, format_local(each.at), safe(each.why)) for each in stored]
    yield ShownTable([("NAME", "STORE", "STORED", "WHY THERE"), *rows])


async def forget_secret(workspace: Workspace, name: str) -> VerbResult:
    """Remove a secret, and say so. Raises: as `remove_secret`."""
    refuse_below_mooring("mooring secret rm")
    await remove_secret(workspace.where, name)
    return VerbResult({"removed": name}, [ShownLine(f"Removed {name}.")])


async def remove_secret(where: Paths, name: str) -> None:
    """Remove a secret.

    Raises:
        ConfigError: there is none of that name.
        StoreUnavailable, FileError: the store cannot be used.
    """
    check_secret_name(name)
    store = SecretStore(where)
    if await store.delete("secret", name):
        return
    near = nearest(name, [secret.name for secret in await store.list("secret")], 1)
    hint = f"Did you mean {near[0]}?" if near else "`mooring secret list` shows those that are stored."
    raise ConfigError(f"There is no secret {name}. {hint}")


async def describe_store(where: Paths) -> StoreInfo:
    """The store that takes new secrets, and why that one. Raises: nothing."""
    return await SecretStore(where).which()


def describe_stored(stored: StoredSecret, where: Paths) -> str:
    """Where a secret is now, and why there if it is in the file."""
    match stored.store:
        case "keyring":
            return f"Stored {stored.name} in the system keyring."
        case "file":
            path = safe(short_path(values_path(where), where.home))
            return f"Stored {stored.name} in {path}, which only you can read, because {safe(stored.why)}."


def check_secret_name(name: str) -> None:
    """Refuse what cannot be a secret's name. Raises: ConfigError."""
    # The text is not repeated: who types NAME=VALUE has put the secret into it.
    if not re.fullmatch(SECRET_NAME, name):
        raise ConfigError("A secret's name may have letters, digits, `_`, `.` and `-` only, at most 128 of them.")
