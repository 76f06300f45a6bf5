#!/bin/sh
# Slurm TaskProlog: its output becomes the environment of a task. Tasks of jobs without a collector keep their environment,
# without the variables that a job with a collector has passed to a job that it submitted.
echo "unset SLURM_SCRIPT_CONTEXT" # Slurm leaves it in the task's environment if there is a TaskProlog
folder=/run/iotide/slurm
job=$SLURM_JOB_ID
# Tasks of a heterogeneous job have the id of its first component; the collector uses the id of the component on this node.
if [ -n "${SLURM_HET_SIZE-}" ] && [ "$job" = "${SLURM_JOB_ID_HET_GROUP_0-}" ]; then
    group=0
    while [ ! -r "$folder/$job.env" ] && [ "$((group += 1))" -lt "$SLURM_HET_SIZE" ]; do
        eval "job=\${SLURM_JOB_ID_HET_GROUP_$group-}"
    done
fi
if [ -r "$folder/$job.env" ]; then
    while IFS='=' read -r name value; do
        if [ "$name" = LD_PRELOAD ]; then
            case ":${LD_PRELOAD-}:" in *":$value:"*) continue ;; esac
            value=$value${LD_PRELOAD:+:$LD_PRELOAD}
        fi
        echo "export $name=$value"
    done <"$folder/$job.env"
    exit 0
fi
case "${IOTIDE_SOCKET-}" in "$folder"/*) ;; *) exit 0 ;; esac
echo "unset IOTIDE_SOCKET"
echo "unset IOTIDE_JOB"
others=
set -f
IFS=:
for library in ${LD_PRELOAD-}; do
    case "$library" in */libiotide_*.so) ;; *) others=$others${others:+:}$library ;; esac
done
[ -n "$others" ] && echo "export LD_PRELOAD=$others" || echo "unset LD_PRELOAD"
exit 0
