"""`mooring sessions`: the table of its commands. Without a verb it shows sessions, or the one whose id it is given."""

import click
from click.shell_completion import CompletionItem

from mooring.cli.base import LazyGroup, Table
from mooring.cli.sessions.ids import list_ids

TABLE: Table = {
    "show": ("mooring.cli.sessions.show:command", "The conversations of this folder, or all that was said in one."),
    "rm": ("mooring.cli.sessions.rm:command", "Remove a conversation, or all of them."),
}


class _SessionsGroup(LazyGroup):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        verbs = {*self.table, *self.aliases}
        needs_help = set(args) <= set(ctx.help_option_names) and bool(args)
        # A shell that completes the first word is offered the verbs as well.
        is_completed = ctx.resilient_parsing and not args
        if verbs.isdisjoint(args) and not needs_help and not is_completed:
            args = ["show", *args]
        return super().parse_args(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        ids = [CompletionItem(id) for id in list_ids(ctx, incomplete)]
        return [*super().shell_complete(ctx, incomplete), *ids]


group = _SessionsGroup(
    "sessions",
    table=TABLE,
    aliases={"list": "show", "ls": "show", "remove": "rm"},
    help="Conversations that can be continued. `mooring sessions` lists those of this folder, `mooring sessions ID` "
    "shows one.",
)
