"""Output of TMIO and related tracers, as files and as messages to FTIO."""
