"""From a view to a rhythm: our estimator, the reference method, further rhythms."""
