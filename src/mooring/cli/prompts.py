"""`mooring prompts`: lists the prompts of servers."""

from typing import Any

from mooring.cli.base import Globals
from mooring.cli.resources import show_offered


def run(options: Globals, name: str | None, **server: Any) -> None:
    """The prompts of all servers, or of one."""
    show_offered(options, "prompts", name, server)
