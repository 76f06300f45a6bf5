"""How many events of a job came by each place on their way."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class StreamAccount(BaseModel):
    """One stream, or the sum of several; events."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    streams: int = Field(1, description="How many streams it is the sum of.")
    made: int = Field(description="That the collector had; what came and was dropped, where it does not tell.")
    dropped: int = Field(description="That the collector had and dropped (`shipper_full`, `rejected`).")
    received: int = Field(description="That the aggregator took in, each once.")
    journalled: int = Field(description="Of these, that were put into the journal.")
    on_the_way: int = Field(description="That were made, and have neither come nor were dropped.")


class JobLedger(BaseModel):
    """The account of a job: `made = dropped + received + on_the_way`, and so on at each place; all in events."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    job: str
    dropped_before: dict[str, int] = Field(
        description="What the tracer or the source dropped before the collector had it, and what was lost with a "
        "collector or here, by reason."
    )
    left_out: dict[str, int] = Field(description="What was not to be recorded, by reason.")
    total: StreamAccount = Field(description="All streams.")
    ended: StreamAccount = Field(description="The streams that have ended.")
    open: dict[str, StreamAccount] = Field(description="The open ones by name, of 1,000 at most.")
    cut_off: int = Field(description="Events on the way of streams whose collector went without ending them.")
    not_analysed: dict[str, int] = Field(description="What was received and is in no result, by reason.")
    analysed: int
    archived: int | None = Field(description="That can be read in the archive now; null where none is kept.")
    not_archived: dict[str, int] = Field(description="What was received and will not be in the archive, by reason.")
    waiting_for_archive: int | None = Field(description="What was received and is not yet in it.")
    unaccounted: dict[str, int] = Field(
        description="What does not add up, by place: `collector` (of streams that have ended), `analyzers`, `archive`."
    )
    missing: dict[str, int] = Field(description="Of streams that have ended and do not add up, how many, by name.")
    balanced: bool = Field(description="Whether all adds up.")
