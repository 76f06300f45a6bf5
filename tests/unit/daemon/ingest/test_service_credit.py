from __future__ import annotations

from iotide.daemon.ingest.peer_limits import ServiceCredit

BUSY, OTHER = b"busy", b"other"


def measured(
    spent: dict[bytes, tuple[int, float]], *, delay_s: float = 0.0, read_all_s: float = 100.0, lasts_s: float = 1.0
) -> ServiceCredit:
    """Return the credits after a measurement of batches and seconds of work by collector."""
    credit = ServiceCredit(256)
    credit.update(0.0, 0.0, read_all_s)
    for sender, (batches, work_s) in spent.items():
        for _ in range(batches):
            credit.processed(sender, work_s / batches)
    credit.update(lasts_s, delay_s, read_all_s)
    return credit


def test_credit_is_half_a_second_of_work() -> None:
    assert ServiceCredit(256).of(BUSY) == 256
    assert measured({BUSY: (100, 1.0)}).of(BUSY) == 50
    assert measured({BUSY: (4, 1.0)}).of(BUSY) == 2
    assert measured({BUSY: (1, 3.0)}).of(BUSY) == 1
    assert measured({BUSY: (1000, 0.1)}).of(BUSY) == 256


def test_a_disk_that_delays_acks_does_not_slow_a_collector_down() -> None:
    assert measured({BUSY: (100, 1.0)}, delay_s=1.0).of(BUSY) == 150


def test_time_of_other_work_counts_while_messages_wait() -> None:
    assert measured({BUSY: (100, 1.0)}, read_all_s=-1.0, lasts_s=5.0).of(BUSY) == 10


def test_collectors_that_are_equally_busy_share_the_time() -> None:
    many = measured({b"%d" % number: (100, 1.0) for number in range(10)})
    assert many.of(b"3") == 5
    assert many.of(b"unknown") == 5


def test_quiet_collectors_take_little_from_a_busy_one() -> None:
    quiet = {b"%d" % number: (1, 0.0001) for number in range(1000)}
    assert measured({BUSY: (100, 1.0), **quiet}).of(BUSY) in range(40, 50)


def test_credits_stay_while_no_batches_come() -> None:
    credit = measured({BUSY: (10, 1.0)})
    credit.update(2.5, 0.0, 100.0)
    assert credit.of(BUSY) == credit.of(OTHER) == 5
    credit.processed(BUSY, 0.001)
    credit.update(2.6, 0.0, 100.0)  # too early
    assert credit.of(BUSY) == 5
    credit.update(4.0, 0.0, 100.0)
    assert credit.of(BUSY) == 256
