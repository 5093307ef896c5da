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
    others under way, and grows by one with each success.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._numbers = itertools.count()
        self._waiting: set[int] = set()
        self._under_way = 0
        self._places: float = math.inf

    def __reduce__(self) -> tuple[type[Gate], tuple[()]]:
        # A Lab may be sent to another process, which has requests of its own.
        return Gate, ()

    @contextlib.contextmanager
    def place(self) -> Iterator[Callable[[], bool]]:
        """A place for one request.

        Yields:
            A function to call when the service had no place. It waits until another request has left, or is False at
            once if there is no other.
        """
        with self._changed:
            number = next(self._numbers)
            self._wait(number)
            self._under_way += 1
        succeeded = False
        try:
            yield lambda: self._is_next(number)
            succeeded = True
        finally:
            with self._changed:
                self._under_way -= 1
                self._places += succeeded
                self._changed.notify_all()

    def _is_next(self, number: int) -> bool:
        with self._changed:
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
        self._waiting.add(number)
        try:
            self._changed.wait_for(lambda: number == min(self._waiting) and self._under_way < self._places)
        finally:
            self._waiting.remove(number)
            self._changed.notify_all()
