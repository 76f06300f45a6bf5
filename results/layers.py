"""I/O of a job by software layer. It is the report of the analysis in [Layers], the same on every channel.

Durations are seconds summed over threads and processes, volumes bytes. Timestamps are Unix seconds, or those of the
trace's own clock. A caller of "" is the program itself.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Model
from .traces.analysis import InputProblem

LAYERS_VERSION = 1

Way = Literal["read", "write", "other"]
Fate = Literal["absorbed", "passed", "changed", "split"]
"""Outcome of a request one layer down: no data call, one of the same size, one of another size, several."""
Scope = Literal["local", "shared", "unknown"]
Operation = Literal["read", "write", "open", "close", "other"]
FileGroup = Literal["data", "channel", "system"]
"""data: the program's data (or unknown); channel: a pipe, socket or device; system: files of the machine."""
Nesting = Literal["recorded", "time", "flat"]
"""How nesting is known: recorded in the trace, derived from thread and time, or unknown."""


class LayerStats(Model):
    """One layer. Bytes and ``seconds`` count calls that no other call of the layer encloses."""

    layer: str
    calls: int
    inner_calls: int
    """Calls made inside another call of the layer."""
    processes: int
    seconds: float
    """Inclusive time, with calls below."""
    exclusive_seconds: float
    """Inclusive time less the time of directly nested calls. The exclusive times of all layers sum to the time in calls
    that the program made."""
    program_seconds: float
    """Time in calls of the layer that the program itself made."""
    data_seconds: float
    """Exclusive time of calls on the program's data, or on no file."""
    channel_seconds: float
    """Exclusive time of calls on pipes, sockets and devices."""
    system_seconds: float
    """Exclusive time of calls on files of the machine: libraries, Python modules, ``/proc``."""
    metadata_seconds: float
    """Part of ``data_seconds`` in calls that move no data."""
    reads: int
    writes: int
    opens: int
    closes: int
    others: int
    failed: int
    bytes_read: int
    bytes_written: int
    asked_read: int
    """Requested bytes."""
    asked_written: int
    median_read: int | None
    """Median size of a data read request, within a factor of two."""
    median_write: int | None


class Step(Model):
    """Calls of a layer made directly by calls of another layer or by the program."""

    caller: str
    caller_way: Way
    layer: str
    way: Way
    calls: int
    seconds: float
    bytes: int


class SizeRow(Model):
    """Requests of one size class, by caller."""

    caller: str
    layer: str
    way: Way
    from_bytes: int
    """Lower bound of the size; the upper bound is twice as large."""
    calls: int


class FateRow(Model):
    """Outcome of a layer's requests directly below it."""

    layer: str
    way: Way
    fate: Fate
    calls: int
    bytes: int
    below: int
    """Calls below that move data in the same direction."""
    below_bytes: int
    seconds: float


class Account(Model):
    """Bytes that enter a layer in one direction, and bytes that leave it below."""

    layer: str
    way: Way
    calls: int
    bytes: int
    below_calls: int
    """Calls below: reads made by reads, writes made by writes."""
    below_bytes: int
    other_calls: int
    """Calls below made by other calls of the layer: open, close, flush ..."""
    other_bytes: int

    @property
    def difference(self) -> int:
        """Bytes that left the layer in excess of those that entered it."""
        return self.below_bytes + self.other_bytes - self.bytes


class HandleNode(Model):
    """A node of the handle tree. It stands for similar handles of all processes, with the calls on them."""

    node: int
    parent: int
    """Node of the parent handle; 0 for the program."""
    depth: int
    layer: str
    call: str
    """Call that made the handle. "" without a recorded call, or for calls that need no handle."""
    file: str
    """Path of the file; digits are # where handles of several files share a node."""
    processes: int
    calls: int
    opens: int
    closes: int
    reads: int
    writes: int
    bytes_read: int
    bytes_written: int
    seconds: float
    exclusive_seconds: float


class ProcessNode(Model):
    """Calls of one process through one node."""

    process: str
    node: int
    calls: int
    opens: int
    reads: int
    writes: int
    bytes_read: int
    bytes_written: int
    seconds: float
    exclusive_seconds: float


class ProcessLayer(Model):
    """Calls of one process in one layer."""

    process: str
    host: str
    layer: str
    calls: int
    seconds: float
    exclusive_seconds: float
    data_seconds: float
    """Exclusive time on the program's data, or on no file."""
    bytes_read: int
    bytes_written: int


class HostLayer(Model):
    """Calls of one host's processes in one layer."""

    host: str
    layer: str
    processes: int
    calls: int
    exclusive_seconds: float
    data_seconds: float
    bytes_read: int
    bytes_written: int


