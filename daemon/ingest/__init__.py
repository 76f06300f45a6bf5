"""What collectors send: the socket, and the sequence state of each stream."""
