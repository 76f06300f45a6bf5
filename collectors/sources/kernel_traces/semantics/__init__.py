"""Derive acting threads and the effects of system calls from columns."""
