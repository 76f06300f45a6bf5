"""A journal that several aggregators share, in a NATS JetStream stream with one writer at a time."""
