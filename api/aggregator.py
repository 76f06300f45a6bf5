"""Client of a running aggregator: its jobs and their results."""

from __future__ import annotations

from ..clients.job_fetch import fetch, fetch_for_all_jobs
from ..events.network.job_addresses import job_path
from ..results.advice import Advice
from ..results.contention import Contention
from ..results.dfg import Graph
from ..results.interaction import Ranking
from ..results.jobs.job import JobList, JobSummary, SignalSeries
from ..results.jobs.ledger import JobLedger
from ..results.layers import Layers
from ..results.prediction import Prediction


def connect(address: str = "http://127.0.0.1:9788") -> Aggregator:
    """Return a client of an aggregator; it connects at the first request.

    Args:
        address: ``http://HOST:PORT``, ``https://HOST:PORT``, or ``http+unix://PATH`` with ``%2F`` for each slash. The
            environment's IOTIDE_TOKEN_FILE names a file with a token.
    """
    return Aggregator(address)


class Aggregator:
    """A running aggregator. Each call makes a new request; all raise InputError if there is no answer."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")

    def jobs(self) -> list[JobSummary]:
        """Return the jobs that the aggregator stores."""
        return list(fetch_for_all_jobs(self.address, "jobs", JobList).jobs)

    def job(self, name: str) -> Job:
        """Return a job without a check that it exists. The first request fails if it does not."""
        return Job(self.address, name)

    def contention(self) -> Contention:
        """Return current slowdowns between jobs and forecast collisions."""
        return fetch_for_all_jobs(self.address, "contention", Contention)

    def __repr__(self) -> str:
        return f"<iotide aggregator {self.address}>"


class Job:
    """One job of a running aggregator. Each call makes a new request; all raise InputError if there is no answer."""

    def __init__(self, address: str, name: str) -> None:
        self.name = name
        self._address = f"{address}/jobs/{job_path(name)}"

    def prediction(self) -> Prediction:
        """Return the last prediction."""
        return fetch(self._address, "prediction", Prediction)

    def signal(self) -> SignalSeries:
        """Return the bandwidth over the observation."""
        return fetch(self._address, "signal", SignalSeries)

    def graph(self) -> Graph:
        """Return the directly-follows graph."""
        return fetch(self._address, "dfg", Graph)

    def layers(self) -> Layers:
        """Return the I/O by software layer."""
        return fetch(self._address, "layers", Layers)

    def rank(self) -> Ranking:
        """Return the ranking of members that interact."""
        return fetch(self._address, "rank", Ranking)

    def advice(self) -> Advice:
        """Return the cost of I/O so far and the changes that save most."""
        return fetch(self._address, "advice", Advice)

    def ledger(self) -> JobLedger:
        """Return the account of the job's events: made, lost, received, analysed, archived."""
        return fetch(self._address, "ledger", JobLedger)

    def __repr__(self) -> str:
        return f"<iotide job {self.name} of {self._address.partition('/jobs/')[0]}>"
