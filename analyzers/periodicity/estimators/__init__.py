"""Estimators from a signal window to a period: the default one, FTIO's, and further periods."""
