"""A journal that several aggregators share: in a stream of NATS JetStream, of which one of them is the writer."""
