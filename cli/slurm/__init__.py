"""``iotide slurm``: commands for Slurm's prolog and epilog."""
