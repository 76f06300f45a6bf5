"""Input from collectors: the socket, and the sequence state of each stream."""
