"""`mooring mcp remove NAME`: takes a server out of the file that it is in."""

from typing import Any

from mooring.cli.base import Globals, print_json, say
from mooring.cli.failure import tell
from mooring.verbs.config.remove import describe_removal, remove


def run(options: Globals, name: str, tool: str | None, scope: Any) -> None:
    """Remove a server from the file that it is in."""
    removal = remove(options.workspace(), name, tool, scope)
    if options.json:
        print_json({"removed": removal})
        return
    done, *notes = describe_removal(removal, options.workspace().where.home)
    say(done)
    for note in notes:
        tell(note)
