"""Counters of lost data by reason. They have names, meanings, and the option that raises the bound.

Counters are maps from a name to a cumulative count: ``events_dropped:REASON`` for calls, ``bytes_dropped:REASON`` for
the known bytes of these calls, and names such as ``streams_cut_off`` for losses without a count of calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from .counted_text import counted

EVENTS: Final = "events_dropped:"
BYTES: Final = "bytes_dropped:"
INPUT_BYTES: Final = "input_bytes_dropped:"
DETAILS: Final = "details_dropped:"
"""Prefix for recorded calls that lack information because a table of the tracer was full, such as their file."""
LAST_CHARACTERS: Final = "details_dropped:last_characters"
LAST_CHARACTERS_BYTES: Final = "details_dropped:last_characters_bytes"
"""Streams of the C library in which a process that was killed moved single characters since its last record, and these
characters at most. They are counted by the size of the buffer, as nothing shows how far the process was in it."""
MISPLACED: Final = "events_misplaced:clock_skew"
LINES: Final = "lines_malformed"
CUT_OFF: Final = "streams_cut_off"
NOT_SAVED: Final = "events_dropped:not_saved"
"""Calls that were in no archive when ``iotide run`` was killed, and that its collecting process could not save."""
LOST_IN_JOURNAL: Final = "streams_lost_in_journal"
STATE_LOST: Final = "streams_lost_with_state"
TAKEN_ELSEWHERE: Final = "streams_taken_elsewhere"
"""Streams with batches that were acknowledged by an aggregator whose state this one does not have."""
STREAM_FORGOTTEN: Final = "streams_forgotten"
"""Streams that returned after their sequence number was removed: calls may be missing, or counted twice."""
UNHEARD: Final = "processes_unheard"
UNTRACED: Final = "processes_untraced"
LEFT_RUNNING: Final = "processes_left_running"
"""Processes that still ran when their collector ended, without those that have come to a later collector."""
REFUSED_USERS: Final = "processes_refused:max_users"
REFUSED_WAITING: Final = "processes_refused:waiting"
"""Processes that a node's collector of all users did not pass to a collector of their user, by bound."""
UNHEARD_RANKS: Final = "ranks_unheard"
UNSEEN_NODES: Final = "nodes_unseen"
MAX_REASONS: Final = 64
"""Maximum number of reasons per stream, collector or job. Further ones from a peer are ignored."""
_LONGEST_NAME: Final = 100
_SATURATION: Final = 1 << 62
_LOST: Final = (
    EVENTS,
    BYTES,
    INPUT_BYTES,
    DETAILS,
    LINES,
    "events_not_archived:",
    "events_misplaced:",
    "definitions_dropped",
    "processes_",
    "streams_",
    UNSEEN_NODES,
)


class Reason(NamedTuple):
    """Meaning of a counter: a sentence that follows the count, and a remedy. "" if there is none."""

    text: str
    remedy: str = ""


