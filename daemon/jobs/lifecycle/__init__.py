"""When a job moves on in its life and when it is predicted."""
