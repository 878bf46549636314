"""`mooring secret list`: prints the names of secrets and where each is stored, never a value."""

from mooring.auth.records import StoredSecret
from mooring.cli.base import Globals, print_columns, print_json, say
from mooring.cli.interrupts import run_until_interrupted
from mooring.display.text import safe
from mooring.verbs.config.secrets import list_stored_secrets


def run(options: Globals) -> None:
    """The names of your secrets, and where each one is stored."""
    stored = run_until_interrupted(list_stored_secrets(options.request().where))
    if options.json:
        print_json({"secrets": stored})
    elif stored:
        print_columns([("NAME", "STORE", "STORED", "WHY THERE"), *map(_make_cells, stored)])
    elif not options.quiet:
        say("No secrets are stored. To store one: mooring secret set NAME", err=True)


def _make_cells(secret: StoredSecret) -> tuple[str, ...]:
    return safe(secret.name), secret.store, safe(secret.at[: len("2026-01-31")]), safe(secret.why)
