"""Garbage collections of a long-running process: new objects often, all objects rarely."""

from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Iterator

import pytest
from iotide.cli.common.garbage_collection import GarbageCollections, return_free_memory, short_collections
from iotide.daemon.loop_timing import memory_bytes

MIB = 1 << 20


class Node:
    """An object in a reference cycle."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def own_collections() -> Iterator[None]:
    gc.disable()
    yield
    gc.unfreeze()
    gc.enable()


def test_new_garbage_is_freed_and_survivors_are_not_examined_again() -> None:
    now = [0.0]
    collections = GarbageCollections(lambda: 100 * MIB, lambda: now[0])
    node = Node()
    kept, dropped = weakref.ref(node), weakref.ref(Node())
    collections.step()
    assert dropped() is None
    del node
    collections.step()
    assert kept() is not None  # it is frozen
    assert collections.complete == 1
    now[0] = 599.0
    collections.step()
    assert kept() is not None
    now[0] = 600.0
    collections.step()
    assert kept() is None
    assert collections.complete == 2


def test_all_objects_are_examined_early_when_the_memory_has_doubled() -> None:
    memory = [400 * MIB]
    collections = GarbageCollections(lambda: memory[0], lambda: 0.0)
    node = Node()
    kept = weakref.ref(node)
    collections.step()
    del node
    memory[0] = 800 * MIB
    collections.step()
    assert kept() is not None
    memory[0] += 1
    collections.step()
    assert kept() is None


def test_all_objects_are_examined_less_often_if_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def slow_collect() -> int:
        now[0] += 2.0
        return 0

    monkeypatch.setattr(gc, "collect", slow_collect)
    collections = GarbageCollections(lambda: 100 * MIB, lambda: now[0])
    now[0] = 4001.0
    collections.step()
    assert collections.complete == 1
    collections.step()
    assert collections.complete == 2


@pytest.mark.parametrize(("took_s", "expected"), [(0.0, [10.0, 20.0, 30.0, 40.0]), (0.004, [10.0, 30.0])])
def test_free_memory_is_returned_at_intervals_and_less_often_if_it_takes_long(
    took_s: float, expected: list[float]
) -> None:
    now, spent, returns = [0.0], [0.0], list[float]()

    def return_memory() -> None:
        returns.append(now[0])
        spent[0] += took_s

    collections = GarbageCollections(lambda: 100 * MIB, lambda: now[0], return_memory, lambda: spent[0])
    for second in range(1, 46):
        now[0] = float(second)
        collections.step()
    assert returns == expected


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc")
def test_memory_between_used_blocks_is_returned() -> None:
    block = 64 << 10  # smaller than what the C library maps for itself
    libc = ctypes.CDLL(None)
    libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]
    blocks = [ctypes.c_void_p(libc.malloc(block)) for _ in range(2000)]
    for each in blocks:
        assert each.value is not None
        ctypes.memset(each.value, 1, block)
    for each in blocks[:-1]:  # the last one prevents a return by itself
        libc.free(each)
    before = memory_bytes()
    return_free_memory()
    assert memory_bytes() < before - 1500 * block
    libc.free(blocks[-1])


async def test_thresholds_of_python_return_at_the_end() -> None:
    before, frozen = gc.get_threshold(), gc.get_freeze_count()
    async with short_collections(lambda: 100 * MIB):
        assert gc.get_threshold()[2] > before[2]
        assert gc.get_freeze_count() > frozen
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
