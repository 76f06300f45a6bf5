"""The routes of the HTTP API and of its pages, a module a subject."""
