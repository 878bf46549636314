"""Factory droid: the person's own entry counts before the project's of the same name."""

from mooring.discovery.format import COMMON, Format, fields, project, user

_FIELDS = {
    **COMMON,
    **fields(timeout="call_timeout", timeoutMs="call_timeout", connectTimeout="start_timeout",
             enabledTools="tools_allow", disabledTools="tools_deny"),
}  # fmt: skip

FORMAT = Format(
    tool="factory",
    title="Factory droid",
    places=(
        project(".factory/mcp.json"),
        user("~/.factory/mcp.json"),
        user("{app}/Factory Bridge/mcp.json", only="darwin"),
    ),
    fields=_FIELDS,
    untyped=None,
    user_first=True,
)
