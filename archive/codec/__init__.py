"""Encode one stream's calls as bytes and decode them: constant parts, terminals, a grammar over them, times."""
