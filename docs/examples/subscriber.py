"""Tells a scheduler which job is about to write: run it beside `iotide serve`."""

from iotide.clients.subscriber import Subscriber

with Subscriber("tcp://127.0.0.1:9789") as predictions:
    for prediction in predictions:
        if prediction.next_phase is None or prediction.confidence < 0.8:
            continue
        wait_s = prediction.next_phase.start_s.value - prediction.made_at_s
        volume = prediction.next_phase.volume_bytes.value
        print(f"{prediction.job} writes {volume / 1e6:.0f} MB in {wait_s:.1f} s")
