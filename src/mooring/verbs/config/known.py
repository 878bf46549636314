"""What is known of servers without starting them: a missing program or variable, the last failure, their tools."""

import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from msgspec.structs import replace

from mooring import files
from mooring.core.conversation.status_word import StatusWord
from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Broken, ServerConfig, Stdio, suggest_args, suggest_install
from mooring.core.definitions.paths import Paths
from mooring.display.text import safe, short_path
from mooring.inventory.load import Inventory
from mooring.permissions import trust
from mooring.servers.records import Remembered, look_up
from mooring.verbs.config.get import MissingVariable, find_missing_variables
from mooring.verbs.config.list import Row, ServerListing

STOPS = "stops the start"
"""What a missing variable does if the server cannot start without it."""


def add_known(listing: ServerListing, inventory: Inventory, where: Paths) -> ServerListing:
    """The same rows with what is known of each server. Nothing is started, and nothing filled in."""
    servers = {approved.name: approved for approved in _list_startable(inventory)}
    remembered = look_up(servers.values(), where)
    programs = Programs(where, inventory.settings["env"])

    def complete(row: Row) -> Row:
        approved = servers.get(row.name)
        if approved is None or row.shadowed_by is not None:
            return row
        return _add_known(row, approved, remembered.get(row.name, Remembered()), programs)

    return replace(listing, servers=tuple(map(complete, listing.servers)))


def find_known(row: Row, inventory: Inventory, where: Paths) -> Row:
    """The same for one row."""
    one = add_known(ServerListing(1, (row,), ()), inventory, where)
    return one.servers[0]


def list_known_tools(inventory: Inventory, where: Paths) -> dict[str, tuple[str, ...] | None]:
    """The tools of every server that may start, as far as they are known; `None` for one that has never listed any."""
    startable = list(_list_startable(inventory))
    remembered = look_up(startable, where)
    return {approved.name: remembered.get(approved.name, Remembered()).tools for approved in startable}


def _list_startable(inventory: Inventory) -> Iterator[Approved]:
    for choice in inventory.choices:
        config = choice.definition.config
        if isinstance(config, ServerConfig) and config.enabled:
            approved = trust.admit(inventory.approvals, inventory.root, config)
            if approved is not None:
                yield approved


def _add_known(row: Row, approved: Approved, remembered: Remembered, programs: "Programs") -> Row:
    config = approved.config
    trouble, error = _find_trouble(config, approved.folder, remembered, programs)
    # Without any trouble it stays what its definition makes it: idle, or waiting for an input.
    status = row.status if trouble == "idle" else trouble
    tools = None if remembered.tools is None else count_offered(config, remembered.tools)
    return replace(row, status=status, error=error, tools=tools)


def _find_trouble(
    config: ServerConfig, folder: str, remembered: Remembered, programs: "Programs"
) -> tuple[StatusWord, str | None]:
    """The status of a server that is not connected, and the first thing that is wrong with it."""
    command = programs.find_missing(config, folder)
    if command is not None:
        split = suggest_args(command)
        if split:
            return "failed", f"The command has its arguments in the same text; {safe(split)}."
        path = config.origin.path
        fix = suggest_install(short_path(path, programs.where.home) if path else "")
        return "failed", f"The command {safe(command)} is not on PATH; {fix}."
    missing = find_missing_variables(config, programs.where.env)
    unset = describe_unset(missing)
    if remembered.failure is None:
        stops = any(one.effect == STOPS for one in missing)
        return "failed" if stops else "idle", unset
    failure = f"{remembered.failure.describe(time.time())}."
    # An error may name the variables itself, as that of a server that asks for a login does.
    is_new = unset is not None and unset not in failure
    return "needs-auth" if remembered.failure.login else "failed", f"{unset} {failure}" if is_new else failure


def describe_unset(missing: Iterable[MissingVariable]) -> str | None:
    """Which variables are not set, in one sentence; a bare name may be a secret, and only its place is named."""
    names = dict.fromkeys(safe(one.variable or f"the variable in {one.where}") for one in missing)
    if not names:
        return None
    verb = "is" if len(names) == 1 else "are"
    return f"{' and '.join(names)} {verb} not set."


def count_offered(config: ServerConfig, names: Iterable[str]) -> int:
    """How many of a server's tools its definition lets through."""
    names = tuple(names)
    if config.tools_allow is None and not config.tools_deny:
        return len(names)
    from mooring.core.text.glob import NameFilter  # lazy: few definitions filter their tools

    return sum(map(NameFilter(config.tools_allow, config.tools_deny).lets_through, names))


def describe_definition(config: ServerConfig | Broken, home: str) -> str:
    """How a server is reached, and the file that says so."""
    origin = config.origin
    if origin.path is None:
        return f"{config.transport}, as given"
    return f"{config.transport}, from {origin.tool}, {origin.shown_scope}: {short_path(origin.path, home)}"


def describe_approval(approved: Approved) -> str:
    """Why a server may be started."""
    if approved.config.origin.path is None:
        return "not needed: you named it"
    return "not needed: your own configuration" if approved.own else "approved for this project"


class Programs:
    """Looks for the programs of servers where a start would look for them, for each command once."""

    def __init__(self, where: Paths, settings_env: Mapping[str, str]) -> None:
        self.where = where
        self._settings_env = settings_env
        self._is_there = cache(self._look_for)

    def find_missing(self, config: ServerConfig, folder: str) -> str | None:
        """The command of a server if there is no such program; `None` also where only its start can tell."""
        program = config.connection
        if not isinstance(program, Stdio) or "PATH" in program.env:
            return None
        command = program.command.plain
        # A path is looked for from the folder that the program starts in.
        if command is None or (program.cwd is not None and "/" in command):
            return None
        return None if self._is_there(command, folder) else command

    def _look_for(self, command: str, folder: str) -> bool:
        path = self._settings_env.get("PATH") or self.where.env.get("PATH", "")
        if files.which(command, path, folder):
            return True
        # Lazy: most programs are found without the folders of version managers.
        from mooring.servers.launch.environment import default_search_path

        return files.which(command, default_search_path(self.where, self._settings_env), folder) is not None
