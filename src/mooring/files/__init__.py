"""The only code that touches disk: bounded reads, locks, and writes that leave the old file or the new one.

Reads never block and never follow a surprise: a FIFO, a device, a folder or a file beyond its limit is a
`FileError` with the reason, a missing file is `None`.
"""

import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice

from mooring.core.units import MIB
from mooring.errors import FileError
from mooring.files.owner import check_file, check_folders, suggest_chmod

LIMIT = MIB
LOCK_SECONDS = 10.0
UPDATE_SECONDS = 60.0
STALE_SECONDS = 3600.0
_ATTEMPTS = 100

# Not every platform has every flag. Without O_NONBLOCK the opening of a named pipe would wait for its other end.
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NOFOLLOW | getattr(os, "O_BINARY", 0)
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NOFOLLOW | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


_PROBE_SIZE = 4096
"""Less might still fit where nothing useful does."""


def read(path: str, limit: int = LIMIT) -> bytes | None:
    """The bytes of a regular file, or `None` where there is none.

    Raises:
        FileError: it is not a regular file, is larger than `limit`, or cannot be read.
    """
    found = _open_and_read(path, limit)
    return None if found is None else found[0]


def read_own(path: str, limit: int = LIMIT) -> bytes | None:
    """The bytes of a file that Mooring believes, or `None` where there is none.

    Nobody but the person and the machine's administrator can have written it.

    Raises:
        FileError: as `read`; or somebody else may change it, or put another file in its place.
    """
    # Checked even if there is no such file: others who can write to its folder may have removed its denies.
    _check_folders_of(path)
    found = _open_and_read(path, limit)
    if found is None:
        return None
    data, status = found
    check_file(path, status)
    return data


def _open_and_read(path: str, limit: int) -> tuple[bytes, os.stat_result] | None:
    try:
        handle = os.open(path, _READ)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise FileError(path, _reason(error)) from None
    try:
        return read_regular(handle, path, limit)
    except OSError as error:
        raise FileError(path, _reason(error)) from None
    finally:
        _close(handle)


def _check_folders_of(path: str) -> None:
    try:
        check_folders(os.path.dirname(path))
    except FileError as error:
        raise FileError(path, f"is not trusted: {error.path} {error.reason}", error.fix) from None


def match_paths(pattern: str, most: int) -> list[str]:
    """The existing paths that match a pattern with one `*` in a folder's or a file's name, sorted, at most `most`."""
    before, _, after = pattern.partition("*")
    folder, _, prefix = before.rpartition("/")
    suffix, _, below = after.partition("/")
    try:
        names = sorted(os.listdir(folder))
    except (OSError, ValueError):
        return []
    fitting = (name for name in names if name.startswith(prefix) and name.endswith(suffix))
    paths = (os.path.join(folder, name, below) if below else os.path.join(folder, name) for name in fitting)
    # Counted last, so that folders without the file do not take the place of those that have it.
    return list(islice(filter(os.path.lexists, paths), most))


def project_folders(cwd: str) -> list[str]:
    """The folders of a project, from `cwd` up to the nearest that holds `.git`; `cwd` alone where none does."""
    folders = [cwd]
    while not os.path.lexists(os.path.join(folders[-1], ".git")):
        parent = os.path.dirname(folders[-1])
        if parent == folders[-1]:
            return [cwd]
        folders.append(parent)
    return folders


def which(command: str, path: str, cwd: str) -> str | None:
    """The file that a command runs: looked up along `path`, or from `cwd` if it names a folder."""
    if os.path.dirname(command):
        candidates = [os.path.join(cwd, os.path.expanduser(command))]
    else:
        # An empty part of the path would mean the working folder, in which a repository could plant a program.
        folders = filter(None, path.split(os.pathsep))
        candidates = [os.path.join(cwd, folder, command) for folder in folders]
    for candidate in candidates:
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK):
            return candidate
    return None


def update(path: str, change: Callable[[bytes], bytes], locks: str, limit: int = LIMIT) -> bool:
    """Change a file that other programs write too, in one step; whether anything was changed.

    `change` gets the file's bytes, none if there is no file. It is called again if another program changed the file in
    the meantime, so nobody's edit is lost. Mooring's own processes take turns by a lock in the folder `locks`: the
    file's own folder may be a repository. A symbolic link is followed.

    Raises:
        FileError: the file cannot be read, written or locked, or changes faster than it can be written.
    """
    with locked(path, UPDATE_SECONDS, locks):
        for _ in range(_ATTEMPTS):
            before = read(path, limit)
            after = change(before or b"")
            if after == (before or b""):
                return False
            if _write_over(path, before, after, limit):
                return True
    raise FileError(path, "is being changed by another program: try again")


