"""`mooring sessions`: the table of its commands. Without a verb it shows sessions, or the one whose id it is given."""

from mooring.cli.base import ShowGroup, Table
from mooring.cli.sessions.ids import list_ids

TABLE: Table = {
    "show": ("mooring.cli.sessions.show:command", "The conversations of this folder, or all that was said in one."),
    "rm": ("mooring.cli.sessions.rm:command", "Remove a conversation, or all of them."),
}


group = ShowGroup(
    "sessions",
    table=TABLE,
    aliases={"list": "show", "ls": "show", "remove": "rm"},
    list_names=list_ids,
    help="Conversations that can be continued. `mooring sessions` lists those of this folder, `mooring sessions ID` "
    "shows one.",
)
