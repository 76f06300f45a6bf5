#!/bin/sh
# Prolog of Slurm: starts the collector of a job that asks for one by `--comment=iotide` or `--iotide`. Others cost one shell.
# Never fails, which would drain the node; what goes wrong is in the log that slurm.toml names.
iotide=/opt/iotide/bin/iotide
settings=/etc/iotide/slurm.toml
case " ${SLURM_JOB_COMMENT-} " in
*[!A-Za-z0-9_-]iotide[!A-Za-z0-9_-]*) ;;
*) [ -n "${SPANK_IOTIDE-}" ] || exit 0 ;;
esac
nice -n -15 timeout -k 2 220 "$iotide" slurm prolog --config "$settings" </dev/null >/dev/null 2>&1
exit 0
