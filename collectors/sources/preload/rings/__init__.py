"""The rings of traced processes: handed over, mapped, emptied."""
