"""Completes the names of stored secrets."""

import click

from mooring.cli.base import get_globals
from mooring.cli.interrupts import run_until_interrupted
from mooring.errors import MooringError
from mooring.verbs.config.secrets import list_stored_secrets


def complete_secret(ctx: click.Context, _: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a stored secret."""
    try:
        stored = run_until_interrupted(list_stored_secrets(get_globals(ctx).request().where))
    except MooringError:
        return []
    return [secret.name for secret in stored if secret.name.startswith(incomplete)]
