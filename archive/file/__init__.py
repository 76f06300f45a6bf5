"""The archive file: writer and reader."""
