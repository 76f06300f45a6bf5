"""The output of strace."""
