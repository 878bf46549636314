"""Questions of one conversation, one at a time: which of how many each is, and what waits until it is answered."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from msgspec import Struct


class QuestionPlace(Struct, frozen=True):
    """Which question it is of those that were put one after another."""

    number: int
    total: int
    """With those that wait behind it."""


class QuestionQueue:
    """Counts the questions that wait, and holds what is to be shown back while one of them is open.

    What is printed between a question and its answer would be taken for a part of it.
    """

    def __init__(self) -> None:
        self._waiting = 0
        self._opened = 0
        self._is_open = False
        self._held: list[Callable[[], object]] = []

    @contextmanager
    def join(self) -> Iterator[None]:
        """Wait for the turn of a question, and be counted until it is answered."""
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._opened = 0

    @property
    def is_single(self) -> bool:
        """Whether no more than one question waits or is open."""
        return self._waiting <= 1

    @contextmanager
    def open(self) -> Iterator[QuestionPlace]:
        """Put a question that has joined."""
        self._opened += 1
        with self.hold():
            # `_waiting` counts this question and those behind it.
            yield QuestionPlace(self._opened, self._opened + self._waiting - 1)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold back what else is to be shown, and show it at the end."""
        self._is_open = True
        try:
            yield
        finally:
            self._is_open = False
            self._show_held()

    def when_answered(self, show: Callable[[], object]) -> None:
        """Show something now, or once the question that is open is answered."""
        if self._is_open:
            self._held.append(show)
        else:
            show()

    def _show_held(self) -> None:
        held, self._held = self._held, []
        for show in held:
            show()
