"""The keyring of the person's system.

Whether there is one is found out by reading from it. A backend that can be constructed may still fail at each use, as
Secret Service does over SSH and in containers, or wait for a dialog that nobody sees.

A keyring may show a dialog that is never answered. Neither the event loop nor the end of the program waits for it.
"""

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from msgspec import Struct

from mooring.core.threads import run_bounded
from mooring.display.text import safe
from mooring.errors import StoreUnavailable

if TYPE_CHECKING:
    from keyring.backend import KeyringBackend


T = TypeVar("T")

PROBE_SECONDS = 3.0
ACCESS_SECONDS = 30.0
"""How long one access may take: macOS asks the person whether this program may read a value."""
LEAST_PRIORITY = 1.0
"""The package `keyring` recommends no backend below this: those keep nothing, keep plain text, or ask for a password in
the terminal."""
LONGEST_REASON = 200
_NONE_RUNNING = "this system has no keyring that is running"
_ON_LINUX = ("keyring.backends.SecretService.Keyring", "keyring.backends.kwallet.DBusKeyring")
_BACKENDS = {"darwin": ("keyring.backends.macOS.Keyring",), "win32": ("keyring.backends.Windows.WinVaultKeyring",)}


class NoKeyring(Struct, frozen=True):
    """Why the system has no keyring that can be used, to be read after "because"."""

    why: str


class SystemKeyring:
    """A keyring that has answered once. Each access is bounded: a later one may still wait for a dialog."""

    def __init__(self, backend: "KeyringBackend") -> None:
        self._backend = backend

    @property
    def name(self) -> str:
        return safe(self._backend.name)

    def get(self, service: str, name: str) -> str | None:
        """The value of that name, if it is there. Raises: StoreUnavailable."""
        return self._access(lambda: self._backend.get_password(service, name))

    def set(self, service: str, name: str, value: str) -> bool:
        """Keep a value; whether the keyring returns exactly that from now on. Raises: StoreUnavailable."""
        return self._access(lambda: self._put_and_compare(service, name, value))

    def delete(self, service: str, name: str) -> None:
        """Remove a value, if it is there. Raises: StoreUnavailable."""
        self._access(lambda: self._remove(service, name))

    def _access(self, work: Callable[[], T]) -> T:
        try:
            return run_bounded(work, ACCESS_SECONDS)
        except TimeoutError:
            raise StoreUnavailable(f"{self.name} did not answer within {ACCESS_SECONDS:g} s") from None
        except Exception as error:  # noqa: BLE001 - a backend raises whatever it likes
            # Only the error's name: its text may repeat the value.
            raise StoreUnavailable(f"{self.name} failed ({type(error).__name__})") from None

    def _put_and_compare(self, service: str, name: str, value: str) -> bool:
        from keyring.errors import PasswordSetError

        try:
            self._backend.set_password(service, name, value)
        except (PasswordSetError, ValueError, OSError):
            # Windows keeps no more than 2,560 bytes, and refuses the rest with an error of its own (an OSError).
            return False
        # Some cut what they cannot keep, so that only a read shows what is there.
        return self._backend.get_password(service, name) == value

    def _remove(self, service: str, name: str) -> None:
        from keyring.errors import PasswordDeleteError

        try:
            self._backend.delete_password(service, name)
        except PasswordDeleteError:
            # Backends say this of a value that is not there, too.
            if self._backend.get_password(service, name) is not None:
                raise


def find_keyring(seconds: float = PROBE_SECONDS) -> SystemKeyring | NoKeyring:
    """The system's keyring, if it can be read within `seconds`."""
    try:
        return run_bounded(_probe, seconds)
    except TimeoutError:
        return NoKeyring(f"the system keyring did not answer within {seconds:g} s; it may be locked")
    except Exception as error:  # noqa: BLE001 - a backend raises whatever it likes
        reason = safe(str(error))[:LONGEST_REASON].rstrip(".! ") or type(error).__name__
        return NoKeyring(f"the system keyring failed: {reason}")


def _probe() -> SystemKeyring | NoKeyring:
    backend = _choose_backend()
    if isinstance(backend, NoKeyring):
        return backend
    backend.get_password("mooring", "probe")
    return SystemKeyring(backend)


def _choose_backend() -> "KeyringBackend | NoKeyring":
    from keyring import core  # takes longer to load than a whole listing

    chosen = core.load_env() or _load_configured()
    if chosen is not None:
        return _check_recommended(chosen)
    # By name: to look at all backends, as the package does, loads every plugin, and starts compilers on Linux to find a
    # library of macOS.
    for name in _BACKENDS.get(sys.platform, _ON_LINUX):
        with suppress(RuntimeError, ImportError):  # how a backend says that it cannot be used here
            return core.load_keyring(name)
    return NoKeyring(_NONE_RUNNING)


def _load_configured() -> "KeyringBackend | None":
    """The backend that the person chose in a file of the package, as `keyring --disable` does."""
    from keyring import core

    # A relative folder would let the working folder, a repository perhaps, name the code that is loaded.
    if not os.path.isabs(os.environ.get("XDG_CONFIG_HOME") or "/"):
        return None
    return core.load_config()


def _check_recommended(backend: "KeyringBackend") -> "KeyringBackend | NoKeyring":
    from keyring.backends import fail, null

    if isinstance(backend, null.Keyring):
        return NoKeyring("the system keyring is turned off for Python programs")
    if isinstance(backend, fail.Keyring):
        return NoKeyring(_NONE_RUNNING)
    if float(backend.priority) < LEAST_PRIORITY:
        return NoKeyring(f"{safe(backend.name)} does not protect what it keeps")
    return backend
