"""Contexts for TLS that read the system's certificates only when a connection needs them."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, get_ident
from typing import Any

_READING = Lock()


class ContextToComplete(ssl.SSLContext):
    """A context without certificates; it becomes an ordinary one when they are read, at the latest by a connection."""

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        read_certificates(self)
        return ssl.SSLContext.wrap_bio(self, *args, **options)

    def wrap_socket(self, *args: Any, **options: Any) -> ssl.SSLSocket:
        read_certificates(self)
        return ssl.SSLContext.wrap_socket(self, *args, **options)


def read_certificates(context: ssl.SSLContext) -> None:
    """Complete a context, or wait for the thread that does; does nothing if it is complete."""
    with _READING:
        if type(context) is ContextToComplete:
            ssl.SSLContext.set_default_verify_paths(context)
            context.__class__ = ssl.SSLContext  # type: ignore[assignment]


@contextmanager
def put_off_certificates() -> Iterator[list[ssl.SSLContext]]:
    """Have this thread make contexts without reading certificates; collects those that verify whom they talk to."""
    read = ssl.SSLContext.set_default_verify_paths
    thread = get_ident()
    collected: list[ssl.SSLContext] = []

    def put_off(context: ssl.SSLContext) -> None:
        if get_ident() != thread or type(context) is not ssl.SSLContext:
            read(context)
            return
        context.__class__ = ContextToComplete
        if context.verify_mode is not ssl.CERT_NONE:
            collected.append(context)

    ssl.SSLContext.set_default_verify_paths = put_off  # type: ignore[method-assign, assignment]
    try:
        yield collected
    finally:
        # Python has it from the class below, where it was all the time.
        del ssl.SSLContext.set_default_verify_paths
