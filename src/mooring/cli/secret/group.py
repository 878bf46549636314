"""`mooring secret`: the table of its commands."""

from mooring.cli.base import LazyGroup, Table

TABLE: Table = {
    "set": ("mooring.cli.secret.set:command", "Store a secret that a definition names as ${keyring:NAME}."),
    "list": ("mooring.cli.secret.list:command", "The names of your secrets, and where each one is stored."),
    "rm": ("mooring.cli.secret.rm:command", "Remove a secret."),
}

group = LazyGroup(
    "secret",
    table=TABLE,
    aliases={"ls": "list", "remove": "rm"},
    help="Keep secrets out of configuration files.",
    no_args_is_help=True,
)
