"""Encode one stream's calls as bytes and decode them.

The parts are constant parts, terminals, a grammar over them, and times.
"""
