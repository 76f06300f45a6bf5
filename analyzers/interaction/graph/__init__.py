"""The graph of who interacts with whom, and what ranks it."""
