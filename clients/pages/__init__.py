"""Pages for a browser that are made of templates or follow a running job."""
