"""Order in which waiting batches are sent. It is first in, first out per job, and jobs take turns."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterator
from itertools import count
from typing import Generic, Protocol, TypeVar


class HasJob(Protocol):
    """A queued item."""

    @property
    def job(self) -> str:
        """Job of the item."""
        ...


_Item = TypeVar("_Item", bound=HasJob)


class FairQueue(Generic[_Item]):
    """Queue of items by job.

    Every second item taken is the oldest of all. The others belong to the job that began to wait last, which then moves
    to the end of the line if it has more items. So a job that keeps up waits for few items of a job that catches up,
    and takes at most half of the sending rate from it.
    """

    def __init__(self) -> None:
        self._all: OrderedDict[int, _Item] = OrderedDict()  # by order of arrival
        self._of: OrderedDict[str, deque[int]] = OrderedDict()  # by job; the last one is next
        self._numbers = count()
        self._is_oldest_next = True

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[_Item]:
        return iter(self._all.values())

    def append(self, item: _Item) -> None:
        """Append an item to its job's queue."""
        number = next(self._numbers)
        self._all[number] = item
        self._of.setdefault(item.job, deque()).append(number)

    def take(self) -> _Item:
        """Remove and return the next item; raises KeyError if there is none."""
        if self._is_oldest_next or len(self._of) == 1:
            self._is_oldest_next = False
            return self.take_oldest()
        self._is_oldest_next = True
        job, numbers = self._of.popitem()
        item = self._all.pop(numbers.popleft())
        if numbers:
            self._of[job] = numbers
            self._of.move_to_end(job, last=False)
        return item

    def take_oldest(self) -> _Item:
        """Remove and return the oldest item; raises KeyError if there is none."""
        _, item = self._all.popitem(last=False)
        numbers = self._of[item.job]
        numbers.popleft()
        if not numbers:
            del self._of[item.job]
        return item
