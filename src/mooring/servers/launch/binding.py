"""Whether a definition still leads to what was approved: the same program or origin, and the same files."""

from collections.abc import Mapping

from mooring.core.definitions.approved import Approved
from mooring.core.definitions.config import Stdio
from mooring.core.definitions.paths import Paths
from mooring.display.text import safe
from mooring.errors import NotApproved
from mooring.servers.launch.act import describe_act, list_unshown
from mooring.servers.launch.environment import default_search_path
from mooring.servers.launch.target import UNRESOLVED, resolve_target


def check_approval(approved: Approved, where: Paths, env: Mapping[str, str]) -> None:
    """See whether a definition still stands for what was approved; `env` is what settings add. Raises: NotApproved."""
    if approved.target is not None:
        path = default_search_path(where, env)
        _check_target(approved, resolve_target(approved.config.connection, approved.folder, where, path))
    if not approved.own:
        _check_uses(approved)
        _check_files(approved, where)


def _check_target(approved: Approved, now: str | None) -> None:
    """Compare what would be started or reached with what was approved. Raises: NotApproved."""
    before = approved.target
    # If it can't be found, the start itself has the better explanation.
    if before is None or now in (before, None, UNRESOLVED):
        return
    if before == UNRESOLVED:
        raise NotApproved(approved.name, f"led nowhere when it was approved, and now leads to {now}")
    other = "another program" if isinstance(approved.config.connection, Stdio) else "another address"
    raise NotApproved(approved.name, f"now leads to {other} ({before}, now {now})")


def _check_uses(approved: Approved) -> None:
    """See that the person was shown everything that it uses when they approved it. Raises: NotApproved."""
    unshown = list_unshown(describe_act(approved.config, own=False), approved.shown)
    if unshown:
        names = " and ".join(f"the {use.kind} {safe(use.what)}" for use in unshown)
        reason = f"uses {names} for more than the question that you answered showed"
        raise NotApproved(approved.name, reason)


def _check_files(approved: Approved, where: Paths) -> None:
    """Compare what the files it names lead to, and set, with what was approved. Raises: NotApproved."""
    # Lazy: a project's alone.
    from mooring.servers.launch.named_files import bind_files, describe_bound, find_argument_paths, find_named_files

    in_arguments = find_argument_paths(approved.config, approved.folder, where)
    read = find_named_files(approved.config, approved.folder, where)
    named = (*read, *(path.file for path in in_arguments))
    if bind_files(named) != approved.files:
        now = describe_bound(named) or "its files no longer set what they did"
        raise NotApproved(approved.name, f"now loads or reads something different from when it was approved: {now}")
