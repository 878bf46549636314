"""Factory droid: the person's own entry wins over the project's of the same name."""

from mooring.discovery.format import COMMON, Format, fields, project_file, user_file

# The documentation says `timeoutMs`, the shipped schema `timeout`.
_FIELDS = {
    **COMMON,
    **fields(timeout="call_timeout", timeoutMs="call_timeout", connectTimeout="start_timeout",
             enabledTools="tools_allow", disabledTools="tools_deny"),
}  # fmt: skip

FORMAT = Format(
    tool="factory",
    title="Factory droid",
    places=(
        project_file(".factory/mcp.json"),
        user_file("~/.factory/mcp.json"),
        user_file("{app}/Factory Bridge/mcp.json", platform="darwin"),
    ),
    fields=_FIELDS,
    untyped_url=None,
    user_first=True,
)
