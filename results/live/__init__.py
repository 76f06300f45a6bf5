"""Results of live pages and of schedulers."""
