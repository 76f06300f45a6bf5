"""Says which activities of rank 0 the other ranks do not have: give it the files of a trace."""

import sys
from pathlib import Path

from iotide.analyzers.dfg.compare import compare
from iotide.analyzers.dfg.spec.filters import Filter
from iotide.analyzers.dfg.spec.graph_definition import GraphDefinition
from iotide.cli.dfg.from_traces import graph_of, select
from iotide.cli.traces.trace_reading import read_traces

view = GraphDefinition.parse("call+dirs:2 by rank where failed=no")
paths = [Path(name) for name in sys.argv[1:]]
trace = read_traces(paths, format_name=None, job="my job", progress=lambda path, done: None)
events = select(trace, view)
first, others = (graph_of(events.narrowed([Filter.parse(text)]), view, text) for text in ("rank=0", "rank=1-"))
comparison = compare(first, others, "rank 0", "the others")
print(f"distance {comparison.distance:.3f}")
for node in comparison.nodes:
    if node.side == "green":
        print(node.name)
