"""The servers by name: how each is started, and the tools it offers."""

from pathlib import Path
from typing import NamedTuple

from install import node, python

SERVERS = Path(__file__).parent / "servers"
OURS = ("echo", "add", "slow", "fail")
"""The tools of the servers in `servers/`, whatever they are made with."""


class Made(NamedTuple):
    """A server of ours, made with one generation of an SDK."""

    room: str
    script: str
    version: str
    """The beginning of the version that it tells; the second SDK leaves it to the server, and ours tells none."""
    revision: str
    outlives_a_cancel: bool = True
    """Servers of the official SDK before 1.12.3 end when they are told that a call is cancelled."""

    @property
    def command(self) -> list[str]:
        return [python(self.room), str(SERVERS / self.script)]


GENERATIONS = (
    Made("mcp-1.2", "sdk_1.py", "1.2.", "2024-11-05", outlives_a_cancel=False),
    Made("mcp-1.6", "sdk_1.py", "1.6.", "2024-11-05", outlives_a_cancel=False),
    Made("mcp-1.12", "sdk_1.py", "1.12.", "2025-06-18"),
    Made("mcp-1.30", "sdk_1.py", "1.30.", "2025-11-25"),
    Made("mcp-2.3", "sdk_2.py", "", "2026-07-28"),
    Made("fastmcp", "fast.py", "4.", "2026-07-28"),
)
NEWEST = GENERATIONS[4]

EVERYTHING = node("server-everything")
FILESYSTEM = node("server-filesystem")
MEMORY = node("server-memory")
THINKING = node("server-sequential-thinking")
GIT = [python("published"), "-m", "mcp_server_git"]
TIME = [python("published"), "-m", "mcp_server_time", "--local-timezone", "Europe/Berlin"]

TOOLS = {
    "everything": (
        "echo", "get-annotated-message", "get-env", "get-resource-links", "get-resource-reference",
        "get-structured-content", "get-sum", "get-tiny-image", "gzip-file-as-resource", "toggle-simulated-logging",
        "toggle-subscriber-updates", "trigger-long-running-operation", "simulate-research-query",
    ),
    "filesystem": (
        "read_file", "read_text_file", "read_media_file", "read_multiple_files", "write_file", "edit_file",
        "create_directory", "list_directory", "list_directory_with_sizes", "directory_tree", "move_file",
        "search_files", "get_file_info", "list_allowed_directories",
    ),
    "memory": (
        "create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations",
        "delete_relations", "read_graph", "search_nodes", "open_nodes",
    ),
    "thinking": ("sequentialthinking",),
    "git": (
        "git_status", "git_diff_unstaged", "git_diff_staged", "git_diff", "git_commit", "git_add", "git_reset",
        "git_log", "git_create_branch", "git_checkout", "git_show", "git_branch",
    ),
    "time": ("get_current_time", "convert_time"),
}  # fmt: skip

ON_REQUEST = ("get-roots-list", "trigger-elicitation-request", "trigger-url-elicitation", "trigger-sampling-request")
"""What server-everything offers besides to a client that can answer."""


def names(listing: object) -> tuple[str, ...]:
    """The names in a listing, in its order."""
    return tuple(item.name for item in listing.items)
