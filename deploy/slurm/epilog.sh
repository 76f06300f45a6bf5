#!/bin/sh
# Slurm epilog: ends the collector of a job after all its events were acknowledged. Jobs without a collector cost one shell.
iotide=/opt/iotide/bin/iotide
settings=/etc/iotide/slurm.toml
folder=/run/iotide/slurm
[ -d "$folder/$SLURM_JOB_ID" ] || exit 0
# A session of its own, because sessions share the cores: niceness counts inside a session only (sched_autogroup).
# shellcheck disable=SC2016  # expanded by the inner shell
nice -n -15 timeout -k 2 150 setsid -w sh -c 'echo -10 >/proc/$$/autogroup; exec "$0" slurm epilog --config "$1"' \
    "$iotide" "$settings" </dev/null >/dev/null 2>&1
exit 0
