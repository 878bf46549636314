"""Ends a process in the middle of what it writes into the record."""

import os
import signal
import sqlite3
from typing import Any

KILLED = -signal.SIGKILL


def kill_at_statement(number: int) -> None:
    """End this process when the n-th statement from now on is about to be executed."""
    left = iter(range(number))

    def count(_: str) -> None:
        if next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    def connect(*given: Any, **options: Any) -> sqlite3.Connection:
        connection = sqlite3.dbapi2.connect(*given, **options)
        connection.set_trace_callback(count)
        return connection

    sqlite3.connect = connect  # type: ignore[assignment]
