"""Write a CTF trace of synthetic kernel events in LTTng's layout; needs babeltrace's Python bindings."""

from __future__ import annotations

import sys
from typing import Any

import bt2

BEGIN = 1_412_670_961_000_000_000
EVENTS: dict[str, dict[str, Any]] = {
    "sched_switch": {
        "prev_comm": "",
        "prev_tid": 0,
        "prev_prio": 0,
        "prev_state": {"TASK_RUNNING": 0, "TASK_INTERRUPTIBLE": 1},
        "next_comm": "",
        "next_tid": 0,
        "next_prio": 0,
    },
    "sched_waking": {"comm": "", "tid": 0, "prio": 0, "target_cpu": 0},
    "sched_process_fork": {
        "parent_comm": "",
        "parent_tid": 0,
        "parent_pid": 0,
        "child_comm": "",
        "child_tid": 0,
        "child_pid": 0,
    },
    "irq_softirq_entry": {"vec": 0},
    "irq_softirq_exit": {"vec": 0},
    "syscall_entry_openat": {"dfd": 0, "filename": "", "flags": 0, "mode": 0},
    "syscall_exit_openat": {"ret": 0},
    "syscall_entry_write": {"fd": 0, "buf": 0, "count": 0},
    "syscall_exit_write": {"ret": 0},
    "kmem_kfree": {"call_site": 0, "ptr": 0},
}
TRACE: list[tuple[int, str, tuple[Any, ...]]] = [  # processor, event, its fields
    (0, "sched_switch", ("swapper/0", 0, 20, 0, "a, b", 7, 20)),
    (0, "sched_waking", ('c "d" }', 8, 20, 1)),
    (1, "sched_switch", ("swapper/1", 0, 20, 0, 'c "d" }', 8, 20)),
    (1, "kmem_kfree", (2**63, 4)),
    (1, "irq_softirq_entry", (1,)),
    (1, "sched_waking", ("a, b", 7, 20, 0)),
    (1, "irq_softirq_exit", (1,)),
    (0, "syscall_entry_openat", (-100, '/data/x, fd = 9, "y', 0, 0)),
    (0, "syscall_exit_openat", (3,)),
    (0, "syscall_entry_write", (3, 2**63, 100)),
    (0, "syscall_exit_write", (64,)),
    (0, "sched_process_fork", ("a, b", 7, 7, "a, b", 9, 9)),
    (0, "sched_switch", ("a, b", 7, 20, 1, "swapper/0", 0, 20)),
]


class Events(bt2._UserMessageIterator):
    def __init__(self, config: Any, port: Any) -> None:
        stream_class, classes, threads = port.user_data
        trace = stream_class.trace_class(environment={"hostname": "node1"})
        stream = trace.create_stream(stream_class)
        packet = stream.create_packet()
        packet.context_field["cpu_id"] = 0
        self._messages = iter(self._made(stream, packet, classes, threads))

    def _made(self, stream: Any, packet: Any, classes: Any, threads: bool) -> Any:
        yield self._create_stream_beginning_message(stream)
        for at, (processor, name, values) in enumerate(TRACE):
            packet = stream.create_packet()
            packet.context_field["cpu_id"] = processor
            yield self._create_packet_beginning_message(packet, BEGIN + at)
            message = self._create_event_message(classes[name], packet, default_clock_snapshot=BEGIN + at)
            event = message.event
            for field, value in zip(EVENTS[name], values, strict=True):
                event.payload_field[field] = value
            if threads:
                event.common_context_field["pid"] = 70
                event.common_context_field["tid"] = 77
                event.common_context_field["procname"] = "z"
            yield message
            yield self._create_packet_end_message(packet, BEGIN + at)
        yield self._create_stream_end_message(stream)

    def __next__(self) -> Any:
        return next(self._messages)


class Kernel(bt2._UserSourceComponent, message_iterator_class=Events):
    def __init__(self, config: Any, params: Any, obj: Any) -> None:
        trace_class = self._create_trace_class()
        integer = lambda: trace_class.create_signed_integer_field_class(64)  # noqa: E731
        cpu = trace_class.create_structure_field_class()
        cpu.append_member("cpu_id", trace_class.create_unsigned_integer_field_class(32))
        context = None
        if params["threads"]:
            context = trace_class.create_structure_field_class()
            context.append_member("pid", integer())
            context.append_member("tid", integer())
            context.append_member("procname", trace_class.create_string_field_class())
        clock = self._create_clock_class(frequency=10**9, origin_is_unix_epoch=True)
        stream_class = trace_class.create_stream_class(
            default_clock_class=clock,
            supports_packets=True,
            packet_context_field_class=cpu,
            event_common_context_field_class=context,
            packets_have_beginning_default_clock_snapshot=True,
            packets_have_end_default_clock_snapshot=True,
        )
        classes = {}
        for name, fields in EVENTS.items():
            payload = trace_class.create_structure_field_class()
            for field, kind in fields.items():
                if isinstance(kind, str):
                    made = trace_class.create_string_field_class()
                elif isinstance(kind, dict):
                    made = trace_class.create_signed_enumeration_field_class(64)
                    for label, value in kind.items():
                        made.add_mapping(label, bt2.SignedIntegerRangeSet([bt2.SignedIntegerRange(value)]))
                else:
                    unsigned = field in ("buf", "call_site")
                    made = trace_class.create_unsigned_integer_field_class(64) if unsigned else integer()
                payload.append_member(field, made)
            classes[name] = stream_class.create_event_class(name=name, payload_field_class=payload)
        self._add_output_port("out", (stream_class, classes, bool(params["threads"])))


def main(folder: str, threads: bool) -> None:
    graph = bt2.Graph()
    source = graph.add_component(Kernel, "kernel", {"threads": threads})
    sink = graph.add_component(
        bt2.find_plugin("ctf").sink_component_classes["fs"], "sink", {"path": folder, "assume-single-trace": True}
    )
    graph.connect_ports(source.output_ports["out"], sink.input_ports["in"])
    graph.run()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] == "threads")
