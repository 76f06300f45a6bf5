"""From a signal window to a period: the default estimator, FTIO's, and further periods."""
