"""The aggregator. It routes streams to job sessions, changes the state of jobs over time, and predicts."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final

from ..analyzers.pipeline.whole_streams import WholeStream
from ..events import NODE_COLLECTOR, Definitions, EventBatch, StreamInfo
from ..events.losses import MISPLACED, STATE_LOST, checked
from ..results.jobs.job import JobSummary
from ..results.prediction import Prediction
from .bounds import BoundLog
from .ingest.sink import StreamForgottenError, pass_separately
from .jobs.accounting.loss_sink import LossSink
from .jobs.introductions import close_stream, open_stream
from .jobs.job_ids import clean_job
from .jobs.job_settings import JobSettings
from .jobs.job_state import JobEvent, State, next_state
from .jobs.job_summary import published_summary
from .jobs.lifecycle.prediction_step import JobSchedule, PredictionStep, due_event, next_check_s
from .jobs.lifecycle.recorded_steps import Kind, without_recording
from .jobs.lifecycle.whole_streams import add_whole_streams
from .jobs.losses.early_losses import REFUSED
from .jobs.losses.failures import Failures
from .jobs.session import JobSession
from .listeners import Listeners
from .pressure import Pressure

_SLICE_S: Final = 0.01
_BOUND_CHECK_INTERVAL: Final = 16  # predictions of a job between checks of its bounds
_QUEUED_EVENTS: Final = 1 << 19  # of all running jobs, about 50 MB, besides the share that a job always queues

_STATE_KEYS: Final = ("_ended", "_ages", "_job_of", "_forgotten", "_dropped", "_collectors")
"""Attributes of the aggregator's persistent state besides its jobs. The others belong to the running daemon."""
_SCHEDULE_KEYS: Final = ("due", "predicted_at")
"""Persistent attributes of the prediction schedule."""


