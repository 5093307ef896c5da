"""Requests of many threads: as many at a time as the service has places."""

from __future__ import annotations

import contextlib
import itertools
import math
import threading
from collections.abc import Callable, Iterator


class Gate:
    """Lets requests in, the oldest one first.

    The number of places is not known and not limited until the service refuses a request. Then it is the number of the
    others under way, and grows by one with each success. Other clients may leave, too: so the oldest request also tries
    without a place after each pause that the service asked for.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._waiting: set[int] = set()
        self._under_way = 0
        self._places: float = math.inf
        self._pause_s = 0.0

    def __reduce__(self) -> tuple[type[Gate], tuple[()]]:
        # A Lab may be sent to another process, which has requests of its own.
        return Gate, ()

    @contextlib.contextmanager
    def place(self) -> Iterator[Callable[[float], bool]]:
        """A place for one request.

        Yields:
            A function to call when the service had no place, with the pause that it asks for. It waits, or is False at
            once if no other request is under way.
        """
        with self._changed:
            number = next(self._numbers)
            self._wait(number)
            self._under_way += 1
        succeeded = False
        try:
            yield lambda pause_s: self._is_next(number, pause_s)
            succeeded = True
        finally:
            with self._changed:
                self._under_way -= 1
                self._places += succeeded
                self._changed.notify_all()

    def _is_next(self, number: int, pause_s: float) -> bool:
        with self._changed:
            self._pause_s = pause_s
            others = self._under_way - 1
            self._places = max(1, others)
            if others == 0:
                return False
            self._under_way = others
            try:
                self._wait(number)
            finally:
                # Even after an interrupt, because the place is then left.
                self._under_way += 1
            return True

    def _wait(self, number: int) -> None:
        def is_oldest() -> bool:
            return number == min(self._waiting)

        self._waiting.add(number)
        try:
            has_turn = False
            while not has_turn:
                self._changed.wait_for(is_oldest)
                self._changed.wait_for(lambda: is_oldest() and self._under_way < self._places, self._pause_s)
                has_turn = is_oldest()
        finally:
            self._waiting.remove(number)
            self._changed.notify_all()