REASONS: Final[dict[str, Reason]] = {
    "events_dropped:ring_full": Reason("calls dropped as a thread's ring was full", "raise --ring-records"),
    "events_dropped:spool_full": Reason(
        "calls dropped as the spool in memory and on disk was full",
        "raise --spool-disk or --spool-memory, or make room in $TMPDIR",
    ),
    "events_dropped:left_unread": Reason("calls not read, as the user stopped the reading", ""),
    NOT_SAVED: Reason(
        "calls not saved when iotide run was killed, of which its archive may have some",
        "raise --spool-memory, or make room in the folder of its report",
    ),
    "events_dropped:no_slot": Reason("calls dropped as no ring was free for their thread", ""),
    "events_dropped:reentrant": Reason("calls of signal handlers dropped while another call was recorded", ""),
    "events_dropped:collector_gone": Reason("calls lost in memory as their collector had ended", ""),
    "events_dropped:collector_late": Reason(
        "calls made before the collector started", "start the collector before the program"
    ),
    "events_dropped:lost_with_collector": Reason("calls lost with a collector that had read but not sent them", ""),
    "events_dropped:malformed": Reason("records dropped as their values are invalid", ""),
    "events_dropped:closed": Reason("calls read and not sent before the collector ended", ""),
    "events_dropped:shipper_full": Reason(
        "calls dropped as the collector's backlog was full", "raise backlog_bytes of the collector"
    ),
    "events_dropped:spool_damaged": Reason("calls lost as the collector's spool could not be read", ""),
    LOST_IN_JOURNAL: Reason(
        "streams with lost calls, as the aggregator's journal was damaged or could not be written", ""
    ),
    STATE_LOST: Reason("times that the aggregator's state of the job could not be read: earlier data are missing", ""),
    TAKEN_ELSEWHERE: Reason(
        "streams whose earlier calls were sent to an aggregator whose state is not here",
        "start iotide serve with the state folder of the one before",
    ),
    STREAM_FORGOTTEN: Reason(
        "streams that returned after the aggregator had forgotten how far they were: calls may be missing",
        "raise bounds.remembered_streams",
    ),
    "events_dropped:rejected": Reason("calls that the aggregator refused", ""),
    MISPLACED: Reason(
        "calls placed at their arrival time, as their stamps are ahead of the aggregator's clock",
        "set the clocks of the nodes",
    ),
    "events_dropped:too_many_streams": Reason("calls of streams beyond the limit of one input", ""),
    LINES: Reason("lines or records of the input that cannot be read", "the collector names the first of them"),
    "input_bytes_dropped:unknown_format": Reason("bytes of an input whose format is not known", ""),
    "input_bytes_dropped:malformed": Reason("bytes of the input that cannot be read", ""),
    "events_not_archived:job_bytes": Reason("calls not archived as the archive was full", "raise archive.job_bytes"),
    "events_not_archived:disk": Reason("calls not archived as the disk did not keep up", ""),
    "events_not_archived:no_room": Reason("calls not archived as the archive's file could not be written", ""),
    "events_not_archived:lost": Reason(
        "calls not archived as the archive was missing after a restart of the aggregator", ""
    ),
    "events_not_archived:failed": Reason("calls not archived as the archive failed", ""),
    "definitions_dropped": Reason("names of files, calls or handles lost", ""),
    "details_dropped:descriptors": Reason(
        "descriptors without a file, as their numbers are 65,536 or more", "lower ulimit -n"
    ),
    "details_dropped:handles": Reason("handles of libraries evicted, as the table of 65,536 was full", ""),
    "details_dropped:contended": Reason("lookups in a table given up, as other threads had locked it", ""),
    "details_dropped:forked_files": Reason(
        "files of a parent process without a name in its child: the last 512 of up to 248 bytes are kept", ""
    ),
    "details_dropped:mappings": Reason("mapped files evicted, as 1,024 others are mapped", ""),
    "details_dropped:path_buffers": Reason("calls without a file, as 32 others were looking up theirs", ""),
    "details_dropped:paths": Reason("paths cut or unknown, as they are longer than 4,096 bytes", ""),
    "details_dropped:texts": Reason("text parameters cut to 4,096 bytes", ""),
    "details_dropped:nested": Reason("calls within 16 others or more, whose depth is recorded as 16", ""),
    "details_dropped:copies": Reason("copies of a library beyond four, whose handles are not distinguished", ""),
    "details_dropped:callers": Reason("lookups of a caller given up, as 1,024 objects call wrapped libraries", ""),
    "details_dropped:operations": Reason("asynchronous operations without a number, as too many are in progress", ""),
    "details_dropped:thread_memory": Reason("calls without details, as hooks use 16 KiB of memory in each thread", ""),
    "details_dropped:mpi_files": Reason("open files of MPI-IO beyond 1,024, or distinct opens beyond 4,096", ""),
    "details_dropped:dimensions": Reason("calls without bytes, as their variable has over 1,024 dimensions", ""),
    "details_dropped:streams": Reason("calls on streams beyond 512, whose single characters may not be counted", ""),
    LAST_CHARACTERS: Reason("open files of killed processes whose last single characters (getc) are not recorded", ""),
    CUT_OFF: Reason("streams cut off as their collector had disconnected", ""),
    "streams_silent": Reason("streams whose collector is silent: their latest calls may be lost", ""),
    "events_dropped:max_jobs": Reason("calls dropped as the aggregator had reached max_jobs", "raise max_jobs"),
    "streams_refused:max_streams": Reason("streams refused", "raise bounds.max_streams"),
    "streams_refused:max_collectors": Reason("streams refused", "raise bounds.max_collectors"),
    "streams_refused:max_jobs": Reason(
        "streams refused at first as the aggregator had reached max_jobs", "raise max_jobs"
    ),
    "processes_refused": Reason("processes refused by the collector", ""),
    REFUSED_USERS: Reason(
        "programs not traced as the node's collector had reached its bound of users",
        "raise --max-users of iotide collect --all-users",
    ),
    REFUSED_WAITING: Reason("programs not traced as too many others of their user waited for the node's collector", ""),
    "processes_failed": Reason("processes that the collector could not follow to their end", ""),
    LEFT_RUNNING: Reason(
        "processes that still ran when their collector ended: their later calls are missing",
        "end the collector after the program, by iotide collect --stop or --until-unused",
    ),
    UNHEARD_RANKS: Reason(
        "ranks without data: on nodes without a collector, or not traced",
        "with Slurm `iotide run` and `sbatch --comment=iotide` see all nodes of a job",
    ),
    UNSEEN_NODES: Reason(
        "nodes whose programs were not seen, or not to their end", "the log of their collectors says why"
    ),
    UNTRACED: Reason(
        "programs not traced (static, set-user-ID, io_uring ...), whose calls are missing",
        "the log of the collector names them",
    ),
    UNHEARD: Reason("processes that could not reach the collector, and whose calls are missing", ""),
}
"""Every loss of this version; collectors of other versions may report further ones."""


