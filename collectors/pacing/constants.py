"""Time constants of pacing. Measured with six programs of direct I/O at 20 MB/s
(``benchmarks/scheduling/six_programs.py``).
"""

from __future__ import annotations

from typing import Final

QUIET_S: Final = 0.015
"""Seconds without a call after which other jobs may go. Less if the pauses within the job's phases are shorter."""
DONE_QUIET_S: Final = 0.003
"""Lower bound of that time, and its value once the job has moved the predicted volume."""
PHASE_GAP_S: Final = 0.3
"""Seconds without a call after which the phase of a job has ended."""
GRANT_S: Final = 1.0
"""Seconds for which a policy's answer is used while no phase begins or ends."""
QUANTUM_S: Final = 0.1
"""Service that a job gets before another job's smaller share counts, s. A switch costs the previous job a call."""
CALL_TIMEOUT_S: Final = 30.0
"""Seconds without progress after which a call is assumed to have been left by a signal handler."""
MIN_RATE_MEASUREMENT_S: Final = 0.25
"""Seconds for which a job must be served alone before its rate counts as its maximum rate."""
FULL_RATE_SHARE: Final = 0.95
"""Share of a job's maximum rate that counts as all of it. Shares are derived from measured limits."""
MIN_UNUSED_SHARE: Final = 0.5
"""Share of a job's maximum rate that must be unused for the job to run beside others."""
TICK_S: Final = 0.002
"""Seconds between two polls while any job is in a call."""
IDLE_TICK_S: Final = 0.01
"""Seconds between two polls while no job is in a call."""
LEASE_NS: Final = 250_000_000
"""Time for which a process waits without a renewal."""
RENEW_NS: Final = 150_000_000
"""Remaining time of a wait at which it is renewed."""
