"""A journal that several aggregators share. It is in a NATS JetStream stream with one writer at a time."""
