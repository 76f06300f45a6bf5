"""Results about finished traces."""