def _write_over(path: str, before: bytes | None, after: bytes, limit: int) -> bool:
    """Replace a file if it still has the contents that were read; whether it had."""
    with errors_of(path):
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        make_folder(folder)
        _sweep(folder, os.path.basename(target))
        return _replace(target, folder, after, 0o600, True, lambda: read(path, limit) == before)


def write(path: str, data: bytes, mode: int = 0o600, *, durable: bool = True) -> None:
    """Replace a file's contents in one step; a crash leaves the old file or the new one, never a torn one.

    An existing file keeps its mode; a symbolic link is followed once, so that a linked dotfile stays linked. What need
    not survive a power cut is not `durable`, and does not wait for the disk.

    Raises:
        FileError: the file cannot be written.
    """
    with errors_of(path):
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        make_folder(folder)
        # It looks at the whole folder, so many small files would take quadratic time; their owner trims them.
        if durable:
            _sweep(folder, os.path.basename(target))
        _replace(target, folder, data, mode, durable)


def make_folder(folder: str) -> None:
    """Make a folder and those it is in, as far as they are missing: only their owner may use them, whatever the umask.

    Raises: OSError.
    """
    if os.path.isdir(folder):
        return
    parent = os.path.dirname(folder)
    if parent != folder:
        make_folder(parent)
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
    else:
        # A umask can only take rights away, but it may take them from the owner too.
        os.chmod(folder, 0o700)


def append(path: str, data: bytes, most: int, kept: int) -> None:
    """Add to a file in one step; one that would grow beyond `most` is moved aside first, and `kept` of those stay.

    The files are `path`, then `path.1`, the youngest of those moved aside, and so on. Only their owner can read them.

    Raises:
        FileError: the file cannot be written, or is not a regular file.
    """
    with locked(path), errors_of(path):
        if _length(path) + len(data) > most:
            _rotate(path, kept)
        handle = os.open(path, _APPEND, 0o600)
        try:
            _append(handle, path, data)
        finally:
            os.close(handle)


def create(path: str, parts: Iterable[bytes]) -> int:
    """Write a file that must not exist yet, readable by its owner alone, a part at a time; how many bytes it holds.

    Raises:
        FileError: it cannot be written; nothing is left of it then.
    """
    with errors_of(path):
        make_folder(os.path.dirname(path))
        handle = os.open(path, _WRITE, 0o600)
    written = 0
    try:
        for part in parts:
            write_all(handle, part)
            written += len(part)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(path)
        # What else the parts raise is the caller's own.
        if isinstance(error, OSError):
            raise FileError(path, _reason(error)) from None
        raise
    finally:
        os.close(handle)
    return written


def make_private_folder(path: str) -> None:
    """Make a folder that only its owner can use, if it isn't there yet.

    Raises:
        FileError: it cannot be made, or is a link, or another user can write to it.
    """
    with errors_of(path):
        make_folder(path)
        status = os.lstat(path)
    if not stat.S_ISDIR(status.st_mode):
        raise FileError(path, "is not a folder: remove it")
    if hasattr(os, "geteuid") and status.st_uid != os.geteuid():
        raise FileError(path, "belongs to another user: remove it")
    if status.st_mode & 0o022:
        raise FileError(path, f"can be changed by other users: chmod 700 {path}")


def check_private(path: str, holds: str = "secrets") -> None:
    """See that others cannot read a file, if it exists. Raises: FileError."""
    with errors_of(path):
        try:
            status = os.stat(path)
        except FileNotFoundError:
            return
    if hasattr(os, "geteuid") and status.st_mode & 0o077:
        raise FileError(path, f"holds {holds}, but others may read it", suggest_chmod(path, "go="))


def make_own(path: str, holds: str) -> None:
    """Make an empty file that only the person can use, or check the one that is there.

    For a file that a library opens by its name: nobody else can put another one in its place afterwards. `holds` says
    what others must not read.

    Raises:
        FileError: it cannot be made, is not a regular file, or somebody else can read or change it.
    """
    with errors_of(path):
        make_folder(os.path.dirname(path))
    _check_folders_of(path)
    if os.path.islink(path):
        raise FileError(path, "is a link, not a file", "put the file itself there")
    with errors_of(path):
        handle = os.open(path, os.O_CREAT | _READ | _NOFOLLOW, 0o600)
        try:
            check_file(path, check_regular(handle, path))
        finally:
            os.close(handle)
    check_private(path, holds)


def check_writable(folder: str) -> None:
    """See that something can be stored in a folder of ours, and leave nothing there; a missing one is not made.

    Raises:
        FileError: nothing can be stored there.
    """
    if not os.path.lexists(folder):
        _check_may_be_made(folder)
        return
    probe = f"{folder}/.probe-{os.getpid()}"
    with errors_of(folder):
        try:
            handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        except FileExistsError:  # left by a process of the same number that was killed in between
            return
        try:
            write_all(handle, bytes(_PROBE_SIZE))
        finally:
            os.close(handle)
            os.unlink(probe)


