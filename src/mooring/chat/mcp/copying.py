"""`/mcp import`: copy servers of other tools into Mooring's own file, after a look at the change, and connect them."""

from mooring.chat.command import CommandFace
from mooring.chat.mcp.connecting import connect
from mooring.chat.mcp.verbs import spell_for_chat
from mooring.discovery.targets import WriteScope
from mooring.display.text import safe_text
from mooring.errors import ConfigError
from mooring.verbs.config.copy_servers import CopyOptions, describe_copied
from mooring.verbs.config.import_servers import STDIN, ImportSource
from mooring.verbs.config.import_servers import import_servers as copy_servers


async def import_servers(
    chat: CommandFace, names: tuple[str, ...], source: str, scope: WriteScope, may_replace: bool, dry_run: bool
) -> None:
    """Copy the servers that are named, or all that Mooring's own files lack. Raises: MooringError."""
    if source == STDIN:
        raise ConfigError("Nothing is piped into a chat; --from takes a tool or a file.")
    options = CopyOptions(scope, may_replace, dry_run)
    session = chat.session
    copying = copy_servers(session.workspace, ImportSource(source), names, options, chat.ask)
    copied = await session.change_files(copying)
    if options.dry_run and copied.diff:
        chat.say(safe_text(copied.diff))
    chat.say(*map(spell_for_chat, describe_copied(copied, session.workspace.where.home)))
    for name in copied.written:
        if _is_waiting(chat, name):
            await connect(chat, name)


def _is_waiting(chat: CommandFace, server: str) -> bool:
    """Whether a server may be started and is not connected: one that was known before goes on as it was."""
    found = chat.session.host.servers.get(server)
    return found is not None and not found.is_connected
