"""Times of pacing. Measured with six programs of direct I/O on 20 MB/s (``benchmarks/scheduling/six_programs.py``)."""

from __future__ import annotations

from typing import Final

QUIET_S: Final = 0.015
"""Without a call of a job for so long, others may go; less where the pauses within its phases are shorter."""
DONE_QUIET_S: Final = 0.003
"""Likewise at least; and once the job has moved the volume that was predicted."""
PHASE_GAP_S: Final = 0.3
"""Without a call for so long, the phase of a job has ended."""
GRANT_S: Final = 1.0
"""How long a policy's answer holds while no phase begins or ends."""
QUANTUM_S: Final = 0.1
"""Service that a job gets before another one's smaller share counts: a switch costs a call of the job before."""
STUCK_S: Final = 30.0
"""A call that moves nothing for so long is taken for one that a signal's handler has left."""
RATE_OVER_S: Final = 0.25
"""How long a job is served alone before its rate says how fast it can be."""
NEARLY: Final = 0.95
"""A share of what a job can take that counts as all of it: shares follow limits that are measured."""
WORTH: Final = 0.5
"""A share of what a job can take that is left over and worth having it go beside others."""
TICK_S: Final = 0.002
"""Between two looks while some job is in a call."""
IDLE_TICK_S: Final = 0.01
"""Likewise while none is."""
LEASE_NS: Final = 250_000_000
"""How long a process waits without hearing more."""
RENEW_NS: Final = 150_000_000
"""What is left of it when it is renewed."""
