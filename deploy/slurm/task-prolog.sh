#!/bin/sh
# TaskProlog of Slurm: what it prints becomes the environment of a task. Tasks of jobs without a collector have what they would have
# without it: it takes what a job with one has handed to a job that it submitted.
folder=/run/iotide/slurm
if [ -r "$folder/$SLURM_JOB_ID.env" ]; then
    while IFS='=' read -r name value; do
        if [ "$name" = LD_PRELOAD ]; then
            case ":${LD_PRELOAD-}:" in *":$value:"*) continue ;; esac
            value=$value${LD_PRELOAD:+:$LD_PRELOAD}
        fi
        echo "export $name=$value"
    done <"$folder/$SLURM_JOB_ID.env"
    exit 0
fi
echo "unset SLURM_SCRIPT_CONTEXT" # which Slurm leaves to a task once there is a TaskProlog
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
