#!/bin/sh
# Use in a job script of PBS, LSF or Flux (`flux batch`), on nodes with a shared file system:
#   with-iotide.sh mpirun ./simulation
# Starts a collector on each node of the job as the job's user, traces the command, waits until all events are acknowledged, and
# returns the exit status of the command. The command runs even if the collectors fail. Adapt the next two lines.
iotide=/opt/iotide/bin/iotide
connect=tcp://127.0.0.1:9787

if [ "${1-}" = --wait ]; then # runs on a node until its collector listens; 60 s at most
    left=600
    until [ -S "$2" ] || [ $left -eq 0 ]; do
        left=$((left - 1))
        sleep 0.1
    done
    exit 0
fi
own_folder() { # of a socket; others can write to /tmp, too
    mkdir -m 700 "${1%/*}" 2>/dev/null || { [ -O "${1%/*}" ] && [ ! -L "${1%/*}" ]; }
}
if [ "${1-}" = --collect ]; then # runs on a node; $2 is the socket, $3 names this run, and the collector follows
    socket=$2 pid=$2.$3.pid stop=$2.$3.stop
    shift 3
    if own_folder "$socket"; then
        echo $$ >"$pid"
        [ ! -e "$stop" ] || exit 0 # the command has ended meanwhile
    fi
    exec "$@"
fi
if [ "${1-}" = --stop ]; then # runs on a node; ends its collector, even if it does not listen yet
    own_folder "$2" || exit 0
    : >"$2.$3.stop"
    if ! "$iotide" collect --stop "$2" 2>/dev/null; then
        pid=$(cat "$2.$3.pid" 2>/dev/null)
        [ -n "$pid" ] || exit 0 # it starts later, or has just created the file: it then sees the other one
        words=$(tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline")
        case ${words%% } in # it is empty while the process starts its program
        '' | *"$2"*) kill "$pid" 2>/dev/null ;;
        esac
    fi
    rm -f "$2.$3.pid" "$2.$3.stop"
    rmdir "${2%/*}" 2>/dev/null # another run of the job may use it
    exit 0
fi
if [ -n "${PBS_JOBID-}" ]; then
    job=$PBS_JOBID
    facts="PBS_JOBNAME=${PBS_JOBNAME-} PBS_QUEUE=${PBS_QUEUE-}"
    # The first slot of each node. `pbsdsh -u` does the same in Torque only.
    on_nodes() (
        running= status=0
        for slot in $(awk '!seen[$0]++ { print NR - 1 }' "$PBS_NODEFILE"); do
            pbsdsh -n "$slot" -- "$@" &
            running="$running $!"
        done
        for each in $running; do wait "$each" || status=1; done
        exit $status
    )
elif [ -n "${LSB_JOBID-}" ]; then
    job=$LSB_JOBID
    [ "${LSB_JOBINDEX:-0}" = 0 ] || job="$job[$LSB_JOBINDEX]" # all elements of an array have the same number
    facts="LSB_JOBNAME=${LSB_JOBNAME-} LSB_QUEUE=${LSB_QUEUE-}"
    on_nodes() { blaunch -z "$(sort -u "$LSB_DJOB_HOSTFILE" | tr '\n' ' ')" "$@"; }
elif [ -n "${FLUX_URI-}" ]; then
    job=$(flux getattr jobid)
    facts="FLUX_JOB_NNODES=$(flux getattr size)"
    on_nodes() { flux exec -r all "$@"; }
else
    echo "with-iotide.sh: not inside a PBS, LSF or Flux job: the command runs untraced" >&2
    exec "$@"
fi
[ -z "${IOTIDE_VOUCHER-}" ] || facts="$facts IOTIDE_VOUCHER=$IOTIDE_VOUCHER"
self=$(command -v "$0")
case "$self" in /*) ;; *) self=$PWD/$self ;; esac # programs on nodes start in other folders
socket=/tmp/iotide-$(id -u)-$(printf %s "$job" | tr -c 'A-Za-z0-9._-' '_')/tracer.sock
# shellcheck disable=SC2086  # a list of words; a name is cut at its first space
on_nodes env $facts "$self" --collect "$socket" $$ "$iotide" collect --socket "$socket" --connect "$connect" --job "$job" &
collectors=$!
on_nodes "$self" --wait "$socket"
# shellcheck disable=SC2046  # the output contains no spaces
env $("$iotide" collect --socket "$socket" --job "$job" --print-environment) "$@"
status=$?
on_nodes "$self" --stop "$socket" $$
wait $collectors || echo "with-iotide.sh: some events of job $job were not acknowledged" >&2
exit $status
