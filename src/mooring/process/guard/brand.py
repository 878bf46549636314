"""A brand that every process below the guard carries, and that no server can take off: a resource limit.

A server can leave its session and clear its environment, and once the guard is killed, its parent says nothing either.
A hard limit goes on to every descendant, and only root may raise it. Linux has not used RLIMIT_LOCKS
since version 2.4.25, so its value is free to say of which tree a process is: that of the guard, less the tree's number.
"""

from .native import os
from .proc import parent_of, read_file, start_time

_RLIMIT_LOCKS = 10
"""From <asm-generic/resource.h>; Python has no name for it."""
_LINE = b"Max file locks"
GUARD_PROGRAM = b"from guard.main import main"
"""What is on the command line of a guard: see `boot.py`."""
_SPAN = 1 << 32
"""How many numbers lie between two brands."""


def choose_brand() -> int:
    """A brand for another guard, or 0 if there can be none.

    A host that has a limit of its own is most likely below a guard already. That guard's brand stays then, and it is
    that guard which ends what escapes.
    """
    limits = read_file(b"/proc/self/limits")
    is_unlimited = limits.partition(_LINE)[2].split()[:1] == [b"unlimited"]
    if not is_unlimited:
        return 0
    return (1 + int.from_bytes(os.urandom(3), "little")) * _SPAN


def set_brand(brand: int, number: int) -> bool:
    """Have everything that is started from now on carry the brand of this tree; numbers may only grow.

    Where a filter of system calls forbids it, the mark in the environment has to do.
    """
    import resource  # a guard that has no brand does without it

    limit = brand - number
    try:
        resource.setrlimit(_RLIMIT_LOCKS, (limit, limit))
    except (OSError, ValueError):
        return False
    return True


def read_tree_number(pid: int, brand: int) -> int:
    """The number of the tree that a process belongs to by its brand; 0 if it has another one or none."""
    limit = _read_limit(pid)
    if limit is None:
        return 0
    number = brand - limit
    return number if 0 < number < _SPAN else 0


def is_stray(pid: int, since: int) -> bool:
    """Whether a process is branded, but below no living guard: a server can lower its limit, but not take it off.

    Its topmost branded ancestor has been orphaned then, and was started after the guard, `since` which it is looked
    for: a daemon with a limit of its own may have been there before. That of any other branded process is its guard.
    """
    if _read_limit(pid) is None:
        return False
    top = pid
    while _read_limit(above := parent_of(top)) is not None:
        top = above
    is_orphan = above == 1 or read_file(b"/proc/%d/comm" % above).strip() == b"systemd"
    is_younger = 0 < since <= start_time(top)
    return is_orphan and is_younger and GUARD_PROGRAM not in read_file(b"/proc/%d/cmdline" % top)


def is_branded() -> bool:
    """Whether this very process is below a guard, or was; it may have lowered its brand, so any limit counts.

    The kernel is asked, and not /proc: in a namespace of its own, a program has another one, or none, where it is the
    first process.
    """
    import resource  # as above

    return resource.getrlimit(_RLIMIT_LOCKS)[1] != resource.RLIM_INFINITY


def has_guard_above() -> bool:
    """Whether a guard is among the processes that started this one."""
    above = parent_of(os.getpid())
    while above > 1:
        if GUARD_PROGRAM in read_file(b"/proc/%d/cmdline" % above):
            return True
        above = parent_of(above)
    return False


def _read_limit(pid: int) -> int | None:
    """The value that a process has; `None` if it has no limit, or is gone."""
    found = read_file(b"/proc/%d/limits" % pid).partition(_LINE)[2].split()[:1]
    return int(found[0]) if found and found[0].isdigit() else None
