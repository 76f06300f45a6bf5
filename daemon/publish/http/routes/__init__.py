"""Routes of the HTTP API and of its pages, one module per subject."""
