"""Numbers of a job's events at each place on their way."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class StreamAccount(BaseModel):
    """Account of one stream, or the sum of several; in events."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    streams: int = Field(1, description="Number of streams in the sum.")
    made: int = Field(
        description="Events that the collector got; if it does not report this, events received and dropped."
    )
    dropped: int = Field(description="Events that the collector got and dropped (`shipper_full`, `rejected`).")
    received: int = Field(description="Events that the aggregator took in, each once.")
    journalled: int = Field(description="Received events that were written to the journal.")
    on_the_way: int = Field(description="Events made that were neither received nor dropped yet.")


class JobLedger(BaseModel):
    """Account of a job in events. `made = dropped + received + on_the_way`, and likewise at each place."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    job: str
    dropped_before: dict[str, int] = Field(
        description="Events dropped by the tracer or the source, or lost with a collector or in the aggregator, "
        "by reason."
    )
    left_out: dict[str, int] = Field(description="Events that were not to be recorded, by reason.")
    total: StreamAccount = Field(description="All streams.")
    ended: StreamAccount = Field(description="The ended streams.")
    open: dict[str, StreamAccount] = Field(description="The open streams by name, at most 1,000.")
    cut_off: int = Field(description="Events in transit of streams whose collector disconnected without ending them.")
    not_analysed: dict[str, int] = Field(description="Received events that are in no result, by reason.")
    analysed: int
    archived: int | None = Field(description="Events that can be read in the archive now; null without an archive.")
    not_archived: dict[str, int] = Field(description="Received events that will not be in the archive, by reason.")
    waiting_for_archive: int | None = Field(description="Received events that are not yet in the archive.")
    unaccounted: dict[str, int] = Field(
        description="Differences by place: `collector` (of ended streams), `analyzers`, `archive`."
    )
    missing: dict[str, int] = Field(
        description="Missing events of ended streams whose account does not balance, by stream name."
    )
    balanced: bool = Field(description="Whether the whole account balances.")
