"""The lease of a group, simulated with several aggregators and a store that loses answers, with pauses and no
sockets.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.daemon.journal.jetstream.lease import NO_ENTRY, Action, Entry, Lease

LEASE_S = 5.0
STEP_S = 0.1


class Store:
    """One entry, with compare and set."""

    def __init__(self) -> None:
        self.entries = [NO_ENTRY]
        self.taken: list[tuple[int, str]] = []

    @property
    def entry(self) -> Entry:
        return self.entries[-1]

    def write(self, owner: str, known: int) -> int | None:
        if known != self.entry.revision:
            return None
        if self.entry.owner != owner:
            self.taken.append((known + 1, owner))
        self.entries.append(Entry(known + 1, owner))
        return known + 1


class Player:
    """An aggregator that may stall, whose requests and answers may be lost or late, and that may read old entries."""

    def __init__(self, name: str, store: Store, chance: random.Random, trouble: float) -> None:
        self.lease = Lease(name, LEASE_S)
        self._store, self._chance, self._trouble = store, chance, trouble
        self.answer: Callable[[float], None] | None = None
        """Processes an answer that has arrived."""

    def step(self, now: float) -> None:
        if self.answer is None:
            self._request(now)
            if self._chance.random() < self._trouble:
                return  # it is processed in the next step, maybe after a stall
        if self.answer is not None:
            answer, self.answer = self.answer, None
            answer(now)

    def _request(self, now: float) -> None:
        what = self.lease.due(now)
        if what is None:
            return
        is_lost, answer_is_lost = (self._chance.random() < self._trouble for _ in range(2))
        if what is Action.READ:
            behind = self._chance.random() < self._trouble
            entry = self._store.entries[-2 if behind and len(self._store.entries) > 1 else -1]
            if is_lost or answer_is_lost:
                self.answer = self.lease.on_unanswered
            else:
                self.answer = partial(self.lease.on_read, entry)
            return
        revision = None if is_lost else self._store.write(self.lease.owner, self.lease.entry.revision)
        if is_lost or answer_is_lost:
            self.answer = self.lease.on_unanswered
        elif revision is None:
            self.answer = self.lease.on_refused
        else:
            self.answer = partial(self.lease.on_written, revision, now)


def times(until: float) -> Iterator[float]:
    step = 0
    while step * STEP_S < until:
        yield step * STEP_S
        step += 1


def test_first_one_takes_it_and_the_others_wait() -> None:
    store, chance = Store(), random.Random(1)
    players = [Player(name, store, chance, 0.0) for name in "abc"]
    for now in times(60.0):
        for player in players:
            player.step(now)
    assert [player.lease.is_held for player in players] == [True, False, False]
    assert store.taken == [(1, "a")]
    assert players[0].lease.epoch == 1
    assert players[1].lease.entry.owner == "a"


@pytest.mark.parametrize("gives_back", [False, True])
def test_another_one_takes_over_when_its_time_is_over_or_at_once_when_it_is_given_back(gives_back: bool) -> None:
    store, chance = Store(), random.Random(1)
    first, second = (Player(name, store, chance, 0.0) for name in "ab")
    for now in times(20.0):
        first.step(now)
        second.step(now)
    if gives_back:
        assert store.write("", store.entry.revision) is not None
    gone = 20.0
    while not second.lease.is_held:
        gone += STEP_S
        second.step(gone)
    waited = gone - 20.0
    assert waited < 1.0 if gives_back else LEASE_S - LEASE_S / 4 - STEP_S <= waited < LEASE_S * 1.3
    assert second.lease.epoch > first.lease.epoch
    for late in (gone + LEASE_S, gone + LEASE_S):  # its write is rejected, and it reads the reason
        first.step(late)
    assert first.lease.is_lost
    assert first.lease.due(gone + 100.0) is None


def after_an_outage(of_s: float) -> tuple[Store, Player, Player]:
    """Return a holder and an aggregator that waits, after an outage of the store that began at 20 s."""
    store, chance = Store(), random.Random(1)
    first, second = (Player(name, store, chance, 0.0) for name in "ab")
    for now in times(20.0):
        first.step(now)
        second.step(now)
    first._trouble = second._trouble = 1.0
    for now in times(of_s):
        first.step(20.0 + now)
        second.step(20.0 + now)
    first._trouble = second._trouble = 0.0
    return store, first, second


def test_holder_has_time_for_a_renewal_after_an_outage_of_the_servers() -> None:
    store, first, second = after_an_outage(3 * LEASE_S)
    for now in times(3 * LEASE_S):
        second.step(20.0 + 3 * LEASE_S + now)  # it gets the first answer
        if now >= LEASE_S / 2:
            first.step(20.0 + 3 * LEASE_S + now)
    assert store.taken == [(1, "a")]
    assert first.lease.is_held


def test_the_time_before_an_outage_counts_if_the_holder_does_not_return() -> None:
    _, _, second = after_an_outage(3 * LEASE_S)
    waited = 0.0
    while not second.lease.is_held:
        second.step(20.0 + 3 * LEASE_S + waited)
        waited += STEP_S
    assert LEASE_S / 2 < waited < 0.75 * LEASE_S + STEP_S


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 5), st.sampled_from([0.0, 0.05, 0.3]))
def test_after_any_loss_exactly_one_aggregator_continues(seed: int, count: int, trouble: float) -> None:
    store, chance = Store(), random.Random(seed)
    players = [Player(f"p{number}", store, chance, trouble) for number in range(count)]
    stands_until = dict.fromkeys(range(count), 0.0)
    taken_at_loss: dict[str, int] = {}
    for now in times(200.0):
        for number, player in enumerate(players):
            if now < stands_until[number]:
                continue
            if chance.random() < (0.002 if player.answer is None else 0.1):
                stands_until[number] = now + chance.uniform(0.5, 30.0)
                continue
            player.step(now)
            assert sum(each.lease.is_valid(now) for each in players) <= 1
            if player.lease.is_lost:  # it ends, and its service manager starts another one
                taken_at_loss[player.lease.owner] = len(store.taken)
                players[number] = Player(f"p{number}.{now}", store, chance, trouble)
    epochs = [epoch for epoch, _ in store.taken]
    assert epochs == sorted(set(epochs))
    for lost, before in taken_at_loss.items():  # no aggregator that lost it returns with the same name
        assert lost not in [owner for _, owner in store.taken[before:]]
    for now in times(3 * LEASE_S):
        for player in players:
            player._trouble = 0.0
            player.step(200.0 + 30.0 + now)
    assert [player.lease.owner for player in players if player.lease.is_held] == [store.entry.owner]


def test_holder_that_stalls_after_reading_its_own_entry_does_not_hold_the_lease() -> None:
    store, chance = Store(), random.Random(1)
    first, second = (Player(name, store, chance, 0.0) for name in "ab")
    first.lease.on_read(store.entry, 0.0)
    assert store.write("a", 0) == 1
    first.lease.on_unanswered(0.0)  # the answer was lost
    own = store.entry
    for now in times(2 * LEASE_S):  # it has read its entry, and stalls
        second.step(now)
    assert second.lease.is_held
    first.lease.on_read(own, 2 * LEASE_S)
    assert not first.lease.is_held
    first.step(2 * LEASE_S)
    assert store.entry.owner == "b"
    assert not first.lease.is_held


@pytest.mark.parametrize("late", [False, True])
def test_lease_counts_from_the_request_of_its_write(late: bool) -> None:
    lease = Lease("a", LEASE_S)
    lease.on_read(NO_ENTRY, 0.0)
    assert lease.due(0.0) is Action.WRITE
    answered_s = LEASE_S if late else 0.9 * LEASE_S
    lease.on_written(1, 0.0, answered_s)
    assert lease.is_held is not late
    assert lease.is_valid(answered_s) is not late
    assert not lease.is_valid(LEASE_S)
    assert lease.due(answered_s) is (Action.READ if late else Action.WRITE)
