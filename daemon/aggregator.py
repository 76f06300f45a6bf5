"""The table of jobs: routes streams to job sessions, moves jobs through their lives, and predicts."""

from __future__ import annotations

import contextlib
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final

from ..events import Definitions, EventBatch, StreamInfo
from ..events.losses import MISPLACED, STATE_LOST, checked
from ..results.jobs.job import JobSummary
from ..results.prediction import Prediction
from .bounds import Reached
from .ingest.collector_counts import CollectorCounts
from .ingest.sink import StreamForgottenError
from .jobs.introductions import close_stream, open_stream
from .jobs.job_ids import clean_job
from .jobs.job_summary import news_of
from .jobs.job_table import JobTable
from .jobs.lifecycle.job_ages import due, next_age
from .jobs.lifecycle.job_schedule import JobSchedule
from .jobs.lifecycle.job_state import JobEvent, State, after
from .jobs.lifecycle.prediction_step import PredictionStep
from .jobs.losses.dropped import Dropped, HeldSums, JobSums
from .jobs.losses.failures import Failures
from .jobs.losses.unheld import REFUSED, Unheld
from .jobs.session import JobSession
from .journal.contract import Kind, unrecorded
from .listeners import Listeners
from .pressure import Pressure
from .settings import AggregatorSettings

_SLICE_S: Final = 0.01
_LOOK_EVERY: Final = 16  # predictions of a job, after which its bounds are looked at

_KEPT: Final = ("unheld", "_ended", "_ages", "_job_of", "_forgotten", "_dropped", "_collectors")
"""Attributes that are the aggregator's state beside its jobs; the others are of the daemon that runs."""
_KEPT_PLANS: Final = ("due", "predicted_at")
"""Likewise of when jobs are predicted."""


