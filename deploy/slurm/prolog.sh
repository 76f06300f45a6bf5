#!/bin/sh
# Slurm prolog: starts the collector of a job with `--comment=iotide` or `--iotide`. Other jobs cost one shell.
# Never fails, because a failure drains the node. Errors are in the log file that slurm.toml names.
iotide=/opt/iotide/bin/iotide
settings=/etc/iotide/slurm.toml
case " ${SLURM_JOB_COMMENT-} " in
*[!A-Za-z0-9_-]iotide[!A-Za-z0-9_-]*) ;;
*) [ -n "${SPANK_IOTIDE-}" ] || exit 0 ;;
esac
# A session of its own, because sessions share the cores: niceness counts inside a session only (sched_autogroup).
# shellcheck disable=SC2016  # expanded by the inner shell
nice -n -15 timeout -k 2 220 setsid -w sh -c 'echo -10 >/proc/$$/autogroup; exec "$0" slurm prolog --config "$1"' \
    "$iotide" "$settings" </dev/null >/dev/null 2>&1
exit 0