def is_loss(name: str) -> bool:
    """Return whether a counter of this name counts data that should not be missing."""
    return name.startswith(_LOST)


def checked(losses: Mapping[str, int]) -> dict[str, int]:
    """Return the valid losses among a peer's counters, at most 64.

    They have bounded names, and counts from 1 to 2**62.
    """
    taken: dict[str, int] = {}
    for name, count in losses.items():
        if is_loss(name) and name.isprintable() and len(name) <= _LONGEST_NAME and 0 < count <= _SATURATION:
            taken[name] = count
            if len(taken) == MAX_REASONS:
                break
    return taken


def bounded(losses: Mapping[str, int]) -> dict[str, int]:
    """Return losses that a message can carry: counts from 1 to 2**62."""
    return {name: min(count, _SATURATION) for name, count in losses.items() if count > 0}


def merged(before: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Merge a peer's cumulative losses, at most 64. The larger of two values is the later."""
    joined = dict(before)
    for name, count in now.items():
        if name in joined or len(joined) < MAX_REASONS:
            joined[name] = max(count, joined.get(name, 0))
    return joined


def events_of(losses: Mapping[str, int]) -> int:
    """Return the number of lost calls; an unreadable line counts as one."""
    return sum(count for name, count in losses.items() if name.startswith(EVENTS) or name == LINES)


def bytes_of(losses: Mapping[str, int]) -> int:
    """Return a lower bound of the bytes that the lost calls moved."""
    return sum(count for name, count in losses.items() if name.startswith(BYTES))


def loss_lines(losses: Mapping[str, int]) -> Iterator[str]:
    """Yield a sentence for each loss, the largest first.

    It has the count, what was lost and why, bytes, and remedy.
    """
    for name, count in sorted(losses.items(), key=lambda row: (-row[1], row[0])):
        if name.startswith(BYTES) or name == LAST_CHARACTERS_BYTES:
            continue
        reason = REASONS.get(name, Reason(name.replace(":", ", ").replace("_", " ")))
        moved = losses.get(BYTES + name.removeprefix(EVENTS), 0) if name.startswith(EVENTS) else 0
        least = f" (at least {moved:,} bytes)" if moved else ""
        if name == LAST_CHARACTERS:
            least = f" (at most {losses.get(LAST_CHARACTERS_BYTES, 0):,} bytes)"
        yield f"{counted(count, reason.text)}{least}" + (f": {reason.remedy}" if reason.remedy else "")