def _check_may_be_made(folder: str) -> None:
    above = os.path.dirname(folder)
    while above != os.path.dirname(above) and not os.path.lexists(above):
        above = os.path.dirname(above)
    # Without a probe: what exists already is somebody else's folder.
    if not os.access(above, os.W_OK | os.X_OK):
        raise FileError(above, "cannot be written to")


def read_part(path: str, offset: int, most: int) -> tuple[bytes, int] | None:
    """Some bytes of a regular file and how many it has in all; `None` where there is no such file.

    Raises:
        FileError: it is not a regular file, or cannot be read.
    """
    with errors_of(path):
        try:
            handle = os.open(path, _READ | _NOFOLLOW)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            size = check_regular(handle, path).st_size
            os.lseek(handle, offset, os.SEEK_SET)
            return os.read(handle, most), size
        finally:
            os.close(handle)


def trim_folder(folder: str, most: int, age: float, keep: str) -> None:
    """Remove the oldest files of a folder until it holds at most `most` bytes and none is older than `age` seconds.

    The file named `keep` stays. What cannot be removed is left.
    """
    with suppress(OSError):
        others = [entry for entry in os.scandir(folder) if entry.name != keep]
        found = [(entry.stat(follow_symlinks=False), entry) for entry in others]
        found.sort(key=lambda each: each[0].st_mtime, reverse=True)
        room = most - _length(os.path.join(folder, keep))
        oldest = time.time() - age
        for status, entry in found:
            room -= status.st_size
            if room < 0 or status.st_mtime < oldest:
                with suppress(OSError):
                    os.unlink(entry.path)


@contextmanager
def locked(path: str, seconds: float = LOCK_SECONDS, folder: str | None = None) -> Iterator[None]:
    """Hold the one lock that goes with a file, across processes: beside it, or in a folder of Mooring's own.

    Raises:
        FileError: another process holds it for longer than `seconds`, or it cannot be made.
    """
    name = _find_lock(path, folder)
    handle = _hold_lock(name, path, seconds)
    try:
        yield
    finally:
        _close(handle)


@contextmanager
def try_locked(path: str) -> Iterator[bool]:
    """Hold the lock that goes with a file, as `locked` does, unless somebody else holds it; whether it is held.

    Raises:
        FileError: it cannot be made.
    """
    name = _find_lock(path, None)
    handle = _open_lock(name, path)
    try:
        yield _try_lock(handle, path) and _is_named(handle, name)
    finally:
        _close(handle)


@contextmanager
def hold_unused_lock(name: str) -> Iterator[bool]:
    """Hold a lock, given by its own name, if no process does at this moment; whether it is held.

    Raises:
        FileError: it cannot be opened.
    """
    with errors_of(name):
        handle = os.open(name, os.O_RDWR | _NOFOLLOW)
    try:
        yield _try_lock(handle, name) and _is_named(handle, name)
    finally:
        _close(handle)


def _find_lock(path: str, folder: str | None) -> str:
    """The name of the lock that goes with a file; the folder it is in is made."""
    with errors_of(path):
        # A file of its own: the one it goes with is replaced by each write, and a lock on it would go with the old one.
        name = _name_lock(os.path.realpath(path), folder)
        make_folder(os.path.dirname(name))
        check_folders(os.path.dirname(name))
        return name


def _open_lock(name: str, path: str) -> int:
    with errors_of(path):
        return os.open(name, os.O_RDWR | os.O_CREAT | _NOFOLLOW, 0o600)


def _hold_lock(name: str, path: str, seconds: float) -> int:
    """An open lock that is held; it is the one that others find under its name, too."""
    while True:
        handle = _open_lock(name, path)
        try:
            _acquire(handle, path, seconds)
            # While this process waited, a lock that nobody held may have been swept away.
            is_current = _is_named(handle, name)
        except BaseException:
            _close(handle)
            raise
        if is_current:
            return handle
        _close(handle)


def _is_named(handle: int, name: str) -> bool:
    """Whether an open file is still the one with that name."""
    try:
        return os.path.samestat(os.fstat(handle), os.lstat(name))
    except FileNotFoundError:
        return False


def _close(handle: int) -> None:
    """Close what nothing was written to: a failure means nothing then, and the handle is gone all the same."""
    with suppress(OSError):
        os.close(handle)


@contextmanager
def errors_of(path: str) -> Iterator[None]:
    """Turn what the system says into a `FileError` that names the file."""
    try:
        yield
    except (OSError, ValueError) as error:
        raise FileError(path, _reason(error)) from None