class FileAccess(Model):
    """Calls on a file in one layer for one caller."""

    caller: str
    layer: str
    calls: int
    reads: int
    writes: int
    bytes_read: int
    bytes_written: int
    opens: int
    closes: int
    exclusive_seconds: float
    read_seconds: float
    """Exclusive time of the reads."""
    write_seconds: float


class FileLayers(Model):
    """Use of a file by each layer, uppermost layer first."""

    path: str
    group: FileGroup
    host: str
    """Host of a file on a node-local file system: the same path is another file on each host."""
    mount_point: str
    filesystem: str
    scope: Scope
    accesses: list[FileAccess]


class OwnFiles(Model):
    """Files that only a layer itself uses, by calls further down."""

    layer: str
    below: str
    """Layer in which they are used."""
    files: int
    calls: int
    seconds: float
    examples: list[str]
    """Classes of paths, most time first."""


class Mount(Model):
    """Calls of the lowest layers on one file system."""

    mount_point: str
    filesystem: str
    scope: Scope
    hosts: int
    """Number of hosts, if the file system is node-local."""
    files: int
    calls: int
    bytes_read: int
    bytes_written: int
    seconds: float


class CollectiveRank(Model):
    """A process in a collective call."""

    process: str
    host: str
    calls: int
    seconds: float
    bytes: int
    """Bytes moved through the call."""
    moved_bytes: int
    """Bytes moved below by this process."""
    moving_seconds: float
    """Time in the lowest layers; the rest is communication and waiting for other processes."""


class Collective(Model):
    """A collective call of MPI-IO on files of one class."""

    call: str
    file: str
    calls: int
    processes: int
    movers: int
    """Processes that move data below."""
    seconds: float
    moving_seconds: float
    waiting_seconds: float
    """Time outside the lowest layers of processes that move no data."""
    late_seconds: float
    """Part of ``seconds`` before the last process arrived, by the processes' clocks. Only calls count in which no
    process leaves before that."""
    rounds: int
    """Calls that at least two processes made together."""
    last_process: str
    """Process that arrived last most often."""
    last_rounds: int
    """Number of calls in which it arrived last."""
    bytes: int
    moved_bytes: int
    ranks: list[CollectiveRank]
    """Processes that move the most bytes first."""
    ranks_left_out: int = 0


class CallLayer(Model):
    """One call of a layer on files of one group."""

    layer: str
    group: FileGroup
    way: Way
    call: str
    calls: int
    failed: int
    seconds: float
    exclusive_seconds: float
    bytes: int


class Mark(Model):
    """Operations of one kind through one node whose starts are close together."""

    node: int
    operation: Operation
    start_s: float
    end_s: float
    calls: int
    seconds: float
    bytes: int


class Finding(Model):
    """A notable observation as a sentence, with its numbers."""

    rule: str
    layer: str
    text: str
    value: float
    threshold: float
    """Threshold that the value had to reach, or not to exceed, for the finding."""
    seconds: float
    """Time concerned."""
    numbers: dict[str, float] = Field(default_factory=dict)


class Layers(Model):
    """All layers of a job. Lists are ordered longest or largest first; truncated lists have a count of omitted rows."""

    version: int = LAYERS_VERSION
    job: str = ""
    events: int
    summaries: int
    """Events that each summarise many calls without details in the trace. Each counts as one call here."""
    first_s: float
    last_s: float
    nesting: Nesting
    handles_known: bool
    """False where the trace has no handles: the tree is then a tree of files."""
    waiting: int
    """Calls nested in calls that have not ended; they count as the program's until then."""
    processes: int
    threads_seconds: float
    """Time in calls made by the program itself: the sum of the layers' exclusive times."""
    layers: list[LayerStats]
    steps: list[Step]
    sizes: list[SizeRow]
    fates: list[FateRow]
    accounts: list[Account]
    findings: list[Finding]
    collectives: list[Collective]
    own_files: list[OwnFiles]
    mounts: list[Mount]
    files: list[FileLayers]
    files_left_out: int
    handles: list[HandleNode]
    """Parents before children."""
    handles_left_out: int
    process_layers: list[ProcessLayer]
    process_layers_left_out: int
    host_layers: list[HostLayer]
    host_layers_left_out: int
    process_handles: list[ProcessNode]
    process_handles_left_out: int
    calls: list[CallLayer]
    marks: list[Mark]
    """Ordered by start."""
    losses: dict[str, int]
    """Losses by bounds or by gaps in the trace, by reason."""


class LayersReport(Model):
    """The output of ``iotide layers``."""

    version: int = LAYERS_VERSION
    files: list[str]
    source: str
    wall_clock: bool
    """False where the zero of the trace's clock is unknown. Times then count from this zero."""
    filtered_out: int = Field(0, ge=0)
    layers: Layers
    problems: list[InputProblem] = Field(default_factory=list)
    problems_total: int = 0
