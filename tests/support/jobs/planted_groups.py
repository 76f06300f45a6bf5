"""Traces with known (planted) groups: a web server with its database, a backup, idle daemons; optional noise."""

from __future__ import annotations

import itertools

import numpy as np
from iotide.events.kernel import KernelEvent
from iotide.results.interaction import Ranking
from support.jobs.interactions import Trace

CLIENTS, WEB, DATABASE, LOGGER = range(100, 106), 10, 20, 21
BACKUP, STORE, DAEMONS, KWORKER = 30, 31, range(40, 60), 7
WEB_GROUP = (WEB, DATABASE, LOGGER, *CLIENTS)
BACKUP_GROUP = (BACKUP, STORE)
_INTERACTIONS_A_ROUND = 6


def server_machine(rounds: int = 40) -> Trace:
    """A web server with six clients and a database, a backup, and daemons that only timers wake."""
    trace = Trace().named(httpd=WEB, mysqld=DATABASE, logger=LOGGER, tar=BACKUP, gzip=STORE)
    trace.kernel(KernelEvent.PROCESS_STATE, KWORKER, text="kworker/0:1")
    for number in DAEMONS:
        trace.kernel(KernelEvent.PROCESS_STATE, number, text=f"daemon{number}")
    for at in range(rounds):
        client = CLIENTS[at % len(CLIENTS)]
        trace.wakes(client, WEB).wakes(WEB, DATABASE).writes(DATABASE, "/var/log/sql").wakes(DATABASE, WEB)
        trace.wakes(WEB, client)
        trace.reads(BACKUP, f"/home/{at}").writes(BACKUP, "pipe:[9]", size=4096).reads(STORE, "pipe:[9]", size=4096)
        trace.wakes(0, DAEMONS[at % len(DAEMONS)])
        trace.wakes(KWORKER, WEB).wakes(KWORKER, BACKUP)
    return trace.reads(LOGGER, "/var/log/sql")


def random_machine(seed: int, noise: float, rounds: int = 150) -> Trace:
    """A random trace with the same groups; ``noise``: approximate share of random wake-ups in all interactions."""
    random = np.random.default_rng(seed)
    trace = Trace().named(httpd=WEB, mysqld=DATABASE, logger=LOGGER, tar=BACKUP, gzip=STORE)
    trace.kernel(KernelEvent.PROCESS_STATE, KWORKER, text="kworker/0:1")
    for number in DAEMONS:
        trace.kernel(KernelEvent.PROCESS_STATE, number, text=f"daemon{number}")
    everybody = [*WEB_GROUP, *BACKUP_GROUP, *DAEMONS]
    for _ in range(rounds):
        client = int(random.choice(list(CLIENTS)))
        trace.wakes(client, WEB)
        if random.random() < 0.8:
            trace.wakes(WEB, DATABASE)
            if random.random() < 0.3:
                trace.writes(DATABASE, "/var/log/sql")
            trace.wakes(DATABASE, WEB)
        trace.wakes(WEB, client)
        if random.random() < 0.7:
            trace.writes(BACKUP, "pipe:[9]", size=4096).reads(STORE, "pipe:[9]", size=4096)
        if random.random() < 0.1:
            trace.reads(LOGGER, "/var/log/sql")
        trace.wakes(0, int(random.choice(list(DAEMONS))))
        if random.random() < 0.5:
            trace.wakes(KWORKER, int(random.choice(everybody)))
        for _ in range(random.poisson(noise * _INTERACTIONS_A_ROUND)):
            one, other = random.choice(everybody, 2, replace=False).tolist()
            trace.wakes(one, other)
    return trace


def leaders_of_groups(ranking: Ranking) -> set[int]:
    """Return the leader of each component, or of each community of one component."""
    by_id = {actor.id: actor.tid for actor in ranking.actors}
    found = [group for component in ranking.components for group in (component, *component.communities)]
    return {by_id[group.leaders[0]] for group in found}


def agreement(ranking: Ranking) -> tuple[float, float]:
    """Return precision and recall of pairs in a community, compared with pairs in a planted group."""
    found = {actor.tid: (actor.component, actor.community) for actor in ranking.actors}
    planted = {**dict.fromkeys(WEB_GROUP, 0), **dict.fromkeys(BACKUP_GROUP, 1)}
    together = right = wanted = 0
    for one, other in itertools.combinations({*found, *planted}, 2):
        is_found = one in found and other in found and found[one] == found[other]
        is_planted = one in planted and other in planted and planted[one] == planted[other]
        together, right, wanted = together + is_found, right + (is_found and is_planted), wanted + is_planted
    return right / max(together, 1), right / max(wanted, 1)
