"""HTTP: the server, the API, the pages."""
