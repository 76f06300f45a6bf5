"""What a job's layers do: the report of the analysis in [Layers], the same on every channel.

Durations are seconds summed over threads and processes, volumes bytes; stamps are Unix seconds, or those of the trace's
own clock. A caller of "" is the program itself.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from .base import Model
from .traces.analysis import InputProblem

LAYERS_VERSION = 1

Way = Literal["read", "write", "other"]
Fate = Literal["absorbed", "passed", "changed", "split"]
"""What became of a request one layer down: no call that moves data, one of the same size, one of another, several."""
Scope = Literal["local", "shared", "unknown"]
Operation = Literal["read", "write", "open", "close", "other"]
FileGroup = Literal["data", "channel", "system"]
"""What a file is to the program: its data (or not known), a pipe, socket or device, or what comes with the machine."""
Nesting = Literal["recorded", "time", "flat"]
"""How it is known which call was made in which: the trace says so, by thread and time, or not at all."""


class LayerStats(Model):
    """One layer. Bytes and ``seconds`` are those of calls that no other call of the layer encloses."""

    layer: str
    calls: int
    inner_calls: int
    """Calls made in another one of the layer."""
    processes: int
    seconds: float
    """Inclusive: with what was spent in calls below."""
    exclusive_seconds: float
    """Less what was spent in the calls made directly. The exclusive times of all layers sum to the time in calls that
    the program made."""
    program_seconds: float
    """Time in calls of the layer that the program itself made."""
    data_seconds: float
    """Exclusive time of calls on the program's data, or on no file."""
    channel_seconds: float
    """Exclusive time of calls on pipes, sockets and devices."""
    system_seconds: float
    """Exclusive time of calls on what comes with the machine: libraries, modules of Python, ``/proc``."""
    metadata_seconds: float
    """Of ``data_seconds``: in calls that move nothing."""
    reads: int
    writes: int
    opens: int
    closes: int
    others: int
    failed: int
    bytes_read: int
    bytes_written: int
    asked_read: int
    """Bytes asked for."""
    asked_written: int
    median_read: int | None
    """Median size of a request to read data, within a factor of two."""
    median_write: int | None


class Step(Model):
    """Calls of a layer that calls of another one, or the program, made directly."""

    caller: str
    caller_way: Way
    layer: str
    way: Way
    calls: int
    seconds: float
    bytes: int


class SizeRow(Model):
    """Requests of a size, by who made them."""

    caller: str
    layer: str
    way: Way
    from_bytes: int
    """The size is from here up to twice as much."""
    calls: int


class FateRow(Model):
    """What became of a layer's requests directly below."""

    layer: str
    way: Way
    fate: Fate
    calls: int
    bytes: int
    below: int
    """Calls below that move data the same way."""
    below_bytes: int
    seconds: float


class Account(Model):
    """Bytes that go into a layer one way, and what comes out below it the same way."""

    layer: str
    way: Way
    calls: int
    bytes: int
    below_calls: int
    """By reads for reads, by writes for writes."""
    below_bytes: int
    other_calls: int
    """Made by other calls of the layer: when it opens, closes, flushes ..."""
    other_bytes: int

    @property
    def difference(self) -> int:
        """Bytes that more came out than went in."""
        return self.below_bytes + self.other_bytes - self.bytes


class HandleNode(Model):
    """A node of the tree of handles: those of all processes that are alike, with what was done through them."""

    node: int
    parent: int
    """Node of the handle that it was made in; 0 for the program."""
    depth: int
    layer: str
    call: str
    """What made the handle; "" if no recorded call did, or if it stands for calls that need none."""
    file: str
    """Numbers in the path are # where the handles of several files are one node."""
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
    """What one process did through one node."""

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
    """What one process did in one layer."""

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
    """What the processes of one node did in one layer."""

    host: str
    layer: str
    processes: int
    calls: int
    exclusive_seconds: float
    data_seconds: float
    bytes_read: int
    bytes_written: int


class FileAccess(Model):
    """What was done to a file in one layer for one caller."""

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
    """A file on its way down the layers, the uppermost first."""

    path: str
    group: FileGroup
    host: str
    """Of a file on a file system of one node, which is another one on each."""
    mount_point: str
    filesystem: str
    scope: Scope
    accesses: list[FileAccess]


class OwnFiles(Model):
    """Files that calls of a layer touch further down, and that the layer itself is never called with."""

    layer: str
    below: str
    """Layer that they are touched in."""
    files: int
    calls: int
    seconds: float
    examples: list[str]
    """Classes of paths, those with the most time first."""


class Mount(Model):
    """What the lowest layers did on one file system."""

    mount_point: str
    filesystem: str
    scope: Scope
    hosts: int
    """Nodes, if each has its own."""
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
    """Moved through the call."""
    moved_bytes: int
    """Moved below by this process."""
    moving_seconds: float
    """Time in the lowest layers; the rest is for the others and for messages."""


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
    """Time that those who move nothing spend outside the lowest layers."""
    late_seconds: float
    """Of ``seconds``: before the last process had come, by the processes' clocks; only calls in which nobody leaves
    before count."""
    rounds: int
    """Calls that at least two processes made together."""
    last_process: str
    """The one that came last most often."""
    last_rounds: int
    """How often that was."""
    bytes: int
    moved_bytes: int
    ranks: list[CollectiveRank]
    """Those that move the most first."""
    ranks_left_out: int = 0


class CallLayer(Model):
    """A call of a layer on files of one group."""

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
    """Operations of one kind through one node that start close to one another."""

    node: int
    operation: Operation
    start_s: float
    end_s: float
    calls: int
    seconds: float
    bytes: int


class Finding(Model):
    """Something that stands out, in words, with the numbers behind it."""

    rule: str
    layer: str
    text: str
    value: float
    threshold: float
    """The value that it had to reach, or not to exceed, to be told."""
    seconds: float
    """Time that it is about."""
    numbers: dict[str, float] = Field(default_factory=dict)


class Layers(Model):
    """All layers of a job. Lists are longest or largest first; those that are cut say what is left out."""

    version: int = LAYERS_VERSION
    job: str = ""
    events: int
    summaries: int
    """Of the events: those that sum up many calls of which the trace has no more, and that count as one here."""
    first_s: float
    last_s: float
    nesting: Nesting
    handles_known: bool
    """False where the trace has no handles: the tree is then one of files."""
    waiting: int
    """Calls made in ones that have not ended: they count as the program's as yet."""
    processes: int
    threads_seconds: float
    """Time in calls that the program made itself: what the layers' exclusive times sum to."""
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
    """Each node after the one that it lies below."""
    handles_left_out: int
    process_layers: list[ProcessLayer]
    process_layers_left_out: int
    host_layers: list[HostLayer]
    host_layers_left_out: int
    process_handles: list[ProcessNode]
    process_handles_left_out: int
    calls: list[CallLayer]
    marks: list[Mark]
    """By start."""
    losses: dict[str, int]
    """What a bound or a gap in the trace has cost, by reason."""


class LayersReport(Model):
    """The answer of ``iotide layers``."""

    version: int = LAYERS_VERSION
    files: list[str]
    source: str
    wall_clock: bool
    """False where the zero of the trace's clock is not known; times then count from it."""
    filtered_out: int = Field(0, ge=0)
    layers: Layers
    problems: list[InputProblem] = Field(default_factory=list)
    problems_total: int = 0
