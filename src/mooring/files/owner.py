"""Who owns files: Mooring trusts only files that belong to the person and that nobody else can change.

Another user of the machine who could write `approvals.json` would decide what runs here as this person. A refusal comes
with the command that fixes it.
"""

import os
import stat
from collections.abc import Iterator

from mooring.errors import FileError

# Windows has neither owners nor modes in this sense: what a person's folder holds is theirs there.
_HAS_OWNERS = hasattr(os, "geteuid")


def check_file(path: str, status: os.stat_result) -> None:
    """Check that only the person themselves, or the machine's administrator, can have written a file.

    Raises:
        FileError: somebody else can; says what to do.
    """
    if not _HAS_OWNERS:
        return
    if not _is_trusted(status.st_uid):
        owner = name_user(status.st_uid)
        raise FileError(path, f"is not trusted, because it belongs to another user ({owner})", _suggest_chown(path))
    if _may_others_write(status):
        raise FileError(path, "is not trusted, because others can write to it", suggest_chmod(path))


def check_folders(folder: str) -> None:
    """Check that nobody else can put another file into a folder, or another folder in its place.

    Folders that don't exist yet are skipped: those that will be made are the person's alone.

    Raises:
        FileError: somebody else can; says what to do.
    """
    if not _HAS_OWNERS:
        return
    folder = os.path.realpath(folder)
    above: os.stat_result | None = None
    for path, status in _existing_folders(folder):
        if status.st_uid == os.geteuid():
            # In a sticky folder such as /tmp nobody can remove or rename what belongs to others.
            if _may_others_write(status) and not status.st_mode & stat.S_ISVTX:
                raise FileError(path, "is a folder that others can write to", suggest_chmod(path))
        elif (path == folder or _is_intruder(above)) and not _is_trusted(status.st_uid):
            owner = name_user(status.st_uid)
            raise FileError(path, f"is a folder that belongs to another user ({owner})", _suggest_chown(path))
        above = status


def is_own_user(uid: int) -> bool:
    """Whether the folders of a user count as the person's own: themselves, the administrator, whoever ran `sudo`."""
    is_sudo = os.geteuid() == 0 and os.environ.get("SUDO_UID") == str(uid)
    return is_sudo or _is_trusted(uid)


def _is_trusted(uid: int) -> bool:
    """Whether this is the person, or the machine's administrator."""
    if uid in (os.geteuid(), 0):
        return True
    # In a container or sandbox with users of its own the machine's files belong to an account that means nobody.
    try:
        return uid == os.stat("/etc").st_uid
    except OSError:
        return False


def _may_others_write(status: os.stat_result) -> bool:
    """Whether anyone but its owner may write to a file or a folder."""
    if status.st_mode & stat.S_IWOTH:
        return True
    return bool(status.st_mode & stat.S_IWGRP) and not _is_private_group(status)


def _existing_folders(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """The folders that a folder is in, from the outside in, and the folder itself."""
    path = ""
    for name in folder.split("/"):
        path = f"{path}/{name}".replace("//", "/")
        try:
            yield path, os.stat(path)
        except OSError:
            return  # not there yet, or not to be looked at; opening a file in it says why


def _is_intruder(above: os.stat_result | None) -> bool:
    """Whether a folder of somebody else lies in one of the person's own.

    A home folder that belongs to another account is not an attack: images for OpenShift and the containers of GitHub
    Actions have such. Root finds everybody's home in a folder of its own.
    """
    return above is not None and above.st_uid == os.geteuid() != 0


def _is_private_group(status: os.stat_result) -> bool:
    """Whether a file's group is its owner's alone.

    Fedora and Ubuntu give each user a group of the same name, and with it a umask that lets the group write.
    """
    import grp  # only where a group may write
    import pwd

    try:
        user = pwd.getpwuid(status.st_uid)
        group = grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    is_same = group.gr_gid == user.pw_gid and group.gr_name == user.pw_name
    return is_same and set(group.gr_mem) <= {user.pw_name}


def suggest_chmod(path: str, rights: str = "go-w") -> str:
    """The command that takes rights from others."""
    return f"to fix it: chmod {rights} {_quote(path)}"


def _suggest_chown(path: str) -> str:
    return f"if it is yours: sudo chown {name_user(os.geteuid())} {_quote(path)}"


def name_user(uid: int) -> str:
    import pwd  # only for a message

    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _quote(path: str) -> str:
    from shlex import quote  # only for a message

    return quote(path)
