#!/bin/sh
# Slurm prolog: starts the collector of a job with `--comment=iotide` or `--iotide`. Other jobs cost one shell.
# Never fails, because a failure drains the node. Errors are in the log file that slurm.toml names.
iotide=/opt/iotide/bin/iotide
settings=/etc/iotide/slurm.toml
case " ${SLURM_JOB_COMMENT-} " in
*[!A-Za-z0-9_-]iotide[!A-Za-z0-9_-]*) ;;
*) [ -n "${SPANK_IOTIDE-}" ] || exit 0 ;;
esac
nice -n -15 timeout -k 2 220 "$iotide" slurm prolog --config "$settings" </dev/null >/dev/null 2>&1
exit 0
