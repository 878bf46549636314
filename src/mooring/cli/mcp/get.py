"""`mooring mcp get NAME`: prints one definition in full, with secrets masked."""

from msgspec.structs import replace

from mooring.cli.base import Globals, print_columns, print_json, say
from mooring.display.text import safe
from mooring.verbs.config.definition import describe_details
from mooring.verbs.config.get import get_details
from mooring.verbs.config.known import find_known


def run(options: Globals, name: str) -> None:
    """One server's definition in full, secrets masked."""
    where = options.workspace().where
    inventory = options.inventory()
    details = get_details(inventory, name, where.env)
    details = replace(details, server=find_known(details.server, inventory, where))
    if options.json:
        print_json(details)
        return
    say(safe(details.server.name), bold=True)
    print_columns([(f"  {label}", text) for label, text in describe_details(details, where.home)])
