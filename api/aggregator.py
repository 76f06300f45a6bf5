"""A running aggregator as an object: its jobs, and what is known of each."""

from __future__ import annotations

from ..clients.job_fetch import fetch, fetch_of_all
from ..results.advice import Advice
from ..results.contention import Contention
from ..results.dfg import Graph
from ..results.interaction import Ranking
from ..results.jobs.job import JobList, JobSummary, SignalSeries
from ..results.jobs.ledger import JobLedger
from ..results.layers import Layers
from ..results.prediction import Prediction


def connect(address: str = "http://127.0.0.1:9788") -> Aggregator:
    """Returns an aggregator; it is asked when something of it is wanted.

    Args:
        address: ``http://HOST:PORT``, ``https://HOST:PORT``, or ``http+unix://PATH`` with ``%2F`` for each slash. The
            environment's IOTIDE_TOKEN_FILE names a file with a token.
    """
    return Aggregator(address)


class Aggregator:
    """A running aggregator. Each call asks anew; all raise InputError where it does not answer."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")

    def jobs(self) -> list[JobSummary]:
        """Returns the jobs that are held."""
        return list(fetch_of_all(self.address, "jobs", JobList).jobs)

    def job(self, name: str) -> Job:
        """Returns a job; that there is one is seen once it is asked."""
        return Job(self.address, name)

    def contention(self) -> Contention:
        """Returns who slows whom down, and which collisions are to come."""
        return fetch_of_all(self.address, "contention", Contention)

    def __repr__(self) -> str:
        return f"<iotide aggregator {self.address}>"


class Job:
    """One job of a running aggregator, likewise."""

    def __init__(self, address: str, name: str) -> None:
        self.name = name
        self._address = f"{address}/jobs/{name}"

    def prediction(self) -> Prediction:
        """Returns the last prediction."""
        return fetch(self._address, "prediction", Prediction)

    def signal(self) -> SignalSeries:
        """Returns the bandwidth over the observation."""
        return fetch(self._address, "signal", SignalSeries)

    def graph(self) -> Graph:
        """Returns the directly-follows graph."""
        return fetch(self._address, "dfg", Graph)

    def layers(self) -> Layers:
        """Returns I/O by software layer."""
        return fetch(self._address, "layers", Layers)

    def rank(self) -> Ranking:
        """Returns who interacts with whom."""
        return fetch(self._address, "rank", Ranking)

    def advice(self) -> Advice:
        """Returns what I/O costs so far and what to change first."""
        return fetch(self._address, "advice", Advice)

    def ledger(self) -> JobLedger:
        """Returns what became of each call: made, lost, taken in, analysed, archived."""
        return fetch(self._address, "ledger", JobLedger)

    def __repr__(self) -> str:
        return f"<iotide job {self.name} of {self._address.partition('/jobs/')[0]}>"
