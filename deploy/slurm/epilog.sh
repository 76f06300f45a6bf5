#!/bin/sh
# Slurm epilog: ends the collector of a job after all its events were acknowledged. Jobs without a collector cost one shell.
iotide=/opt/iotide/bin/iotide
settings=/etc/iotide/slurm.toml
folder=/run/iotide/slurm
[ -d "$folder/$SLURM_JOB_ID" ] || exit 0
nice -n -15 timeout -k 2 150 "$iotide" slurm epilog --config "$settings" </dev/null >/dev/null 2>&1
exit 0
