"""When the next phase comes, given those before."""
