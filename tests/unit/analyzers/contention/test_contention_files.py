"""Files that jobs share in contention, culprits by metadata calls, and the use of the interaction ranking."""

from __future__ import annotations

from collections.abc import Mapping

from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.contention.files import SharedFiles
from iotide.analyzers.contention.loads import JobView, Load
from iotide.analyzers.contention.report import contention_of
from iotide.analyzers.contention.settings import ContentionSettings
from iotide.results.contention import Contention
from iotide.results.interaction import Actor, Interaction, Ranking, SharedFile
from iotide.results.jobs.file_systems import Latency, MetadataPhase
from support.jobs.job_mixes import T0, MixedJob, simulate, view_of

SPAN_S = 1800
CAPACITY = {"a": 1e9}
VICTIM = MixedJob("victim", "a", 8, 2e9, 1e9, jitter=0.1)
CULPRIT = MixedJob("culprit", "a", 21, 6e9, 1e9, jitter=0.2)
CALM = MixedJob("calm", "a", 31, 1e7, 1e6, jitter=0.2)


def ranking(users: Mapping[str, Mapping[str, int]]) -> Ranking:
    """Return the frequency of interactions between jobs by file."""
    names = sorted({job for counts in users.values() for job in counts})
    ids = {name: number for number, name in enumerate(names)}
    return Ranking(
        by="job", start="equal", components=[], pruned=[], alone=0, events=0,
        actors=[
            Actor(
                id=ids[name], name=name, job=name, events=1, cpu_s=0, bytes_read=0, bytes_written=0, component=1,
                rank_once=0.5, rank_converged=1 / len(names), interactions=1,
            )
            for name in names
        ],
        files=[
            SharedFile(
                id=number, path=path, kind="file", writers=1, readers=1, bytes_read=0, bytes_written=0, component=1
            )
            for number, path in enumerate(users)
        ],
        edges=[
            Interaction(source=number, target=ids[job], source_is_file=True, kind="file", count=count)
            for number, counts in enumerate(users.values())
            for job, count in counts.items()
        ],
    )  # fmt: skip


def on_mount(view: JobView) -> JobView:
    uses = [use.model_copy(update={"mount_points": ["/", "/scratch"]}) for use in view.use.file_systems]
    return JobView(view.summary, view.use.model_copy(update={"file_systems": uses}), view.prediction)


def found(*jobs: MixedJob, users: Mapping[str, Mapping[str, int]]) -> Contention:
    views = [on_mount(view_of(each, 1)) for each in simulate(jobs, CAPACITY, SPAN_S, 1)]
    return contention_of(views, ContentionSettings(), T0 + SPAN_S, ranking(users))


def test_culprit_has_the_files_between_it_and_its_victim() -> None:
    users = {
        "/scratch/field": {"victim": 40, "culprit": 30, "calm": 1},
        "/scratch/mesh": {"victim": 3, "culprit": 9},
        "/scratch/own": {"victim": 90, "calm": 90},
    }
    result = found(VICTIM, CULPRIT, CALM, users=users)
    (victim,) = (each for each in result.slowdowns if each.job == "victim")
    (culprit,) = victim.culprits
    assert (culprit.job, culprit.files, culprit.interactions) == ("culprit", ["/scratch/field", "/scratch/mesh"], 33)
    assert culprit.rank > 0


def test_contended_files_are_those_of_jobs_that_did_io_at_once() -> None:
    users = {
        "/scratch/field": {"victim": 40, "culprit": 30},
        "/scratch/own": {"victim": 90, "calm": 90},
        "/scratch/gone": {"victim": 1, "ended": 1},
    }
    result = found(VICTIM, CULPRIT, CALM, users=users)
    assert [(file.path, file.file_system, file.slowed) for file in result.files] == [
        ("/scratch/field", "a", ["victim"]),
        ("/scratch/own", "a", []),
    ]
    assert [(user.job, user.interactions) for user in result.files[0].jobs] == [("victim", 40), ("culprit", 30)]
    assert 0 < result.files[0].together_s < SPAN_S


def test_job_that_only_shares_a_file_is_not_named_for_it() -> None:
    """It interacts far more than the true culprit."""
    users = {"/scratch/field": {"victim": 10**6, "calm": 10**6}, "/scratch/x": {"victim": 1, "culprit": 1}}
    result = found(VICTIM, CULPRIT, CALM, users=users)
    assert {one.job for each in result.slowdowns for one in each.culprits} <= {"culprit", "victim"}


SEEN = [on_mount(view_of(each, 1)) for each in simulate([VICTIM, CULPRIT], CAPACITY, 300, 1)]
LOADS = {"a": [Load.of(view, view.use.file_systems[0], 0.0) for view in SEEN]}


@given(
    st.dictionaries(
        st.sampled_from([f"/scratch/{n}" for n in range(60)]),
        st.dictionaries(st.sampled_from(["victim", "culprit", "calm", "else"]), st.integers(1, 9), min_size=1),
        max_size=60,
    )
)
def test_any_ranking_gives_bounded_answers(users: Mapping[str, Mapping[str, int]]) -> None:
    files = SharedFiles.of(ranking(users)).contended_files(SEEN, LOADS, [])
    assert len(files) <= 50
    for file in files:
        assert {user.job for user in file.jobs} == {"victim", "culprit"} & users[file.path].keys()
        assert len(file.jobs) == 2


def test_without_a_ranking_no_file_is_told() -> None:
    assert SharedFiles.of(None).contended_files([], {}, []) == []


def as_metadata(view: JobView) -> JobView:
    """Return a job that makes metadata calls where the other job moves data: one call per mebibyte."""
    latency = Latency(median_s=0.001, p90_s=0.001, p99_s=0.001, longest_s=0.001)
    (use,) = view.use.file_systems
    calls = [
        MetadataPhase(
            start_s=each.start_s, end_s=each.end_s, calls=each.calls, seconds=each.seconds, latency=latency
        )
        for each in use.phases
    ]  # fmt: skip
    use = use.model_copy(update={"metadata_phases": calls, "phases": [], "metadata_calls": use.calls})
    return JobView(view.summary, view.use.model_copy(update={"file_systems": [use]}), None)


def test_job_whose_metadata_calls_are_slowed_down_has_its_culprit_by_metadata_calls() -> None:
    done = simulate([VICTIM, CULPRIT, CALM], CAPACITY, SPAN_S, 1)
    views = [as_metadata(view_of(each, 1)) for each in done[:2]] + [view_of(done[2], 1)]
    result = contention_of(views, ContentionSettings(), T0 + SPAN_S)
    (victim,) = (each for each in result.slowdowns if each.job == "victim")
    assert (victim.measure, victim.verdict) == ("metadata", "slowed")
    (culprit,) = victim.culprits
    assert culprit.job == "culprit"
    assert 0 < culprit.done < sum(phase.calls for phase in views[1].use.file_systems[0].metadata_phases)
    assert result.collisions == []
