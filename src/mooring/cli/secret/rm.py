"""`mooring secret rm NAME`: removes a secret."""

from mooring.cli.base import Globals, print_json, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.verbs.config.secrets import remove_secret


def run(options: Globals, name: str) -> None:
    """Remove a secret."""
    run_until_interrupted(remove_secret(options.request().where, name))
    if options.json:
        print_json({"removed": name})
    else:
        say(f"Removed {name}.")
