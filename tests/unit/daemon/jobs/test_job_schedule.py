"""An agenda returns names when their time has come, earliest first."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.daemon.jobs.lifecycle.prediction_step import JobSchedule

actions = st.lists(
    st.tuples(st.sampled_from(["put", "drop", "take"]), st.sampled_from("abcd"), st.integers(0, 20)), max_size=60
)


@given(actions)
@settings(deadline=None)
def test_agenda_is_a_table_of_earliest_times(steps: list[tuple[str, str, int]]) -> None:
    agenda, table = JobSchedule(), dict[str, float]()
    for action, name, at in steps:
        if action == "put":
            agenda.schedule(name, at)
            table[name] = min(at, table.get(name, at))
        elif action == "drop":
            agenda.drop(name)
            table.pop(name, None)
        else:
            due = min((time for time in table.values() if time <= at), default=None)
            taken = agenda.pop_due(at)
            if due is None:
                assert taken is None
            else:
                assert taken is not None
                assert taken[1] == due == table.pop(taken[0])
        assert len(agenda) == len(table)


def test_times_that_were_replaced_or_dropped_take_no_memory_until_they_come() -> None:
    agenda = JobSchedule()
    names = [f"job{number}" for number in range(20)]
    for second in range(200):  # jobs with a period of a day that are predicted each second
        for name in names:
            agenda.schedule(name, second + 86_400.0)
            agenda.schedule(name, float(second))
        assert sorted(taken[0] for _ in names if (taken := agenda.pop_due(second)) is not None) == sorted(names)
        assert len(agenda._heap) <= 104
    assert len(agenda) == 0
