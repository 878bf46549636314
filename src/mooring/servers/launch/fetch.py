"""The one place where something is read or run for a definition, and only what its act describes."""

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from mooring import files
from mooring.auth.store import SecretStore
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import ServerConfig
from mooring.core.definitions.paths import Paths
from mooring.core.definitions.template import CommandPart, Gap, InputPart, SecretPart, Template
from mooring.display.text import safe
from mooring.errors import FileError, NotApproved, ParseError
from mooring.servers.launch.act import ENV_FILE_CONTENT, HELPER_OUTPUT, OWN_ADDRESS, Act, Use
from mooring.servers.launch.inputs import Secrets, find_input
from mooring.servers.launch.shell import CommandFailed
from mooring.syntax.parse import parse

if TYPE_CHECKING:
    from mooring.auth.logins import Logins, LoginTarget, StoredLogin


MAX_VALUE_FILE = 64 * 1024
"""The largest file that can be a value, in bytes."""

RunCommand: TypeAlias = Callable[[str], Awaitable[str | CommandFailed]]


class ActFetcher:
    """Reads and runs what the act of one definition describes.

    Each method says where the value will go, its `slot`, and raises `NotApproved` if the act has no such use.
    """

    def __init__(
        self, act: Act, approved: Approved, where: Paths, *, secrets: Secrets, store: SecretStore, run: RunCommand
    ) -> None:
        self._uses = {use.key for use in act}
        self._approved = approved
        self._where = where
        self._secrets = secrets
        self._store = store
        self._run = run

    def read_variable(self, name: str, slot: str) -> str | None:
        """A variable of the person's environment."""
        self._require(Use("variable", name, slot))
        return self._where.env.get(name)

    def read_file(self, path: str, slot: str) -> str | CommandFailed:
        """The text of a file that is a value."""
        self._require(Use("file", path, slot))
        folder = value_file_folder(self._approved.config, self._approved.folder)
        return read_value_file(resolve_path(path, folder, self._where.home))

    def read_env_file(self, template: Template, path: str) -> str | CommandFailed:
        """The text of the `envFile` that a template leads to."""
        self._require(Use("file", template.text, ENV_FILE_CONTENT))
        return read_value_file(resolve_path(path, self._approved.folder, self._where.home))

    def read_answer(self, part: InputPart, slot: str) -> str | None:
        """What the person answered, or the default."""
        self._require(Use("question", part.id, slot))
        return find_input(self._approved, part, self._secrets)

    def read_tool_secret(self, part: SecretPart, slot: str) -> str | None:
        """A secret that another tool keeps, or the variable that takes its place."""
        self._require(Use("secret", part.name, slot))
        given = self._where.env.get(part.name) if part.variable else None
        return given or find_stored_secret(part, self._approved.config.origin.path)

    async def read_own_secret(self, name: str, slot: str) -> str | None:
        """A secret of Mooring's store; `None` if it is not stored. Raises: as the store."""
        self._require(Use("secret", name, slot))
        return await self._store.get("secret", name)

    async def read_token(self, credential: str, slot: str, url: str | None) -> str | None:
        """The token of a login by its id, or if the act says so, the secret of that name; `None` if there is none.

        `url` is the server's address, `None` for a program. Raises: as the store.
        """
        from mooring.auth.logins import find_login_token  # few definitions name one

        self._require(Use("login", credential, slot))
        found = await find_login_token(self._store, credential, url)
        if found is not None or not self._has(Use("secret", credential, slot)):
            return found.token if found else None
        return await self.read_own_secret(credential, slot)

    async def find_own_login(self, logins: "Logins", target: "LoginTarget") -> "StoredLogin | None":
        """What is stored of a login at the server's own address. Raises: as the store."""
        self._require(Use("login", "", OWN_ADDRESS))
        return await logins.find_login(target.url, target.options.client_id)

    async def run_command(self, command: CommandPart, line: str, slot: str) -> str | Gap:
        """What a command prints; each line is run once. `line` is the command's with its placeholders filled in."""
        self._require(Use("command", command.written_line, slot))

        async def run() -> str | Gap:
            output = await self._run(line)
            return Gap(f"comes from a command that {output.how}") if isinstance(output, CommandFailed) else output

        return await self._secrets.fetch_once(("command", line, self._approved.folder), run)

    async def run_helper(
        self, template: Template, run: Callable[[], Awaitable[str | CommandFailed]]
    ) -> str | CommandFailed:
        """What a headers helper prints. It is run for each connection: it is meant for tokens that expire."""
        self._require(Use("command", template.text, HELPER_OUTPUT))
        return await run()

    def _has(self, use: Use) -> bool:
        return use.key in self._uses

    def _require(self, use: Use) -> None:
        if not self._has(use):
            what = f"the {use.kind} {safe(use.what)}".rstrip() + f" for {safe(use.slot)}"
            raise NotApproved(self._approved.name, f"would use {what}, which its description does not have")


def resolve_path(path: str, folder: str, home: str) -> str:
    """A path in the person's home if it begins with `~`, or else in a folder."""
    if path == "~" or path.startswith("~/"):
        return home + path[1:]
    return os.path.join(folder, path)


def value_file_folder(config: ServerConfig, project: str) -> str:
    """The folder that `{file:…}` starts from."""
    # That of the file that names it, as in OpenCode, the one tool that documents where it looks.
    folder = os.path.dirname(config.origin.path or "")
    return folder if os.path.isabs(folder) else project


def read_value_file(path: str) -> str | CommandFailed:
    """The text of a file that is a value, or holds some."""
    try:
        data = files.read(path, MAX_VALUE_FILE)
        return CommandFailed("does not exist") if data is None else data.decode()
    except FileError as error:
        return CommandFailed(error.reason)
    except UnicodeDecodeError:
        return CommandFailed("is not text")


def find_stored_secret(secret: SecretPart, config: str | None) -> str | None:
    """The secret, if its tool keeps it in a file that can be read; `config` is the file that names it."""
    if secret.keeper != "goose" or config is None:
        return None
    # Goose falls back to this file if the machine has no keyring.
    try:
        data = files.read(os.path.join(os.path.dirname(config), "secrets.yaml"))
        stored = None if data is None else parse(data, "yaml").data
    except (FileError, ParseError):
        return None
    value = stored.get(secret.name) if isinstance(stored, Mapping) else None
    # The exact type: in Python, true and false are ints.
    return str(value) if type(value) in (str, int) else None
