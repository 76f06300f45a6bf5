"""The Python interface for scripts and notebooks: finished traces and running jobs, with typed results.

``iotide.open`` reads traces of any format that the commands read. ``iotide.connect`` queries a running aggregator. Both
return the models of ``iotide.results``, as printed by ``--json``.
"""

from .aggregator import Aggregator, Job, connect
from .display import Shown, show
from .traces import Traces, open  # noqa: A004  (iotide.open, as h5py.File or gzip.open)

__all__ = ["Aggregator", "Job", "Shown", "Traces", "connect", "open", "show"]