class Aggregator(LossSink):
    """Sink of the ingest; publishes predictions and job states to listeners.

    ``clock`` is the time of day, for timestamps. Ages of jobs and due predictions use ``steady``, a monotonic clock, so
    that a correction of the time of day ends no job. ``effort`` is the CPU time of this thread, s. A listener or an
    analysis that raises is logged and counted; other listeners and the job continue.

    Attributes:
        on_predictions, on_jobs: listeners of predictions and of job states, by name.
        pressure: delay of the work.
        late_s: delay of the last prediction, s.
        step_context: context of each time-triggered step, for recording and replay.
        searched: whether the last prediction searched for a period.
        journals: whether current input is journalled.
    """

    def __init__(
        self,
        settings: JobSettings,
        clock: Callable[[], float],
        steady: Callable[[], float] | None = None,
        effort: Callable[[], float] = time.thread_time,
    ) -> None:
        super().__init__(clock)
        self.settings = self._settings = settings
        self._steady = steady or clock
        self.late_s = 0.0
        self.pressure = Pressure()
        self._ended: OrderedDict[str, None] = OrderedDict()
        self._ages = JobSchedule()
        self._prediction_step = PredictionStep(settings, self.clock, self._steady, effort, self.counters, self.pressure)
        self._schedule = self._prediction_step.schedule
        self._forgotten: set[str] = set()
        self._queued: dict[str, int] = {}
        """Events of each job that wait besides its share; the job that received some last is the last one."""
        self._queued_events = 0
        self.on_predictions: Listeners[Prediction] = Listeners(self.counters)
        self.on_jobs: Listeners[JobSummary] = Listeners(self.counters)
        self.bound_log = BoundLog(settings)
        self.step_context: Callable[[Aggregator, Kind, JobSession], AbstractContextManager[None]] = without_recording
        self.searched, self.journals = True, False
        self._decided_search: bool | None = None

    # ---- state for a successor ----

    def state(self) -> dict[str, Any]:
        """Return the state besides the jobs. It must be written together with them, as both change with input."""
        kept = {name: getattr(self, name) for name in _STATE_KEYS} | {"unheld": self.early_losses}
        kept |= {f"_{name}": getattr(self._schedule, name) for name in _SCHEDULE_KEYS}
        return kept | {"counters": dict(self.counters), "at_s": self._steady()}

    @staticmethod
    def missing_keys(state: Mapping[str, Any]) -> set[str]:
        """Return the keys that ``resume`` needs and a state lacks."""
        keys = {*_STATE_KEYS, *(f"_{name}" for name in _SCHEDULE_KEYS), "unheld", "counters", "at_s"}
        return keys - state.keys()

    def resume(self, state: Mapping[str, Any]) -> None:
        """Continue from another aggregator's state; the steady clock must continue from ``state["at_s"]``."""
        self.early_losses = state["unheld"]
        for name in _STATE_KEYS:
            setattr(self, name, state[name])
        for name in _SCHEDULE_KEYS:
            setattr(self._schedule, name, state[f"_{name}"])
        self.counters.update(state["counters"])
        for job, session in state.get("jobs", {}).items():  # of versions that stored jobs with the rest
            self.jobs[job] = session
        for session in self.jobs.awake:
            self._notify_job(session)
            self._bound_queues(session)
        for job, card in self.jobs.asleep.items():
            self.on_jobs.notify(job, partial(JobSummary.model_validate_json, card.summary))

    def begin_schedule(self) -> None:
        """Let work that is due count as due now. A journal lacks checks that changed nothing, so they are due again."""
        for each in (self._ages, self._schedule.due):
            each.postpone(self._steady())

    def drop_unreadable_job(self, job: str) -> None:
        """Handle an unreadable job state: the job begins anew and reports the loss."""
        self.jobs.asleep.pop(job, None)
        for stream in [stream for stream, of in self._job_of.items() if of == job]:
            del self._job_of[stream]
            self._forgotten.add(stream)
        self._ended.pop(job, None)
        self._schedule.remove(job)
        self._ages.drop(job)
        self.early_losses.update_losses("", job, {STATE_LOST: 1})
        self.counters["job_states_lost"] += 1

    # ---- listeners ----

    def on_prediction(self, listener: Callable[[Prediction], None], name: str = "listener") -> None:
        """Add a listener of predictions; its name is logged if it raises."""
        self.on_predictions.add(name, listener)

    def on_job(self, listener: Callable[[JobSummary], None], name: str = "listener") -> None:
        """Add a listener of new jobs and state changes. Its name is logged if it raises."""
        self.on_jobs.add(name, listener)

    # ---- the ingest's sink ----

    def opened(self, stream: str, info: StreamInfo) -> None:
        """Open a stream. Events of jobs beyond ``max_jobs`` are counted and dropped until there is room."""
        now = self._steady()
        job = clean_job(info.job)
        session = self.jobs.get(job)
        if session is None:
            if len(self.jobs) >= self._settings.max_jobs and not self._remove_oldest_ended():
                self.counters[REFUSED] += 1
                self.early_losses.add_refused_stream(stream, job)
                return
            failures = Failures(job, self.clock, self.counters)
            session = self.jobs[job] = JobSession(job, self._settings, now, failures)
            self.move_losses_to(session)
            self._notify_job(session)
        self._job_of[stream] = job
        open_stream(session, stream, info, now, self.clock())
        self._transition(session, JobEvent.EVENT)
        self._ages.schedule(job, next_check_s(session, self._settings))

    def changed(self, stream: str, info: StreamInfo) -> None:
        """Update a stream's description, such as the rank after MPI_Init."""
        if (job := self._job_of.get(stream)) is not None:
            self.jobs[job].change_stream(stream, info)

    def batch(self, stream: str, batch: EventBatch, definitions: Definitions) -> None:
        """Process events.

        Raises:
            ProtocolError: the definitions contradict earlier ones.
            StreamForgottenError: the stream's job was removed while it was silent.
        """
        if stream in self._forgotten:
            raise StreamForgottenError("its job was removed; send HELLO again")
        job = self._job_of.get(stream)
        if job is None:
            self._count_refused_batch(stream, batch)
            return
        if (session := self.jobs.get(job)) is None:
            raise StreamForgottenError("the state of its job cannot be read; send HELLO again")
        now = self._steady()
        session.update(stream, batch, definitions, self.clock(), now, self._queue_room)
        self._bound_queues(session)
        session.ledger.received(stream, len(batch), journalled=self.journals)
        if len(batch):
            self._transition(session, JobEvent.EVENT)
            self._schedule.plan(session, now, session.unseen_s(self.clock()))

    @property
    def _queue_room(self) -> int:
        """Number of events of a job that may wait to be analyzed together: few jobs queue more each."""
        return _QUEUED_EVENTS // max(len(self.jobs) - len(self._ended), 1)

    def _bound_queues(self, session: JobSession) -> None:
        """Hold the bound of all queues after a job's has changed: their room shrinks when jobs come.

        The events of those that have received none for the longest time are analyzed first.
        """
        self._set_queued(session.job, session.analyzers.queued_in_room)
        while self._queued_events > _QUEUED_EVENTS:
            job = next(iter(self._queued))
            self.jobs[job].analyzers.empty_queue()
            self._set_queued(job, 0)

    def _set_queued(self, job: str, events: int) -> None:
        self._queued_events += events - self._queued.pop(job, 0)
        if events:
            self._queued[job] = events

    def _count_refused_batch(self, stream: str, batch: EventBatch) -> None:
        """Drop events of a refused stream. Request its HELLO again once there is room for its job."""
        job = self.early_losses.job_of(stream)
        has_room = len(self.jobs) < self._settings.max_jobs or bool(self._ended)
        if job is not None and (job in self.jobs or has_room):
            raise StreamForgottenError("there is room for its job now; send HELLO again")
        self._count_dropped(stream, job, batch)

    def closed(self, stream: str, losses: Mapping[str, int]) -> None:
        """Close a stream, with its final losses."""
        self._forgotten.discard(stream)
        self.early_losses.close(stream)
        if (job := self._job_of.pop(stream, None)) is not None:
            session = self.jobs[job]
            now = self._steady()
            close_stream(session, stream, now, checked(losses), self.clock())
            self._ages.schedule(job, max(next_check_s(session, self._settings), now))
            if session.streams:
                self._schedule.plan(session, now)

    def whole_streams(self, streams: Sequence[WholeStream]) -> None:
        """Process streams that have ended, those of one job together."""
        waiting: list[WholeStream] = []
        for each in streams:
            job = clean_job(each.info.job)
            fits = each.is_usual and each.stream not in self._job_of and each.stream not in self._forgotten
            fits = fits and each.info.source != NODE_COLLECTOR
            if waiting and not (fits and job == clean_job(waiting[0].info.job)):
                self._add_whole_streams(waiting)
                waiting = []
            if fits and job in self.jobs:
                waiting.append(each)
            else:
                pass_separately(self, [each])
        if waiting:
            self._add_whole_streams(waiting)

    def _add_whole_streams(self, streams: Sequence[WholeStream]) -> None:
        session, now = self.jobs[clean_job(streams[0].info.job)], self._steady()
        room = self._queue_room
        if not add_whole_streams(session, streams, self.clock(), now, journalled=self.journals, room=room):
            pass_separately(self, streams)
            return
        self._bound_queues(session)
        self._transition(session, JobEvent.EVENT)
        self._ages.schedule(session.job, max(next_check_s(session, self._settings), now))
        self._schedule.plan(session, now, session.unseen_s(self.clock()))

    # ---- time ----

    def tick(self) -> bool:
        """Change the state of due jobs and compute due predictions, for a bounded time.

        Returns:
            Whether due jobs remain: call again after other tasks had their turn.
        """
        begun = now = self._steady()
        self.bound_log.check(self.counters)
        self.pressure.update(max(self._ages.late_s(now), self._schedule.due.late_s(now)))
        waiting = self._advance_due_jobs(now, begun + _SLICE_S / 2)
        while (waited := self._schedule.due.pop_due(now)) is not None:
            job, due_s = waited
            if (session := self.jobs.get(job)) is not None and session.state is not State.ENDED:
                self.late_s = self._steady() - due_s
                self.counters["predictions_late"] += self.late_s > self._settings.prediction_interval_s
                if session.streams:  # without streams no phase follows; ``last_word`` covers the end
                    with self.step_context(self, Kind.PREDICT, session):
                        self.predict(session)
            if self._steady() - begun > _SLICE_S:
                return True
        return waiting

    def due_in_s(self) -> float:
        """Return the time until the next due work, s; infinite without any."""
        return min(self._ages.first_s, self._schedule.due.first_s) - self._steady()

    def _advance_due_jobs(self, now: float, until: float) -> bool:
        """Change the state of due jobs; return whether some remain for lack of time."""
        while (aged := self._ages.pop_due(now)) is not None:
            if (session := self.jobs.get(aged[0])) is not None:
                with self.step_context(self, Kind.AGE, session):
                    self.advance_state(session)
            if self._steady() > until:
                return True
        return False

    def advance_state(self, session: JobSession, search: bool | None = None) -> None:
        """Change the state of a job. ``search``: whether to search for its period, if decided before."""
        now = self._steady()
        self._ages.drop(session.job)
        self._decided_search = search
        with self._confine_failures(session):
            if (event := due_event(session, self._settings, now)) is not None:
                self._transition(session, event)
        if session.state is not State.REMOVED:
            # strictly later than now: rounding must not make it due again at once
            self._ages.schedule(session.job, max(next_check_s(session, self._settings), now + _SLICE_S))

    def predict(self, session: JobSession, search: bool | None = None) -> None:
        """Predict a job; ``search``: whether to search for its period, if decided before."""
        self._decided_search = search
        with self._confine_failures(session):
            self._predict(session)

    @contextmanager
    def _confine_failures(self, session: JobSession) -> Iterator[None]:
        """Confine any failure to one job."""
        try:
            yield
        except Exception as error:
            session.failures.add("job", error, stopped=False)

    def end_job(self, job: str) -> None:
        """End a job now; its last prediction covers the whole run."""
        if (session := self.jobs.get(job)) is not None:
            self._transition(session, JobEvent.DONE)

    def _predict(self, session: JobSession, *, whole: bool = False) -> None:
        prediction = self._prediction_step.predict(session, whole=whole, search=self._decided_search)
        self.searched = self._prediction_step.searched
        if prediction is None:
            return
        if session.predictions % _BOUND_CHECK_INTERVAL == 0:
            self.bound_log.check_job(session)
        self.on_predictions.notify(session.job, lambda: prediction)

    def _transition(self, session: JobSession, event: JobEvent) -> None:
        before, session.state = session.state, next_state(session.state, event)
        if session.state is before:
            return
        if before is State.ENDED:
            self._ended.pop(session.job, None)
        if session.state in (State.IDLE, State.ENDED):
            session.compact()
            self._set_queued(session.job, 0)
            self.bound_log.check_job(session)
        if session.state is State.ENDED:
            session.ended_at_s = self._steady()
            self._ended[session.job] = None
            session.complete_losses(self.clock())
            self._predict(session, whole=True)
            if len(self._ended) > self._settings.max_ended_jobs:
                self._remove_oldest_ended()
        elif session.state is State.REMOVED:
            self._remove(session)
        else:
            self._ages.schedule(session.job, next_check_s(session, self._settings))
        self._notify_job(session)

    def _remove_oldest_ended(self) -> bool:
        """Remove the job that ended first before its time; return False if none has ended."""
        if not self._ended:
            return False
        self.counters["jobs_removed_early"] += 1
        self._transition(self.jobs[next(iter(self._ended))], JobEvent.FORGOTTEN)
        return True

    def _remove(self, session: JobSession) -> None:
        del self.jobs[session.job]
        self._dropped.add_session(session)
        self._set_queued(session.job, 0)
        self._schedule.remove(session.job)
        self._ages.drop(session.job)
        for stream in (*session.streams, *session.nodes.collectors):
            self._job_of.pop(stream, None)
            self._forgotten.add(stream)
        self.counters["jobs_removed"] += 1
        self.counters[MISPLACED] += session.losses.total[MISPLACED]

    def _notify_job(self, session: JobSession) -> None:
        self.on_jobs.notify(session.job, lambda: published_summary(session, self.clock()))
