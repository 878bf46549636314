"""Keyrings as a person's system may have them, each a backend of the package `keyring`.

They are named by PYTHON_KEYRING_BACKEND in programs that tests start. Their values are in the file TEST_KEYRING, so that
two programs see the same.
"""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError, PasswordSetError


class Working(KeyringBackend):
    """Keeps what it is given."""

    priority = 5
    limit = 1_000_000

    def get_password(self, service: str, username: str) -> str | None:
        with _opened() as values:
            return values.get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        if len(password) > self.limit:
            raise PasswordSetError(f"too long: {password}")
        with _opened() as values:
            values[f"{service}/{username}"] = password

    def delete_password(self, service: str, username: str) -> None:
        with _opened() as values:
            if values.pop(f"{service}/{username}", None) is None:
                raise PasswordDeleteError("not there")


class Small(Working):
    """Refuses what is longer than the keyring of Windows takes."""

    limit = 1280


class Cutting(Working):
    """Keeps only the beginning, and says nothing."""

    def set_password(self, service: str, username: str, password: str) -> None:
        super().set_password(service, username, password[:1000])


class Hanging(KeyringBackend):
    """Waits for a dialog that nobody sees."""

    priority = 5

    def get_password(self, service: str, username: str) -> str | None:
        time.sleep(3600)
        return None

    set_password = delete_password = get_password  # type: ignore[assignment]


class Locked(KeyringBackend):
    """Cannot be unlocked, and repeats whatever it was given in its errors."""

    priority = 5

    def get_password(self, service: str, username: str) -> str | None:
        raise KeyringLocked("Failed to unlock the collection!")

    set_password = delete_password = get_password  # type: ignore[assignment]


class Breaking(Working):
    """Answers the first read, and fails from then on with what it was given."""

    def set_password(self, service: str, username: str, password: str) -> None:
        raise RuntimeError(f"cannot keep {password}")


class Plain(Working):
    """Works, but its author does not recommend it."""

    priority = 0.5


@contextmanager
def _opened() -> Iterator[dict[str, str]]:
    path = Path(os.environ["TEST_KEYRING"])
    with open(f"{path}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        values = json.loads(path.read_text()) if path.exists() else {}
        before = dict(values)
        yield values
        if values != before:
            path.write_text(json.dumps(values))
