"""``iotide slurm``: what Slurm's prolog and epilog call."""