class Aggregator:
    """Takes streams in (it is the ingest's sink) and publishes to listeners.

    ``clock`` is the time of day, for stamps. Jobs age, and predictions are due, by ``steady``, a clock that is never
    set; so a correction of the time of day ends no job. ``effort`` is the CPU time that this thread has taken, s. A
    listener that raises, and an analysis of a job, is logged and counted; the others and the job go on.

    Attributes:
        jobs: the sessions by job id.
        counters: what happened, by name.
        on_predictions, on_jobs: who is told of predictions and of jobs, by name.
        pressure: how far the work is behind.
        unheld: what is known of jobs that are not held.
        late_s: by how much the last prediction was late.
        around: what surrounds each step that time makes due, so that it can be recorded and done again.
        looked: whether the last prediction looked for a period.
        journals: whether what comes now is journalled.
    """

    def __init__(
        self,
        settings: AggregatorSettings,
        clock: Callable[[], float],
        steady: Callable[[], float] | None = None,
        effort: Callable[[], float] = time.thread_time,
    ) -> None:
        self.jobs = JobTable()
        self.counters: Counter[str] = Counter()
        self.settings = self._settings = settings
        self.clock = clock
        self._steady = steady or clock
        self.late_s = 0.0
        self.pressure = Pressure()
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._ages = JobSchedule()
        self._step = PredictionStep(settings, self.clock, self._steady, effort, self.counters, self.pressure)
        self._planned = self._step.planned
        self._job_of: dict[str, str] = {}
        self._forgotten: set[str] = set()
        self.on_predictions: Listeners[Prediction] = Listeners(self.counters)
        self.on_jobs: Listeners[JobSummary] = Listeners(self.counters)
        self._dropped = Dropped()
        self._held = HeldSums()
        self._collectors = CollectorCounts()
        self.unheld = Unheld()
        self.reached = Reached(settings)
        self.around: Callable[[Aggregator, Kind, JobSession], contextlib.AbstractContextManager[None]] = unrecorded
        self.looked = True
        self.journals = False
        self._looks: bool | None = None

    # ---- the state, for another daemon ----

    def state(self) -> dict[str, Any]:
        """Returns what is known beside the jobs; to be written with them at once, as it changes with what comes in."""
        kept = {name: getattr(self, name) for name in _KEPT}
        kept |= {f"_{name}": getattr(self._planned, name) for name in _KEPT_PLANS}
        return kept | {"counters": dict(self.counters), "at_s": self._steady()}

    @staticmethod
    def lacking(state: Mapping[str, Any]) -> set[str]:
        """Returns what a state does not have that ``resume`` needs."""
        return {*_KEPT, *(f"_{name}" for name in _KEPT_PLANS), "counters", "at_s"} - state.keys()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Goes on where another aggregator was; the steady clock has to go on from ``state["at_s"]``."""
        for name in _KEPT:
            setattr(self, name, state[name])
        for name in _KEPT_PLANS:
            setattr(self._planned, name, state[f"_{name}"])
        self.counters.update(state["counters"])
        for job, session in state.get("jobs", {}).items():  # of versions that wrote them with the rest
            self.jobs[job] = session
        for session in self.jobs.awake:
            self._tell_job(session)
        for job, card in self.jobs.asleep.items():
            self.on_jobs.tell(job, partial(JobSummary.model_validate_json, card.summary))

    def lose_job(self, job: str) -> None:
        """Takes in that what was known of a job cannot be read: it begins anew, and says so."""
        self.jobs.asleep.pop(job, None)
        for stream in [stream for stream, of in self._job_of.items() if of == job]:
            del self._job_of[stream]
            self._forgotten.add(stream)
        self._ended.pop(job, None)
        self._planned.forget(job)
        self._ages.drop(job)
        self.unheld.lossy("", job, {STATE_LOST: 1})
        self.counters["job_states_lost"] += 1

    # ---- listeners ----

    def on_prediction(self, listener: Callable[[Prediction], None], name: str = "listener") -> None:
        """Has a function called with each prediction; the name is told should it raise."""
        self.on_predictions.add(name, listener)

    def on_job(self, listener: Callable[[JobSummary], None], name: str = "listener") -> None:
        """Has a function called whenever a job appears or changes its state, likewise."""
        self.on_jobs.add(name, listener)

    # ---- the ingest's sink ----

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Takes in a stream; of a job beyond ``max_jobs`` events are counted and dropped until there is room."""
        now = self._steady()
        job = clean_job(info.job)
        session = self.jobs.get(job)
        if session is None:
            if len(self.jobs) >= self._settings.max_jobs and not self._forget_oldest():
                self.counters[REFUSED] += 1
                self.unheld.refuse(stream, job)
                return
            failures = Failures(job, self.clock, self.counters)
            session = self.jobs[job] = JobSession(job, self._settings, now, failures)
            self.take_losses(session)
            self._tell_job(session)
        self._job_of[stream] = job
        open_stream(session, stream, info, now, self.clock())
        self._move(session, JobEvent.EVENT)
        self._ages.put(job, next_age(session, self._settings))

    def changed(self, stream: str, info: StreamInfo) -> None:
        """Takes in what a stream says of itself from now on, such as the rank that MPI_Init gave it."""
        if (job := self._job_of.get(stream)) is not None:
            self.jobs[job].change_stream(stream, info)

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Takes in events.

        Raises:
            ProtocolError: the definitions contradict earlier ones.
            StreamForgottenError: the stream's job was removed while it was silent.
        """
        if stream in self._forgotten:
            raise StreamForgottenError("its job was removed; say HELLO again")
        job = self._job_of.get(stream)
        if job is None:
            self._miss(stream, batch)
            return
        if (session := self.jobs.get(job)) is None:
            raise StreamForgottenError("what was known of its job cannot be read; say HELLO again")
        now = self._steady()
        session.update(stream, batch, definitions, self.clock(), now)
        session.ledger.received(stream, len(batch), journalled=self.journals)
        if len(batch):
            self._move(session, JobEvent.EVENT)
            self._planned.plan(session, now)

    def _miss(self, stream: str, batch: EventBatch) -> None:
        """Drops events of a stream that was refused, and has it introduced again once there is room for its job."""
        job = self.unheld.job_of(stream)
        has_room = len(self.jobs) < self._settings.max_jobs or bool(self._ended)
        if job is not None and (job in self.jobs or has_room):
            raise StreamForgottenError("there is room for its job now; say HELLO again")
        self.counters["events_dropped:no_job"] += len(batch)
        if job is not None and len(batch):
            self.unheld.missed(stream, batch)

    def made(self, stream: str, events: int, *, ended: bool) -> None:
        """Takes in how many events a collector has had of an open stream."""
        if job := self._job_of.get(stream):
            self.jobs[job].ledger.made(stream, events, ended=ended)

    def archived(self, job: str, events: int) -> None:
        """Takes in that more events of a job are in its archive."""
        if (session := self.jobs.get(job)) is not None:
            session.ledger.archived += events

    def lossy(self, stream: str, losses: Mapping[str, int]) -> None:
        """Takes in what of an open stream was lost so far."""
        if (job := self._job_of.get(stream)) is not None:
            self.jobs[job].lose_of_stream(stream, losses, self.clock())

    def silent(self, stream: str, is_silent: bool) -> None:
        """Takes in that an open stream's collector has fallen silent, or is heard of again."""
        if (job := self._job_of.get(stream)) is not None and stream in (session := self.jobs[job]).streams:
            session.losses.silent(stream, is_silent)

    def lossy_job(self, collector: str, job: str, losses: Mapping[str, int]) -> None:
        """Takes in what a collector lost of a job so far and no stream tells of; it says so again at each heartbeat."""
        name = clean_job(job)
        if (session := self.jobs.get(name)) is not None:
            session.lose(session.losses.of_collector(collector, losses), self.clock())
        else:
            self.unheld.lossy(collector, name, losses)

    def take_losses(self, session: JobSession) -> None:
        """Has a new session take over what was lost of its job before it was held."""
        lost, since_ns = self.unheld.take(session.job)
        for collector, losses in lost.items():
            grown = session.losses.of_collector(collector, losses)
            if since_ns is not None:
                session.lose(grown, self.clock(), since_ns)
        for host in self.unheld.take_hosts(session.job):
            session.nodes.served(host)

    def refused(self, info: StreamInfo, reason: str) -> None:
        """Takes in that a stream was refused; its job is told, where there is one."""
        self.counters[f"streams_refused:{reason}"] += 1
        if (session := self.jobs.get(clean_job(info.job))) is not None:
            session.losses.lose({f"streams_refused:{reason}": 1})

    def not_archived(self, job: str, reason: str, events: int) -> None:
        """Takes in that events of a job are not in its archive."""
        if (session := self.jobs.get(job)) is not None:
            session.losses.lose({f"events_not_archived:{reason}": events})

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Takes in that a stream has ended, and what was lost of it."""
        self._forgotten.discard(stream)
        self.unheld.close(stream)
        if (job := self._job_of.pop(stream, None)) is not None:
            session = self.jobs[job]
            now = self._steady()
            close_stream(session, stream, now, checked(losses), self.clock())
            self._ages.put(job, max(next_age(session, self._settings), now))
            if session.streams:
                self._planned.plan(session, now)

    def heartbeat(self, collector: str, host: str, counters: Mapping[str, int], job: str = "") -> None:
        """Takes in a collector's counters, and that a job has a collector on a node."""
        self._collectors.heard(collector, counters)
        if job and host and (name := clean_job(job)) not in self.jobs.asleep:  # which has heard it while it was awake
            session = self.jobs.get(name)
            (session.nodes.served(host) if session is not None else self.unheld.served(name, host))

    def lost(self, collector: str) -> None:
        """Takes in that a collector is silent; its streams idle out with their jobs. Its counts stay in the sum."""
        self.counters["collectors_lost"] += self._collectors.lost(collector)

    def collector_counters(self) -> Counter[str]:
        """Returns the counters of all collectors that were ever heard of, summed."""
        return self._collectors.total()

    def sums(self) -> JobSums:
        """Returns what all jobs lack, those that are gone included."""
        return JobSums(self._dropped, self._held.of(self.jobs))

    # ---- time ----

    def tick(self) -> bool:
        """Moves jobs through their lives and predicts those that are due, for a bounded time.

        Returns:
            Whether jobs that are due had to wait for the next call, which should come once others had their turn.
        """
        begun = now = self._steady()
        self.reached.look(self.counters)
        self.pressure.note(max(self._ages.late_s(now), self._planned.due.late_s(now)))
        waiting = self._move_on(now, begun + _SLICE_S / 2)
        while (waited := self._planned.due.take(now)) is not None:
            job, due_s = waited
            if (session := self.jobs.get(job)) is not None and session.state is not State.ENDED:
                self.late_s = self._steady() - due_s
                self.counters["predictions_late"] += self.late_s > self._settings.prediction_interval_s
                if session.streams:  # else nothing comes next; it will have its last word
                    with self.around(self, Kind.PREDICT, session):
                        self.predict(session)
            if self._steady() - begun > _SLICE_S:
                return True
        return waiting

    def _move_on(self, now: float, until: float) -> bool:
        """Moves jobs that are due through their lives; tells whether there was no time for all."""
        while (aged := self._ages.take(now)) is not None:
            if (session := self.jobs.get(aged[0])) is not None:
                with self.around(self, Kind.AGE, session):
                    self.age(session)
            if self._steady() > until:
                return True
        return False

    def age(self, session: JobSession, looks: bool | None = None) -> None:
        """Moves a job through its life; ``looks``: whether to look for its period, where that was decided before."""
        now = self._steady()
        self._ages.drop(session.job)
        self._looks = looks
        with self._guarded(session):
            if (happening := due(session, self._settings, now)) is not None:
                self._move(session, happening)
        if session.state is not State.REMOVED:
            # later than now in any case: rounding must not bring it back at once
            self._ages.put(session.job, max(next_age(session, self._settings), now + _SLICE_S))

    def predict(self, session: JobSession, looks: bool | None = None) -> None:
        """Predicts a job, likewise."""
        self._looks = looks
        with self._guarded(session):
            self._predict(session)

    @contextlib.contextmanager
    def _guarded(self, session: JobSession) -> Iterator[None]:
        """Has whatever goes wrong with one job cost that job alone."""
        try:
            yield
        except Exception as error:
            session.failures.add("job", error, stopped=False)

    def end_job(self, job: str) -> None:
        """Ends a job now: its last prediction looks at the whole run."""
        if (session := self.jobs.get(job)) is not None:
            self._move(session, JobEvent.DONE)

    def _predict(self, session: JobSession, *, whole: bool = False) -> None:
        prediction = self._step.predict(session, whole=whole, looks=self._looks)
        self.looked = self._step.looked
        if prediction is None:
            return
        if session.predictions % _LOOK_EVERY == 0:
            self.reached.look_at(session)
        self.on_predictions.tell(session.job, lambda: prediction)

    def _move(self, session: JobSession, happening: JobEvent) -> None:
        before, session.state = session.state, after(session.state, happening)
        if session.state is before:
            return
        if before is State.ENDED:
            self._ended.pop(session.job, None)
        if session.state in (State.IDLE, State.ENDED):
            session.settle()
            self.reached.look_at(session)
        if session.state is State.ENDED:
            session.ended_at_s = self._steady()
            self._ended[session.job] = None
            session.complete_losses(self.clock())
            self._predict(session, whole=True)
            if len(self._ended) > self._settings.max_ended_jobs:
                self._forget_oldest()
        elif session.state is State.REMOVED:
            self._remove(session)
        else:
            self._ages.put(session.job, next_age(session, self._settings))
        self._tell_job(session)

    def _forget_oldest(self) -> bool:
        """Removes the job that ended first before its time; False where none has ended."""
        if not self._ended:
            return False
        self.counters["jobs_removed_early"] += 1
        self._move(self.jobs[next(iter(self._ended))], JobEvent.FORGOTTEN)
        return True

    def _remove(self, session: JobSession) -> None:
        del self.jobs[session.job]
        self._dropped.keep(session)
        self._planned.forget(session.job)
        self._ages.drop(session.job)
        for stream in (*session.streams, *session.nodes.collectors):
            self._job_of.pop(stream, None)
            self._forgotten.add(stream)
        self.counters["jobs_removed"] += 1
        self.counters[MISPLACED] += session.losses.total[MISPLACED]

    def _tell_job(self, session: JobSession) -> None:
        self.on_jobs.tell(session.job, lambda: news_of(session, self.clock()))