def check_regular(handle: int, path: str) -> os.stat_result:
    """What the system says about an open file, if it is a regular one. Raises: FileError; OSError."""
    # Checked on the open file: what has that name may be replaced between a look at it and its opening.
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        raise FileError(path, f"is {_kind(status.st_mode)}, not a file")
    return status


def read_regular(handle: int, path: str, limit: int) -> tuple[bytes, os.stat_result]:
    """All of an open file that is a regular one. Raises: FileError; OSError."""
    status = check_regular(handle, path)
    if status.st_size > limit:
        raise FileError(path, f"is larger than {_size(limit)}")
    # The size is only a hint: the file may grow while it is read, and some in /proc have none.
    chunks, total = [], 0
    while chunk := os.read(handle, min(limit + 1 - total, MIB)):
        chunks.append(chunk)
        total += len(chunk)
        if total > limit:
            raise FileError(path, f"is larger than {_size(limit)}")
    return b"".join(chunks), status


def _replace(
    target: str, folder: str, data: bytes, mode: int, durable: bool, is_current: Callable[[], bool] | None = None
) -> bool:
    """Put a new file in the place of another, unless that one is no longer current; whether it was."""
    temporary = _beside(target, f"{os.urandom(8).hex()}.tmp")
    handle = os.open(temporary, _WRITE, 0o600)
    try:
        try:
            write_all(handle, data)
            if hasattr(os, "fchmod"):
                os.fchmod(handle, _mode(target, mode))
            # Before the rename: if that reached the disk first, a power cut would leave an empty file.
            if durable:
                os.fsync(handle)
        finally:
            os.close(handle)
        # At the last moment, when nothing slow is left to do.
        if is_current is not None and not is_current():
            os.unlink(temporary)
            return False
        os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    if durable:
        _sync_folder(folder)
    return True


def write_all(handle: int, data: bytes) -> None:
    """Write all of the data to an open file. Raises: OSError."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _length(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except FileNotFoundError:
        return 0


def _rotate(path: str, kept: int) -> None:
    for number in range(kept, 0, -1):
        older = path if number == 1 else f"{path}.{number - 1}"
        with suppress(FileNotFoundError):
            os.replace(older, f"{path}.{number}")


def _append(handle: int, path: str, data: bytes) -> None:
    size = check_regular(handle, path).st_size
    if size:
        os.lseek(handle, -1, os.SEEK_END)
        if os.read(handle, 1) != b"\n":
            data = b"\n" + data  # the last writer was cut short; its line is lost, this one is not
    write_all(handle, data)


def _mode(target: str, mode: int) -> int:
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return mode
    if not stat.S_ISREG(found):
        raise FileError(target, f"is {_kind(found)}, not a file")
    return stat.S_IMODE(found)


def _sync_folder(folder: str) -> None:
    """Make a rename last: it is a change of the folder, not of the file."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(folder: str, name: str) -> None:
    """Remove what a killed writer left behind long ago."""
    oldest = time.time() - STALE_SECONDS
    for entry in os.scandir(folder):
        is_temporary = entry.name.startswith(f".{name}.") and entry.name.endswith(".tmp")
        if not is_temporary:
            continue
        with suppress(OSError):
            if entry.stat(follow_symlinks=False).st_mtime < oldest:
                os.unlink(entry.path)


def _name_lock(target: str, folder: str | None) -> str:
    if folder is None:
        return _beside(target, "lock")
    from hashlib import sha256  # only when another tool's file is changed

    return os.path.join(folder, f"{sha256(os.fsencode(target)).hexdigest()[:32]}.lock")


def _beside(target: str, suffix: str) -> str:
    folder, name = os.path.split(target)
    return os.path.join(folder, f".{name}.{suffix}")


def _acquire(handle: int, path: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not _try_lock(handle, path):
        if time.monotonic() > deadline:
            raise FileError(path, f"has been locked by another process for more than {seconds:g} seconds")
        time.sleep(0.01)


def _try_lock(handle: int, path: str) -> bool:
    try:
        _lock(handle)
    except OSError as error:
        # Windows says EACCES or EDEADLK of a lock that another process holds.
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return False
        raise FileError(path, f"cannot be locked: {_reason(error)}") from None
    return True


def _lock(handle: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _reason(error: Exception) -> str:
    match error:
        case IsADirectoryError():
            return "is a folder, not a file"
        case PermissionError():
            return "cannot be opened: permission denied"
        case OSError(errno=errno.ENXIO):
            return "is a socket or an unconnected pipe, not a file"
        case OSError(errno=errno.ELOOP):
            return "is a link that leads to itself"
        case OSError(strerror=str(text)) if text:
            return f"cannot be used: {text[0].lower()}{text[1:]}"
        case _:
            return "is not a usable path"


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "something else")


def _size(limit: int) -> str:
    return f"{limit // MIB} MiB" if limit >= MIB else f"{limit} bytes"
