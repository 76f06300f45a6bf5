#!/bin/sh
# In a job's script of PBS, LSF or Flux (`flux batch`), where nodes see one file system:
#   with-iotide.sh mpirun ./simulation
# Starts a collector on each node of the job, as the job's user, traces the command, has everything acknowledged, and ends as the
# command ended. The command runs whatever becomes of the collectors. Change the next two lines to yours.
iotide=/opt/iotide/bin/iotide
connect=tcp://127.0.0.1:9787

if [ "${1-}" = --wait ]; then # on a node, until its collector listens; 60 s at most
    left=600
    until [ -S "$2" ] || [ $left -eq 0 ]; do
        left=$((left - 1))
        sleep 0.1
    done
    exit 0
fi
if [ -n "${PBS_JOBID-}" ]; then
    job=$PBS_JOBID
    facts="PBS_JOBNAME=${PBS_JOBNAME-} PBS_QUEUE=${PBS_QUEUE-}"
    on_nodes() { pbsdsh -u -- "$@"; }
elif [ -n "${LSB_JOBID-}" ]; then
    job=$LSB_JOBID
    facts="LSB_JOBNAME=${LSB_JOBNAME-} LSB_QUEUE=${LSB_QUEUE-}"
    on_nodes() { blaunch -z "$(sort -u "$LSB_DJOB_HOSTFILE" | tr '\n' ' ')" "$@"; }
elif [ -n "${FLUX_URI-}" ]; then
    job=$(flux getattr jobid)
    facts="FLUX_JOB_NNODES=$(flux getattr size)"
    on_nodes() { flux exec -r all "$@"; }
else
    echo "with-iotide.sh: no job of PBS, LSF or Flux is known here: the command runs untraced" >&2
    exec "$@"
fi
self=$(command -v "$0")
socket=/tmp/iotide-$(id -u)-$(printf %s "$job" | tr -c 'A-Za-z0-9._-' '_')/tracer.sock
# shellcheck disable=SC2086  # a list of words; a name with a space is told up to it
on_nodes env $facts "$iotide" collect --socket "$socket" --connect "$connect" --job "$job" &
collectors=$!
on_nodes "$self" --wait "$socket"
# shellcheck disable=SC2046  # likewise: it prints no spaces
env $("$iotide" collect --socket "$socket" --job "$job" --print-environment) "$@"
status=$?
on_nodes "$iotide" collect --stop "$socket"
wait $collectors || echo "with-iotide.sh: not everything of job $job was acknowledged" >&2
exit $status
